// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// analyzeWrite analyses an INSERT, UPDATE or DELETE, alone or in a batch.
func analyzeWrite(stmt syntax.Statement, s *schema.Schema, keyspace string, b *binds) (*Write, error) {
	w := &writeBuilder{Write: &Write{}}
	var name syntax.Name
	var using syntax.Using
	var conditions []syntax.Condition
	switch stmt := stmt.(type) {
	case *syntax.Insert:
		w.Kind, name, using = Insert, stmt.Into, stmt.Using
		w.IfNotExists = stmt.IfNotExists
	case *syntax.Update:
		w.Kind, name, using, conditions = Update, stmt.Table, stmt.Using, stmt.If
		w.IfExists = stmt.IfExists
	case *syntax.Delete:
		w.Kind, name, using, conditions = Delete, stmt.From, stmt.Using, stmt.If
		w.IfExists = stmt.IfExists
	default:
		return nil, invalid("only INSERT, UPDATE and DELETE are allowed in a batch")
	}
	a, err := newAnalyzer(s, keyspace, name, b)
	if err != nil {
		return nil, err
	}
	w.analyzer = a
	w.Header = Header{Keyspace: a.table.Keyspace, Table: a.table}
	w.Counter = a.table.Counter
	if err := w.using(using); err != nil {
		return nil, err
	}
	if err := w.conditions(conditions); err != nil {
		return nil, err
	}
	switch stmt := stmt.(type) {
	case *syntax.Insert:
		err = w.insert(stmt)
	case *syntax.Update:
		err = w.update(stmt)
	case *syntax.Delete:
		err = w.delete(stmt)
	}
	if err != nil {
		return nil, err
	}
	if w.Conditional() {
		if w.Counter {
			return nil, invalid("Conditional updates are not supported on counter tables")
		}
		if w.Timestamp != nil {
			return nil, invalid("Cannot provide custom timestamp for conditional updates")
		}
		w.fetchConditions()
	}
	return w.Write, nil
}

type writeBuilder struct {
	*analyzer
	*Write
}

func (w *writeBuilder) using(u syntax.Using) (err error) {
	if u.Timestamp != nil {
		if w.Timestamp, err = w.prepare(u.Timestamp, spec{name: "[timestamp]", t: value.Native(value.Bigint)}); err != nil {
			return err
		}
	}
	if u.TTL != nil {
		w.TTL, err = w.prepare(u.TTL, spec{name: "[ttl]", t: value.Native(value.Int)})
	}
	return err
}

// fetchConditions records the columns that the write reads to decide and to report: those with
// conditions, regular ones first, or all columns.
func (w *writeBuilder) fetchConditions() {
	if w.IfExists || w.IfNotExists {
		for _, c := range w.analyzer.table.All() {
			w.Write.Fetch = append(w.Write.Fetch, Fetched{Column: c})
		}
		return
	}
	slices.SortStableFunc(w.Conditions, func(x, y Condition) int {
		return boolInt(x.Column.Kind == schema.Static) - boolInt(y.Column.Kind == schema.Static)
	})
	for i := range w.Conditions {
		w.Conditions[i].Cell = w.cell(w.Conditions[i].Column)
	}
	w.Write.Fetch = w.analyzer.fetch
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// touches reports whether operations or conditions concern regular columns, and static ones.
func (w *writeBuilder) touches() (regular, static bool) {
	for _, o := range w.Operations {
		static = static || o.Column.Kind == schema.Static
		regular = regular || o.Column.Kind != schema.Static
	}
	regular = regular || w.Kind == Delete && !static
	for _, c := range w.Conditions {
		static = static || c.Column.Kind == schema.Static
		regular = regular || c.Column.Kind != schema.Static
	}
	return regular, static
}

func (w *writeBuilder) onlyStatics() bool {
	regular, static := w.touches()
	return static && !regular
}

func (w *writeBuilder) insert(stmt *syntax.Insert) error {
	if w.Counter {
		return invalid("INSERT statements are not allowed on counter tables, use UPDATE instead")
	}
	if stmt.JSON != nil {
		return w.insertJSON(stmt)
	}
	switch {
	case stmt.Columns == nil:
		return invalid("Column names for INSERT must be provided when using VALUES")
	case len(stmt.Columns) == 0:
		return invalid("No columns provided to INSERT")
	case len(stmt.Columns) != len(stmt.Values):
		return invalid("Unmatched column names/values")
	}
	named := make(map[string]bool, len(stmt.Columns))
	for _, n := range stmt.Columns {
		if named[n] {
			return invalid("The column names contains duplicates")
		}
		named[n] = true
	}
	var relations []syntax.Relation
	clustering := false
	for i, n := range stmt.Columns {
		c, err := w.column(n)
		if err != nil {
			return err
		}
		switch c.Kind {
		case schema.Clustering:
			clustering = true
			fallthrough
		case schema.PartitionKey:
			relations = append(relations, syntax.Relation{Columns: []string{n}, Op: syntax.OpEQ, Value: stmt.Values[i]})
			continue
		}
		w.memo.next()
		if err := w.set(c, stmt.Values[i]); err != nil {
			return err
		}
	}
	return w.where(relations, !clustering && w.onlyStatics())
}

// where builds the WHERE and sets the scope of the write.
func (w *writeBuilder) where(relations []syntax.Relation, onlyStatics bool) error {
	b := &whereBuilder{analyzer: w.analyzer, statement: w.Kind.String()}
	where, err := b.build(relations, onlyStatics)
	if err != nil {
		return err
	}
	w.Where = where
	restricted := !b.clustering.empty()
	switch {
	case w.Kind != Delete && (len(w.analyzer.table.Clustering) == 0 || restricted):
		w.Scope = ScopeRows
	case w.Kind != Delete:
		w.Scope = ScopeStatic
	case len(w.Operations) > 0:
		w.Scope = ScopeStatic
		if slices.ContainsFunc(w.Operations, func(o Operation) bool { return o.Column.Kind != schema.Static }) {
			w.Scope = ScopeRows
			w.rangeOfColumns = restricted && b.columnRange() || !restricted && len(w.analyzer.table.Clustering) > 0
		}
	case !restricted:
		w.Scope = ScopeDeletePartition
	case b.columnRange():
		w.Scope = ScopeDeleteSlices
	default:
		w.Scope = ScopeDeleteRows
	}
	if w.Kind == Delete && w.Conditional() && !w.fullKey(b) {
		regular, _ := w.deletesRegular()
		if regular {
			return invalid("DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns")
		}
		if slices.ContainsFunc(w.Conditions, func(c Condition) bool { return c.Column.Kind != schema.Static }) {
			return invalid("DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF condition on non static columns")
		}
	}
	return nil
}

// deletesRegular reports whether a DELETE concerns columns that are not static, and static ones.
func (w *writeBuilder) deletesRegular() (regular, static bool) {
	for _, o := range w.Operations {
		static = static || o.Column.Kind == schema.Static
		regular = regular || o.Column.Kind != schema.Static
	}
	return regular || !static, static
}

// fullKey reports whether EQ or IN restricts the whole primary key.
func (w *writeBuilder) fullKey(b *whereBuilder) bool {
	return !b.onToken() && !b.unrestricted() && !b.partition.other &&
		len(b.clustering.columns) == len(w.analyzer.table.Clustering) && !b.clustering.other
}

func (w *writeBuilder) update(stmt *syntax.Update) error {
	for i := range stmt.Set {
		w.memo.next()
		as := &stmt.Set[i]
		c, err := w.column(as.Column)
		if err != nil {
			return err
		}
		if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
			return invalid("PRIMARY KEY part %s found in SET part", c.Name)
		}
		if err := w.assign(c, as); err != nil {
			return err
		}
	}
	return w.where(stmt.Where, w.onlyStatics())
}

func (w *writeBuilder) delete(stmt *syntax.Delete) error {
	for _, item := range stmt.Items {
		c, err := w.column(item.Column)
		if err != nil {
			return err
		}
		if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
			return invalid("Invalid identifier %s for deletion (should not be a PRIMARY KEY part)", c.Name)
		}
		if err := w.deletion(c, item); err != nil {
			return err
		}
	}
	return w.where(stmt.Where, w.onlyStatics())
}

// conditions types the conditions of the IF.
func (w *writeBuilder) conditions(list []syntax.Condition) error {
	if len(list) > 0 && w.Timestamp != nil {
		return invalid("Cannot provide custom timestamp for conditional updates")
	}
	for i := range list {
		if err := w.condition(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writeBuilder) condition(c *syntax.Condition) error {
	col, err := w.column(c.Column)
	if err != nil {
		return err
	}
	out := Condition{Column: col, Op: c.Op, Field: -1}
	s := columnSpec(col)
	t := col.Type
	if t.Kind == value.Counter {
		return invalid("Conditions on counters are not supported")
	}
	switch {
	case c.Key != nil:
		if s, err = w.elementCondition(c, col, &out); err != nil {
			return err
		}
	case c.Field != "":
		i := -1
		if t.Kind == value.UDT {
			i = t.Field(c.Field)
		}
		if i < 0 {
			return invalid("Unknown field %s for column %s", c.Field, col.Name)
		}
		out.Field, s = i, fieldSpec(s, i)
	}
	if err := conditionOrder(s.t, c.Op); err != nil {
		return err
	}
	switch {
	case c.Op == syntax.OpContainsKey && s.t.Kind != value.Map:
		return invalid("Cannot use CONTAINS KEY on non-map column %s", s.name)
	case c.Op == syntax.OpContains && !s.t.Collection():
		return invalid("Cannot use CONTAINS on non-collection column %s", s.name)
	case c.Op == syntax.OpContainsKey:
		s = spec{name: "key(" + s.name + ")", t: s.t.Elems[0]}
	case c.Op == syntax.OpContains:
		s = spec{name: "value(" + s.name + ")", t: s.t.Elems[len(s.t.Elems)-1]}
	}
	switch {
	case c.Op == syntax.OpIn && c.Values == nil:
		out.List, err = w.prepare(c.Value, spec{name: "in(" + s.name + ")", t: value.ListOf(s.t, false)})
	case c.Op == syntax.OpIn:
		for _, v := range c.Values {
			x, err := w.prepare(v, s)
			if err != nil {
				return err
			}
			out.Terms = append(out.Terms, x)
		}
	default:
		out.Term, err = w.prepare(c.Value, s)
	}
	if err != nil {
		return err
	}
	if col.Kind == schema.PartitionKey || col.Kind == schema.Clustering {
		return invalid("PRIMARY KEY column '%s' cannot have IF conditions", col.Name)
	}
	w.Conditions = append(w.Conditions, out)
	return nil
}

// elementCondition types the key of c[key] and returns the spec of its value.
func (w *writeBuilder) elementCondition(c *syntax.Condition, col *schema.Column, out *Condition) (spec, error) {
	t := col.Type
	key := spec{name: "idx(" + col.Name + ")", t: value.Native(value.Int)}
	val := spec{name: "value(" + col.Name + ")"}
	switch t.Kind {
	case value.List:
		val.t = t.Elems[0]
	case value.Map:
		key = spec{name: "key(" + col.Name + ")", t: t.Elems[0]}
		val.t = t.Elems[1]
	case value.Set:
		return val, invalid("Invalid element access syntax for set column %s", col.Name)
	default:
		return val, invalid("Invalid element access syntax for non-collection column %s", col.Name)
	}
	if err := conditionOrder(val.t, c.Op); err != nil {
		return val, err
	}
	x, err := w.prepare(c.Key, key)
	out.Key = x
	return val, err
}

// conditionOrder refuses inequalities on types that contain durations.
func conditionOrder(t *value.Type, op syntax.Op) error {
	if op != syntax.OpLT && op != syntax.OpLE && op != syntax.OpGT && op != syntax.OpGE || !t.Contains(value.Duration) {
		return nil
	}
	switch {
	case t.Collection():
		return invalid("Slice conditions are not supported on collections containing durations")
	case t.Kind == value.Tuple:
		return invalid("Slice conditions are not supported on tuples containing durations")
	case t.Kind == value.UDT:
		return invalid("Slice conditions are not supported on UDTs containing durations")
	}
	return invalid("Slice conditions ( %s ) are not supported on durations", symbol(op))
}
