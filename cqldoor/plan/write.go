// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Write is the plan of an INSERT, UPDATE or DELETE. It is immutable.
type Write struct {
	Table   *Table
	Logical *analysis.Write

	// To is the same write under the new layout, or nil if no change is under way. See Moving.
	To *Write

	// OnePlace is a second plan during a change; nil: there is none.
	OnePlace *OnePlace

	// Whole is the statement for the one shard that its key decides. It is nil if the shards
	// depend on more (IN, ranges, whole partitions, JSON, rows together with static columns,
	// strategy random).
	Whole *Statement
	route *route

	// These are the parts of a write that has no Whole. Key, Cluster and Set slots fill them in.
	row     *Statement // writes one row
	static  *Statement // writes the static columns
	both    *Statement // writes a row and the static columns, if they share a shard
	slices  func(shape) (*Statement, error)
	random  *Statement // writes to any one shard
	columns []*schema.Column
	chance  []call // for random: values computed once for all shards
}

// NewWrite plans a write on a sharded table. If the table's layout is being changed, the
// statement must not contain calls whose result changes each time (see Once).
func NewWrite(t *Table, stmt syntax.Statement, a *analysis.Write) (*Write, error) {
	if t.Change == nil {
		return writeIn(t, stmt, a, false)
	}
	if a.Conditional() {
		return nil, errConditions
	}
	p, err := writeIn(t, stmt, a, false)
	if err == nil {
		p.To, err = writeIn(t.Change.To, stmt, a, false)
	}
	if err == nil {
		p.OnePlace, err = p.onePlace(stmt)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// writeIn plans a write under one layout. If oneShard is set, it plans a write of a table under a change as it does
// without the change.
func writeIn(t *Table, stmt syntax.Statement, a *analysis.Write, oneShard bool) (*Write, error) {
	p := &Write{Table: t, Logical: a}
	if err := p.refuse(); err != nil {
		return nil, err
	}
	stmt, err := withTokens(t, stmt)
	if err != nil {
		return nil, err
	}
	if t.Layout.Strategy.Anywhere() {
		return p, p.anywhere(stmt)
	}
	row, static := p.touches()
	switch {
	case t.moves && !oneShard: // by rows, whose two places are compared
	case !static:
		p.route = t.one(&a.Where)
	case !row:
		p.route = t.home(&a.Where)
	case a.Conditional():
		if p.route = t.one(&a.Where); p.route != nil {
			p.route.home = together
		}
	}
	switch s := stmt.(type) {
	case *syntax.Insert:
		err = p.insert(clientMarkers(s), row, static)
	case *syntax.Update:
		err = p.update(clientMarkers(s), row, static)
	case *syntax.Delete:
		err = p.delete(clientMarkers(s), row, static)
	default:
		err = fmt.Errorf("plan: %T is not a write", stmt)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// refuse returns an error for writes that sharded tables do not support.
func (p *Write) refuse() error {
	a := p.Logical
	switch {
	case !a.Conditional():
		return nil
	case p.Table.Layout.Strategy.Anywhere():
		return refused("conditions (IF) are not possible under strategy '"+p.Table.Layout.Strategy.String()+"': no shard knows the row as it is", "use strategy 'calculated'")
	case a.Scope == analysis.ScopeStatic && (a.IfExists || a.IfNotExists):
		return refused("IF EXISTS and IF NOT EXISTS on static columns alone ask for rows in all shards", "put a condition on the static columns themselves: IF s = …")
	}
	return nil
}

// touches says whether the write, with its conditions, involves rows and static columns.
func (p *Write) touches() (row, static bool) {
	a := p.Logical
	row = a.Scope != analysis.ScopeStatic
	if a.Kind == analysis.Update && len(a.Operations) > 0 {
		row = slices.ContainsFunc(a.Operations, func(o analysis.Operation) bool { return o.Column.Kind != schema.Static })
	}
	for _, o := range a.Operations {
		static = static || o.Column.Kind == schema.Static
	}
	for _, c := range a.Conditions {
		static = static || c.Column.Kind == schema.Static
		row = row || c.Column.Kind != schema.Static
	}
	if a.JSON != nil {
		static = len(p.Table.Statics) > 0
	}
	return row, static
}

func (p *Write) insert(s *syntax.Insert, row, static bool) (err error) {
	t := p.Table
	s.Into = t.Physical()
	if s.JSON != nil {
		p.values(s)
	} else if p.route != nil {
		for i, c := range s.Columns {
			s.Values[i] = t.pin(c, s.Values[i])
		}
		t.insertShard(s)
		p.Whole, err = newStatement(s)
		return err
	}
	part := func(row, static bool) (*Statement, error) {
		n := *s
		n.Columns, n.Values = nil, nil
		for i, c := range t.PartitionKey {
			n.Columns = append(n.Columns, c.Name)
			n.Values = append(n.Values, marker(Key, i))
		}
		for i, c := range t.Clustering {
			if row {
				n.Columns = append(n.Columns, c.Name)
				n.Values = append(n.Values, marker(Cluster, i))
			}
		}
		for i, name := range s.Columns {
			switch c := t.Columns[name]; {
			case c.Kind == schema.PartitionKey || c.Kind == schema.Clustering:
			case c.Kind == schema.Static && static, c.Kind == schema.Regular && row:
				n.Columns = append(n.Columns, name)
				n.Values = append(n.Values, s.Values[i])
			}
		}
		t.insertShard(&n)
		return p.whole(&n)
	}
	return p.parts(part, row, static)
}

func (p *Write) update(s *syntax.Update, row, static bool) (err error) {
	t := p.Table
	s.Table = t.Physical()
	if p.route != nil {
		s.Where = t.pinned(s.Where)
		p.Whole, err = newStatement(s)
		return err
	}
	part := func(row, static bool) (*Statement, error) {
		n := *s
		n.Set = slices.DeleteFunc(slices.Clone(s.Set), func(a syntax.Assignment) bool { return !wanted(t.Columns[a.Column], row, static) })
		n.Where = t.rowOr(row)
		return p.whole(&n)
	}
	return p.parts(part, row, static)
}

func (p *Write) delete(s *syntax.Delete, row, static bool) (err error) {
	t, a := p.Table, p.Logical
	s.From = t.Physical()
	if p.route != nil {
		s.Where = t.pinned(s.Where)
		p.Whole, err = newStatement(s)
		return err
	}
	if a.Scope == analysis.ScopeDeleteSlices || a.Scope == analysis.ScopeDeletePartition {
		p.slices = func(sh shape) (*Statement, error) {
			d := *s
			d.Where = append(t.partition(), t.relations(sh)...)
			st, err := newStatement(&d)
			if err == nil {
				st.columns = sh.columns()
			}
			return st, err
		}
		return nil
	}
	part := func(row, static bool) (*Statement, error) {
		n := *s
		n.Items = slices.DeleteFunc(slices.Clone(s.Items), func(i syntax.DeleteItem) bool { return !wanted(t.Columns[i.Column], row, static) })
		n.Where = t.rowOr(row)
		return p.whole(&n)
	}
	return p.parts(part, row, static)
}

// wanted says whether a column belongs to a part of a write.
func wanted(c *schema.Column, row, static bool) bool {
	if c.Kind == schema.Static {
		return static
	}
	return row
}

// parts prints the parts of a write that are needed.
func (p *Write) parts(part func(row, static bool) (*Statement, error), row, static bool) (err error) {
	if row {
		if p.row, err = part(true, false); err != nil {
			return err
		}
	}
	if static {
		if p.static, err = part(false, true); err != nil {
			return err
		}
	}
	if row && static {
		p.both, err = part(true, true)
	}
	return err
}

// Marked returns a write for a shard of a logical partition that is never applied: a condition on
// a static column that no value fulfils. Its answer has the column if the shard has a row that
// Cassandra counts when it compares static columns alone: one with a marker. No SELECT shows
// markers.
func (p *Write) Marked(key [][]byte, shard int) (Mutation, error) {
	name := p.Logical.Conditions[0].Column.Name
	st, err := newStatement(&syntax.Delete{
		From: p.Table.Physical(), Where: p.Table.partition(),
		Items: []syntax.DeleteItem{{Column: name}},
		If:    []syntax.Condition{{Column: name, Op: syntax.OpIn, Values: []syntax.Expr{}}},
	})
	if err != nil {
		return Mutation{}, err
	}
	return p.mutation(st, nil, Target{Key: key, Shard: shard}), nil
}

// whole prints a statement and notes the types of its Set slots.
func (p *Write) whole(s syntax.Statement) (*Statement, error) {
	st, err := p.Table.whole(s)
	if err == nil {
		for _, c := range p.columns {
			st.sets = append(st.sets, c.Type)
		}
	}
	return st, err
}

// Target returns where a Whole statement goes. scratch is a buffer.
func (p *Write) Target(env *eval.Env, scratch [][]byte) (Target, error) {
	return p.route.target(&p.Table.placement, env, scratch, true)
}
