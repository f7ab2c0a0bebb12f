// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Statement is one of the queries as the application sends it to the advised tables.
type Statement struct {
	Line int `json:"line"`
	// Text is CQL, or a DynamoDB operation and its request, in which <column> stands for a value.
	Text  string   `json:"text"`
	Binds []string `json:"binds"`          // only of CQL: the column of each marker, in their order
	Note  string   `json:"note,omitempty"` // what else the application does
}

// cqlWriter writes CQL.
type cqlWriter struct{ *serving }

// write writes a verdict's tables, and the queries for these tables, in their order.
func (s cqlWriter) write(d *Design, v *Verdict) {
	v.DDL = []string{s.createCQL(d, s.table())}
	for i := range v.Extras {
		e := &v.Extras[i]
		e.DDL = s.createCQL(e.design, s.furtherTable(e))
		v.DDL = append(v.DDL, e.DDL)
	}
	v.Statements = []Statement{}
	for i := 0; i < len(s.qs); {
		list, next := s.batched(i)
		if q := list[0]; q.Batch != nil {
			v.Statements = append(v.Statements, s.batch(d, v.Extras, list)...)
		} else {
			v.Statements = append(v.Statements, s.single(d, v.Extras, q)...)
		}
		i = next
	}
	for i := range v.Statements {
		x := &v.Statements[i]
		if slices.ContainsFunc(v.Ways, func(w Ways) bool { return w.Line == x.Line && w.way().Way == indexName }) {
			x.Note = strings.Replace(x.Note, wholeTable, wholeTable+" without the index", 1)
		}
	}
}

// single writes a query that stands alone, and what it writes into further tables.
func (s cqlWriter) single(d *Design, extras []Extra, q *queries.Query) []Statement {
	in, table := d, s.table()
	if !q.Writes() {
		for j := range extras {
			if e := &extras[j]; slices.Contains(e.Lines, q.Line) && s.serve(e.design, q).Kind < s.serve(in, q).Kind {
				in, table = e.design, s.furtherTable(e)
			}
		}
	}
	out := []Statement{s.statement(in, table, q)}
	for j := range extras {
		if e := &extras[j]; q.Writes() {
			x := s.statement(e.design, s.furtherTable(e), q)
			x.Note = strings.TrimSuffix(s.same(e)+"; "+x.Note, "; ")
			out = append(out, x)
		}
	}
	return out
}

// same says which rows a further table gets.
func (s cqlWriter) same(e *Extra) string {
	t := "the same into the further table"
	if names := s.nullsIn(e.design); len(names) > 0 {
		t += fmt.Sprintf(", only if %s %s a value", strings.Join(names, " and "), map[bool]string{true: "has", false: "have"}[len(names) == 1])
	}
	return t
}

// furtherTable returns the name of a further table.
func (s cqlWriter) furtherTable(e *Extra) string {
	var names []string
	for _, p := range e.design.Partition {
		names = append(names, p.Column)
	}
	names = e.named(names)
	for i := range names {
		names[i] = plainName(names[i])
	}
	keyspace, table, two := strings.Cut(s.table(), ".")
	if !two {
		return shortened(keyspace+"_by_"+strings.Join(names, "_"), s.o.Target.longestTable())
	}
	return keyspace + "." + shortened(table+"_by_"+strings.Join(names, "_"), s.o.Target.longestTable())
}

// nameOf splits a table's name into keyspace and name.
func nameOf(table string) syntax.Name {
	if keyspace, name, two := strings.Cut(table, "."); two {
		return syntax.Name{Keyspace: keyspace, Name: name}
	}
	return syntax.Name{Name: table}
}

// statement writes a query in CQL.
func (s cqlWriter) statement(d *Design, table string, q *queries.Query) Statement {
	made, notes := s.tree(d, table, q)
	return written(q.Line, made, notes)
}

// written returns a statement with its text and its markers' columns.
func written(line int, made syntax.Statement, notes []string) Statement {
	out := Statement{Line: line, Text: syntax.Print(made) + ";", Binds: []string{}, Note: strings.Join(notes, "; ")}
	if again, err := syntax.Parse(strings.TrimSuffix(out.Text, ";")); err == nil {
		out.Binds = binds(again)
	}
	return out
}

// tree returns a query as CQL for a table, and what else the application does.
func (s cqlWriter) tree(d *Design, table string, q *queries.Query) (made syntax.Statement, notes []string) {
	d = s.logical(d)
	switch x := s.asTree(q).(type) {
	case *syntax.Select:
		x.From = nameOf(table)
		kind := s.serve(d, q).Kind
		var order []syntax.Ordering
		if kind < FullScan {
			x.Where, notes = s.restricted(d, q, x.Where)
			if s.ordered(d, q, boundPrefix(d, q)) == "" {
				order = x.OrderBy
			}
			if len(order) > 0 && s.severalKeys(d, q) {
				if q.Limit == 0 {
					order = nil
				} else {
					notes = append(notes, "with paging disabled: Cassandra refuses pages of a query with both IN on the partition key and ORDER BY")
				}
			}
		}
		if len(order) < len(x.OrderBy) {
			notes = append(notes, sorts(q))
			x.Limit = nil // it would cut rows before they are sorted
		}
		for _, r := range q.Ranges {
			if r.Prefix {
				notes = append(notes, fmt.Sprintf("%s from the prefix on, and below the prefix with its last character raised by one", r.Column))
			}
		}
		x.OrderBy, x.AllowFiltering = order, kind >= Filtered || len(q.Filter) > 0
		if kind == FullScan {
			notes = append(notes, wholeTable)
		}
		made = x
	case *syntax.Insert:
		x.Into = nameOf(table)
		if c := s.bucketColumnOf(d); c != nil {
			x.Columns, x.Values = append(x.Columns, c.Name), append(x.Values, &syntax.Bind{})
			notes = append(notes, s.meaning(c))
		}
		var missing []string
		for _, c := range append(d.columns(), d.Clustering...) {
			if !slices.Contains(x.Columns, c) {
				x.Columns, x.Values, missing = append(x.Columns, c), append(x.Values, &syntax.Bind{}), append(missing, c)
			}
		}
		if len(missing) > 0 {
			notes = append(notes, fmt.Sprintf("%s too, for a row has a value in each column of its key", strings.Join(missing, ", ")))
		}
		if d.AddID {
			x.Columns, x.Values = append(x.Columns, idColumn), append(x.Values, &syntax.Call{Func: syntax.Name{Name: "now"}})
		}
		made = x
	case *syntax.Update:
		x.Table = nameOf(table)
		x.Where, notes = s.wholeKey(d, q, x.Where)
		made = x
	case *syntax.Delete:
		x.From = nameOf(table)
		if s.serve(d, q).Kind >= Filtered {
			x.Where, notes = s.wholeKey(d, q, x.Where)
		} else {
			x.Where, notes = s.restricted(d, q, x.Where)
		}
		made = x
	}
	return made, append(notes, s.storedNotes(d, q)...)
}

// wholeTable is the note of a query that no key serves.
const wholeTable = "reads the whole table"

// sorts says what the application does if the rows do not come in the order that a query asks for.
func sorts(q *queries.Query) string {
	if q.Limit > 0 {
		return fmt.Sprintf("the application sorts the rows, and takes the first %s", number(float64(q.Limit)))
	}
	return "the application sorts the rows"
}

// boundPrefix returns how many clustering columns, from the first one on, a query binds.
func boundPrefix(d *Design, q *queries.Query) int {
	at := 0
	for at < len(d.Clustering) && q.Bound(d.Clustering[at]) != nil {
		at++
	}
	return at
}

// restricted adds restrictions for the parts of the partition key that the query does not bind: a
// bucket, or the value of a period if the query gives a range of it.
func (s cqlWriter) restricted(d *Design, q *queries.Query, where []syntax.Relation) (out []syntax.Relation, notes []string) {
	out = slices.Clone(where)
	for _, p := range d.Partition {
		column := p.Column
		if p.Bucket != profile.Whole {
			column = s.bucketColumnOf(d).Name
		} else if q.Bound(p.Column) != nil {
			continue
		}
		if n, can := s.listed(p, q); can {
			all := syntax.Relation{Columns: []string{p.Column}, Op: syntax.OpIn}
			for range int(n) {
				all.Values = append(all.Values, &syntax.Bind{})
			}
			out = slices.Insert(out, s.keyPart(d, out), all)
			notes = append(notes, fmt.Sprintf("name all %s values of %s; name a new one, too, once it comes", number(n), p.Column))
			continue
		}
		if p.Bucket == profile.Whole { // = replaces the range
			out = slices.DeleteFunc(out, func(r syntax.Relation) bool { return slices.Equal(r.Columns, []string{p.Column}) })
		}
		out = slices.Insert(out, s.keyPart(d, out), syntax.Relation{Columns: []string{column}, Op: syntax.OpEQ, Value: &syntax.Bind{}})
		unit, _ := s.period(d)
		switch {
		case q.Bound(p.Column) != nil && p.Bucket != profile.Whole:
			notes = append(notes, s.meaning(s.bucketColumnOf(d)))
		case s.onward(d, p, q):
			from := "the newest " + unitName(unit)
			if q.Range(p.Column) != nil {
				from = fmt.Sprintf("the %s of the limit that the query gives", unitName(unit))
			}
			notes = append(notes, fmt.Sprintf("from %s on, until there is enough: %s", from, countOf(float64(q.Limit), "row")))
		case q.Range(p.Column) != nil:
			notes = append(notes, fmt.Sprintf("once for each %s of the range", unitName(unit)))
		default:
			notes = append(notes, fmt.Sprintf("once for each %s: the query gives no time", unitName(unit)))
		}
	}
	return out, notes
}

// severalKeys reports whether a query names several values of a column of the partition key.
func (s cqlWriter) severalKeys(d *Design, q *queries.Query) bool {
	return slices.ContainsFunc(d.Partition, func(p profile.Part) bool {
		if b := q.Bound(p.Column); b != nil {
			return b.Values != 1
		}
		_, all := s.listed(p, q)
		return all
	})
}

// keyPart returns how many restrictions, from the first one on, are of the partition key.
func (s cqlWriter) keyPart(d *Design, where []syntax.Relation) int {
	at := slices.IndexFunc(where, func(r syntax.Relation) bool {
		return len(r.Columns) != 1 || !slices.Contains(d.columns(), r.Columns[0])
	})
	if at < 0 {
		return len(where)
	}
	return at
}

// wholeKey returns a restriction to one row.
func (s cqlWriter) wholeKey(d *Design, q *queries.Query, where []syntax.Relation) (out []syntax.Relation, notes []string) {
	var names, missing []string
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			names = append(names, s.bucketColumnOf(d).Name)
			continue
		}
		names = append(names, p.Column)
	}
	for _, c := range append(names, d.clusteringNames()...) {
		if at := slices.IndexFunc(where, func(r syntax.Relation) bool { return slices.Equal(r.Columns, []string{c}) && r.Op == syntax.OpEQ }); at >= 0 {
			out = append(out, where[at])
			continue
		}
		if b := s.bucketColumnOf(d); b != nil && b.Name == c && q.Bound(b.Of) != nil {
			notes = append(notes, s.meaning(b))
		} else {
			missing = append(missing, c)
		}
		out = append(out, syntax.Relation{Columns: []string{c}, Op: syntax.OpEQ, Value: &syntax.Bind{}})
	}
	if len(missing) > 0 {
		notes = append(notes, fmt.Sprintf("read %s of the rows first", strings.Join(missing, ", ")))
	}
	return out, notes
}

// asTree returns a query as a statement on a table of the data's columns: the user's own statement
// if it names the columns as they are, else one with the same meaning.
func (s cqlWriter) asTree(q *queries.Query) syntax.Statement {
	if own, err := queries.Parse(q.Text); err == nil && len(own) == 1 && sameNames(&own[0], q) {
		if tree, err := syntax.Parse(q.Text); err == nil {
			switch tree.(type) {
			case *syntax.Select, *syntax.Insert, *syntax.Update, *syntax.Delete:
				return tree
			}
		}
	}
	using := syntax.Using{}
	if q.TTL > 0 {
		using.TTL = &syntax.Constant{Kind: syntax.ConstInteger, Text: strconv.FormatInt(q.TTL, 10)}
	}
	switch q.Verb {
	case queries.Insert:
		x := &syntax.Insert{Columns: slices.Clone(q.Columns), Using: using, IfNotExists: q.Conditional}
		if len(x.Columns) == 0 {
			x.Columns = s.columnNames()
		}
		for range x.Columns {
			x.Values = append(x.Values, &syntax.Bind{})
		}
		return x
	case queries.Update:
		x := &syntax.Update{Using: using, Where: relations(q)}
		for _, c := range q.Columns {
			x.Set = append(x.Set, syntax.Assignment{Column: c, Value: &syntax.Bind{}})
		}
		return x
	case queries.Delete:
		return &syntax.Delete{Where: relations(q)}
	}
	x := &syntax.Select{Where: relations(q)}
	for _, c := range q.Columns {
		x.Selectors = append(x.Selectors, syntax.Selector{Expr: &syntax.Column{Name: c}})
	}
	for _, o := range q.Order {
		if o.Column != "" {
			x.OrderBy = append(x.OrderBy, syntax.Ordering{Column: o.Column, Desc: o.Desc})
		}
	}
	if q.Limit > 0 {
		x.Limit = &syntax.Constant{Kind: syntax.ConstInteger, Text: strconv.FormatInt(min(q.Limit, math.MaxInt32), 10)}
	}
	return x
}

// sameNames reports whether two readings of a query name the same columns.
func sameNames(a, b *queries.Query) bool {
	if !slices.Equal(a.Columns, b.Columns) || len(a.Equal) != len(b.Equal) || len(a.Ranges) != len(b.Ranges) || len(a.Order) != len(b.Order) || len(a.Filter) != len(b.Filter) {
		return false
	}
	for i := range a.Equal {
		if a.Equal[i].Column != b.Equal[i].Column {
			return false
		}
	}
	for i := range a.Ranges {
		if a.Ranges[i].Column != b.Ranges[i].Column {
			return false
		}
	}
	return slices.Equal(a.Order, b.Order) && slices.Equal(a.Filter, b.Filter)
}

// relations returns a query's restrictions.
func relations(q *queries.Query) []syntax.Relation {
	var out []syntax.Relation
	add := func(column string, op syntax.Op) {
		out = append(out, syntax.Relation{Columns: []string{column}, Op: op, Value: &syntax.Bind{}})
	}
	for _, e := range q.Equal {
		if e.Values == 1 {
			add(e.Column, syntax.OpEQ)
		} else {
			add(e.Column, syntax.OpIn)
		}
	}
	for _, r := range q.Ranges {
		if r.Above {
			add(r.Column, syntax.OpGE)
		}
		if r.Below {
			add(r.Column, syntax.OpLT)
		}
	}
	for _, f := range q.Filter {
		add(f.Column, syntax.OpEQ)
	}
	return out
}

// binds returns the columns of a statement's markers, in the order of the markers.
func binds(tree syntax.Statement) []string {
	var out []string
	expr := func(column string, list ...syntax.Expr) {
		for _, e := range list {
			if _, marker := e.(*syntax.Bind); marker {
				out = append(out, column)
			}
		}
	}
	where := func(list []syntax.Relation) {
		for _, r := range list {
			column := strings.Join(r.Columns, ", ")
			if r.Op == syntax.OpIn && r.Values == nil {
				column = "[" + column + "]" // the marker stands for a list
			}
			expr(column, append([]syntax.Expr{r.Value}, r.Values...)...)
		}
	}
	conditions := func(list []syntax.Condition) {
		for _, c := range list {
			expr(c.Column, append([]syntax.Expr{c.Key, c.Value}, c.Values...)...)
		}
	}
	switch x := tree.(type) {
	case *syntax.Batch:
		expr("[timestamp]", x.Using.Timestamp)
		for _, part := range x.Statements {
			out = append(out, binds(part)...)
		}
	case *syntax.Select:
		where(x.Where)
		expr("[limit]", x.PerPartitionLimit, x.Limit)
	case *syntax.Insert:
		for i, v := range x.Values {
			expr(x.Columns[i], v)
		}
		expr("[timestamp]", x.Using.Timestamp)
		expr("[ttl]", x.Using.TTL)
	case *syntax.Update:
		expr("[timestamp]", x.Using.Timestamp)
		expr("[ttl]", x.Using.TTL)
		for _, a := range x.Set {
			expr(a.Column, a.Key, a.Value)
		}
		where(x.Where)
		conditions(x.If)
	case *syntax.Delete:
		for _, i := range x.Items {
			expr(i.Column, i.Key)
		}
		expr("[timestamp]", x.Using.Timestamp)
		where(x.Where)
		conditions(x.If)
	}
	if out == nil {
		return []string{}
	}
	return out
}
