// SPDX-License-Identifier: Apache-2.0

package syntax

func ifNotExists(dst []byte, yes bool) []byte {
	if yes {
		dst = append(dst, "IF NOT EXISTS "...)
	}
	return dst
}

func ifExists(dst []byte, yes bool) []byte {
	if yes {
		dst = append(dst, "IF EXISTS "...)
	}
	return dst
}

// options appends WITH before the first option and AND before the others.
type options struct {
	dst   []byte
	given bool
}

func (o *options) next() {
	if o.given {
		o.dst = append(o.dst, " AND "...)
	} else {
		o.dst = append(o.dst, " WITH "...)
	}
	o.given = true
}

func (o *options) properties(list Properties) {
	for _, p := range list {
		o.next()
		o.dst = AppendProperty(o.dst, p)
	}
}

// AppendProperty appends name = value.
func AppendProperty(dst []byte, p Property) []byte {
	return AppendExpr(append(AppendIdent(dst, p.Name), " = "...), p.Value)
}

func (o *options) clusteringOrder(order []Ordering) {
	if len(order) == 0 {
		return
	}
	o.next()
	o.dst = append(o.dst, "CLUSTERING ORDER BY ("...)
	for i, c := range order {
		o.dst = AppendIdent(comma(o.dst, i), c.Column)
		if c.Desc {
			o.dst = append(o.dst, " DESC"...)
		} else {
			o.dst = append(o.dst, " ASC"...)
		}
	}
	o.dst = append(o.dst, ')')
}

func appendWith(dst []byte, list Properties) []byte {
	o := options{dst: dst}
	o.properties(list)
	return o.dst
}

func appendColumn(dst []byte, c ColumnDef) []byte {
	dst = AppendType(append(AppendIdent(dst, c.Name), ' '), c.Type)
	if c.Static {
		dst = append(dst, " STATIC"...)
	}
	dst = appendMask(dst, c.Mask)
	if c.PrimaryKey {
		dst = append(dst, " PRIMARY KEY"...)
	}
	return dst
}

func appendMask(dst []byte, mask Expr) []byte {
	if mask == nil {
		return dst
	}
	return AppendExpr(append(dst, " MASKED WITH "...), mask)
}

func appendPrimaryKey(dst []byte, partition, clustering []string) []byte {
	dst = append(dst, "PRIMARY KEY ("...)
	if len(partition) == 1 {
		dst = AppendIdent(dst, partition[0])
	} else {
		dst = appendIdents(dst, partition)
	}
	for _, c := range clustering {
		dst = AppendIdent(append(dst, ", "...), c)
	}
	return append(dst, ')')
}

func appendCreateTable(dst []byte, s *CreateTable) []byte {
	dst = ifNotExists(append(dst, "CREATE TABLE "...), s.IfNotExists)
	dst = append(AppendName(dst, s.Name), " ("...)
	for i, c := range s.Columns {
		dst = appendColumn(comma(dst, i), c)
	}
	if len(s.PartitionKey) > 0 {
		dst = appendPrimaryKey(comma(dst, len(s.Columns)), s.PartitionKey, s.Clustering)
	}
	o := options{dst: append(dst, ')')}
	o.clusteringOrder(s.Order)
	if s.CompactStorage {
		o.next()
		o.dst = append(o.dst, "COMPACT STORAGE"...)
	}
	o.properties(s.With)
	return o.dst
}

func appendAlterTable(dst []byte, s *AlterTable) []byte {
	dst = ifExists(append(dst, "ALTER TABLE "...), s.IfExists)
	dst = AppendName(dst, s.Name)
	switch {
	case s.DropCompactStorage:
		return append(dst, " DROP COMPACT STORAGE"...)
	case len(s.Add) > 0:
		dst = ifNotExists(append(dst, " ADD "...), s.AddIfNotExists)
		if len(s.Add) == 1 {
			return appendColumn(dst, s.Add[0])
		}
		dst = append(dst, '(')
		for i, c := range s.Add {
			dst = appendColumn(comma(dst, i), c)
		}
		return append(dst, ')')
	case len(s.Drop) > 0:
		dst = ifExists(append(dst, " DROP "...), s.DropIfExists)
		dst = appendIdents(dst, s.Drop)
		if s.DropTimestamp != nil {
			dst = AppendExpr(append(dst, " USING TIMESTAMP "...), s.DropTimestamp)
		}
		return dst
	case len(s.Rename) > 0:
		dst = ifExists(append(dst, " RENAME "...), s.RenameIfExists)
		return appendRenames(dst, s.Rename)
	case s.AlterType != nil || s.Mask != nil || s.DropMask:
		dst = ifExists(append(dst, " ALTER "...), s.AlterIfExists)
		dst = AppendIdent(dst, s.AlterColumn)
		switch {
		case s.AlterType != nil:
			return AppendType(append(dst, " TYPE "...), *s.AlterType)
		case s.DropMask:
			return append(dst, " DROP MASKED"...)
		}
		return appendMask(dst, s.Mask)
	}
	return appendWith(dst, s.With)
}

func appendRenames(dst []byte, list []Rename) []byte {
	for i, r := range list {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(AppendIdent(dst, r.From), " TO "...)
		dst = AppendIdent(dst, r.To)
	}
	return dst
}

func appendCreateType(dst []byte, s *CreateType) []byte {
	dst = ifNotExists(append(dst, "CREATE TYPE "...), s.IfNotExists)
	dst = append(appendUserType(dst, s.Name), " ("...)
	for i, f := range s.Fields {
		dst = appendColumn(comma(dst, i), f)
	}
	return append(dst, ')')
}

func appendAlterType(dst []byte, s *AlterType) []byte {
	dst = ifExists(append(dst, "ALTER TYPE "...), s.IfExists)
	dst = appendUserType(dst, s.Name)
	switch {
	case s.AlterFieldType != nil:
		dst = AppendIdent(append(dst, " ALTER "...), s.AlterField)
		return AppendType(append(dst, " TYPE "...), *s.AlterFieldType)
	case len(s.Add) > 0:
		return appendColumn(ifNotExists(append(dst, " ADD "...), s.AddIfNotExists), s.Add[0])
	}
	return appendRenames(ifExists(append(dst, " RENAME "...), s.RenameIfExists), s.Rename)
}

func appendCreateIndex(dst []byte, s *CreateIndex) []byte {
	dst = append(dst, "CREATE "...)
	if s.Custom {
		dst = append(dst, "CUSTOM "...)
	}
	dst = ifNotExists(append(dst, "INDEX "...), s.IfNotExists)
	if s.Name != "" {
		dst = append(AppendIdent(dst, s.Name), ' ')
	}
	dst = append(AppendName(append(dst, "ON "...), s.Table), " ("...)
	for i, t := range s.Targets {
		dst = comma(dst, i)
		if t.Function == "" {
			dst = AppendIdent(dst, t.Column)
			continue
		}
		dst = append(append(dst, t.Function...), '(')
		dst = append(AppendIdent(dst, t.Column), ')')
	}
	dst = append(dst, ')')
	if s.Class != "" {
		dst = AppendString(append(dst, " USING "...), s.Class)
	}
	return appendWith(dst, s.With)
}

func appendCreateView(dst []byte, s *CreateView) []byte {
	dst = ifNotExists(append(dst, "CREATE MATERIALIZED VIEW "...), s.IfNotExists)
	dst = append(AppendName(dst, s.Name), " AS SELECT "...)
	dst = appendSelectors(dst, s.Select.Selectors)
	dst = AppendName(append(dst, " FROM "...), s.Select.From)
	dst = append(appendWhere(dst, s.Select.Where), ' ')
	o := options{dst: appendPrimaryKey(dst, s.PartitionKey, s.Clustering)}
	o.clusteringOrder(s.Order)
	o.properties(s.With)
	return o.dst
}

func appendDrop(dst []byte, s *Drop) []byte {
	dst = append(append(append(dst, "DROP "...), s.Kind...), ' ')
	dst = ifExists(dst, s.IfExists)
	if s.Kind == KindType {
		return appendUserType(dst, s.Name)
	}
	return AppendName(dst, s.Name)
}

func appendDescribe(dst []byte, s *Describe) []byte {
	dst = append(dst, "DESCRIBE "...)
	switch {
	case s.Full:
		dst = append(dst, "FULL "...)
	case s.Only:
		dst = append(dst, "ONLY "...)
	}
	dst = append(dst, s.What...)
	if s.Name.Name != "" {
		if s.What != "" {
			dst = append(dst, ' ')
		}
		switch s.What {
		case "TYPE":
			dst = appendUserType(dst, s.Name)
		case "FUNCTION", "AGGREGATE":
			dst = appendFunction(dst, s.Name)
		case "":
			dst = appendDescribed(dst, s.Name)
		default:
			dst = AppendName(dst, s.Name)
		}
	}
	if s.Internals {
		dst = append(dst, " WITH INTERNALS"...)
	}
	return dst
}

// appendDescribed quotes names that DESCRIBE would read as its own words.
func appendDescribed(dst []byte, n Name) []byte {
	if n.Keyspace != "" {
		return AppendName(append(AppendIdent(dst, n.Keyspace), '.'), Name{Name: n.Name})
	}
	if lookup(n.Name) != tIdent {
		return appendQuoted(dst, n.Name)
	}
	return AppendIdent(dst, n.Name)
}
