// SPDX-License-Identifier: Apache-2.0

package syntax

import "strconv"

// Print formats a statement as CQL. Parse returns the same statement for it.
func Print(s Statement) string { return string(Append(nil, s)) }

// Append appends a statement as CQL.
func Append(dst []byte, s Statement) []byte {
	switch s := s.(type) {
	case *Select:
		return appendSelect(dst, s)
	case *Insert:
		return appendInsert(dst, s)
	case *Update:
		return appendUpdate(dst, s)
	case *Delete:
		return appendDelete(dst, s)
	case *Batch:
		return appendBatch(dst, s)
	case *Use:
		return AppendIdent(append(dst, "USE "...), s.Keyspace)
	case *Truncate:
		return AppendName(append(dst, "TRUNCATE "...), s.Table)
	case *CreateTable:
		return appendCreateTable(dst, s)
	case *AlterTable:
		return appendAlterTable(dst, s)
	case *CreateKeyspace:
		dst = ifNotExists(append(dst, "CREATE KEYSPACE "...), s.IfNotExists)
		return appendWith(AppendIdent(dst, s.Name), s.With)
	case *AlterKeyspace:
		dst = ifExists(append(dst, "ALTER KEYSPACE "...), s.IfExists)
		return appendWith(AppendIdent(dst, s.Name), s.With)
	case *CreateType:
		return appendCreateType(dst, s)
	case *AlterType:
		return appendAlterType(dst, s)
	case *CreateIndex:
		return appendCreateIndex(dst, s)
	case *CreateView:
		return appendCreateView(dst, s)
	case *Drop:
		return appendDrop(dst, s)
	case *Describe:
		return appendDescribe(dst, s)
	case *Other:
		return append(dst, s.Text...)
	}
	return dst
}

func appendSelect(dst []byte, s *Select) []byte {
	dst = append(dst, "SELECT "...)
	if s.JSON {
		dst = append(dst, "JSON "...)
	}
	if s.Distinct {
		dst = append(dst, "DISTINCT "...)
	}
	dst = appendSelectors(dst, s.Selectors)
	dst = AppendName(append(dst, " FROM "...), s.From)
	dst = appendWhere(dst, s.Where)
	if len(s.GroupBy) > 0 {
		dst = append(dst, " GROUP BY "...)
		dst = appendExprs(dst, s.GroupBy)
	}
	for i, o := range s.OrderBy {
		if i == 0 {
			dst = append(dst, " ORDER BY "...)
		}
		dst = appendOrdering(comma(dst, i), o)
	}
	if s.PerPartitionLimit != nil {
		dst = AppendExpr(append(dst, " PER PARTITION LIMIT "...), s.PerPartitionLimit)
	}
	if s.Limit != nil {
		dst = AppendExpr(append(dst, " LIMIT "...), s.Limit)
	}
	if s.AllowFiltering {
		dst = append(dst, " ALLOW FILTERING"...)
	}
	return dst
}

func appendSelectors(dst []byte, list []Selector) []byte {
	if len(list) == 0 {
		return append(dst, '*')
	}
	for i, s := range list {
		dst = AppendExpr(comma(dst, i), s.Expr)
		if s.Alias != "" {
			dst = AppendIdent(append(dst, " AS "...), s.Alias)
		}
	}
	return dst
}

func appendOrdering(dst []byte, o Ordering) []byte {
	dst = AppendIdent(dst, o.Column)
	if o.ANNOf != nil {
		dst = AppendExpr(append(dst, " ANN OF "...), o.ANNOf)
	}
	if o.Desc {
		dst = append(dst, " DESC"...)
	}
	return dst
}

func appendWhere(dst []byte, list []Relation) []byte {
	for i, r := range list {
		if i == 0 {
			dst = append(dst, " WHERE "...)
		} else {
			dst = append(dst, " AND "...)
		}
		dst = AppendRelation(dst, r)
	}
	return dst
}

// AppendRelation appends one relation of a WHERE.
func AppendRelation(dst []byte, r Relation) []byte {
	switch {
	case len(r.Columns) == 0:
		dst = AppendIdent(append(dst, "expr("...), r.Index)
		return append(AppendExpr(append(dst, ", "...), r.Value), ')')
	case r.Token || r.Tuple:
		if r.Token {
			dst = append(dst, "token"...)
		}
		dst = appendIdents(dst, r.Columns)
	default:
		dst = AppendIdent(dst, r.Columns[0])
	}
	dst = appendKey(dst, r.Key)
	return appendOpValue(dst, r.Op, r.Value, r.Values)
}

func appendKey(dst []byte, key Expr) []byte {
	if key == nil {
		return dst
	}
	return append(AppendExpr(append(dst, '['), key), ']')
}

func appendOpValue(dst []byte, op Op, value Expr, values []Expr) []byte {
	dst = append(append(dst, ' '), op.String()...)
	switch {
	case op == OpIsNotNull:
		return dst
	case op == OpIn && value == nil:
		return append(appendExprs(append(dst, " ("...), values), ')')
	}
	return AppendExpr(append(dst, ' '), value)
}

// appendIdents appends (a, b).
func appendIdents(dst []byte, names []string) []byte {
	dst = append(dst, '(')
	for i, n := range names {
		dst = AppendIdent(comma(dst, i), n)
	}
	return append(dst, ')')
}

func appendInsert(dst []byte, s *Insert) []byte {
	dst = AppendName(append(dst, "INSERT INTO "...), s.Into)
	if s.JSON != nil {
		dst = AppendExpr(append(dst, " JSON "...), s.JSON)
		if s.JSONUnset {
			dst = append(dst, " DEFAULT UNSET"...)
		}
	} else {
		dst = appendIdents(append(dst, ' '), s.Columns)
		dst = append(appendExprs(append(dst, " VALUES ("...), s.Values), ')')
	}
	if s.IfNotExists {
		dst = append(dst, " IF NOT EXISTS"...)
	}
	return appendUsing(dst, s.Using)
}

func appendUsing(dst []byte, u Using) []byte {
	word := " USING "
	if t, ok := u.Timestamp.(*Bind); ok {
		// Print keeps the order of the markers.
		if l, ok := u.TTL.(*Bind); ok && t.Index < l.Index {
			dst = AppendExpr(append(append(dst, word...), "TIMESTAMP "...), t)
			return AppendExpr(append(dst, " AND TTL "...), l)
		}
	}
	if u.TTL != nil {
		dst = AppendExpr(append(append(dst, word...), "TTL "...), u.TTL)
		word = " AND "
	}
	if u.Timestamp != nil {
		dst = AppendExpr(append(append(dst, word...), "TIMESTAMP "...), u.Timestamp)
	}
	return dst
}

func appendUpdate(dst []byte, s *Update) []byte {
	dst = AppendName(append(dst, "UPDATE "...), s.Table)
	dst = append(appendUsing(dst, s.Using), " SET "...)
	for i, a := range s.Set {
		dst = appendAssignment(comma(dst, i), a)
	}
	return appendIf(appendWhere(dst, s.Where), s.If, s.IfExists)
}

func appendAssignment(dst []byte, a Assignment) []byte {
	dst = appendKey(AppendIdent(dst, a.Column), a.Key)
	if a.Field != "" {
		dst = AppendIdent(append(dst, '.'), a.Field)
	}
	dst = append(dst, " = "...)
	// In c = c + (term), a whole term follows the operator.
	if b, ok := a.Value.(*Binary); ok {
		if c, ok := b.Left.(*Column); ok {
			dst = append(AppendIdent(dst, c.Name), ' ')
			dst = append(append(dst, b.Op.String()...), ' ')
			return AppendExpr(dst, b.Right)
		}
	}
	return AppendExpr(dst, a.Value)
}

func appendIf(dst []byte, conds []Condition, exists bool) []byte {
	if exists {
		return append(dst, " IF EXISTS"...)
	}
	for i, c := range conds {
		if i == 0 {
			dst = append(dst, " IF "...)
		} else {
			dst = append(dst, " AND "...)
		}
		dst = appendKey(AppendIdent(dst, c.Column), c.Key)
		if c.Field != "" {
			dst = AppendIdent(append(dst, '.'), c.Field)
		}
		dst = appendOpValue(dst, c.Op, c.Value, c.Values)
	}
	return dst
}

func appendDelete(dst []byte, s *Delete) []byte {
	dst = append(dst, "DELETE "...)
	for i, d := range s.Items {
		dst = appendKey(AppendIdent(comma(dst, i), d.Column), d.Key)
		if d.Field != "" {
			dst = AppendIdent(append(dst, '.'), d.Field)
		}
	}
	if len(s.Items) > 0 {
		dst = append(dst, ' ')
	}
	dst = AppendName(append(dst, "FROM "...), s.From)
	dst = appendWhere(appendUsing(dst, s.Using), s.Where)
	return appendIf(dst, s.If, s.IfExists)
}

func appendBatch(dst []byte, s *Batch) []byte {
	dst = append(dst, "BEGIN "...)
	switch s.Kind {
	case BatchUnlogged:
		dst = append(dst, "UNLOGGED "...)
	case BatchCounter:
		dst = append(dst, "COUNTER "...)
	}
	dst = appendUsing(append(dst, "BATCH"...), s.Using)
	for _, st := range s.Statements {
		dst = append(Append(append(dst, ' '), st), ';')
	}
	return append(dst, " APPLY BATCH"...)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
