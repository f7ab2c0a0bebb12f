// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"slices"
	"weak"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/observe"
)

// Statement is a client's statement on a sharded table, with its plan. It is immutable, except
// for the backend's ids of its physical statement.
type Statement struct {
	ID       [16]byte
	Keyspace string // the session's keyspace when it was planned
	Text     string
	state    weak.Pointer[tables.State] // the state that it was planned on; a weak pointer does not keep the state alive
	Under    *tables.UnderWay           // requests under way on that state
	Premises *Premises

	Head  *analysis.Header
	Sel   *plan.Select
	Write *plan.Write
	Batch *BatchPlan

	once       plan.Calls // values computed once, after the client's values
	MetadataID [16]byte   // id of the result's metadata, v5
	Physical   *Physical  // for a statement that goes to one shard
	Direct     *plan.Direct
	InPlace    *InPlace        // a second plan during a change of layout; nil: there is none
	Series     *observe.Series // measures it
}

// InPlace is a second plan of a statement, for executions whose rows have one place during a change of layout.
type InPlace struct {
	*plan.OnePlace
	Physical *Physical
}

// BatchPlan is a BATCH that was sent as text.
type BatchPlan struct {
	Logical *analysis.Batch
	Writes  []*plan.Write
}

// Merged returns a statement that the store answers by itself, of one shard or a scan, in the form that can
// continue from a cursor: of another statement on the table, or of a scan that began during a change of the
// layout. It returns nil if the request has no such cursor.
func (s *Statement) Merged(params *wire.Params) (*Statement, error) {
	if !s.GoesOn(params) {
		return nil, nil
	}
	tree, err := syntax.Parse(s.Text)
	if err != nil {
		return nil, SyntaxError(err)
	}
	m := *s
	m.Physical, m.Direct = nil, nil
	m.Sel, err = plan.NewMerged(s.Sel.Table, tree.(*syntax.Select), s.Sel.Logical)
	return &m, err
}

// GoesOn says whether a statement that the store answers by itself must continue from a cursor.
func (s *Statement) GoesOn(params *wire.Params) bool {
	return s.Sel != nil && (s.Sel.Access == plan.One || s.Sel.Access == plan.Scan) && params.Has(wire.QueryPagingState) && plan.IsCursor(s.Sel.Table.Identity(), params.PagingState)
}

// newStatement parses, analyses and plans a statement.
func newStatement(st *tables.State, keyspace, text string) (*Statement, error) {
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, SyntaxError(err)
	}
	return planStatement(st, keyspace, text, tree)
}

func planStatement(st *tables.State, keyspace, text string, tree syntax.Statement) (*Statement, error) {
	s := &Statement{Keyspace: keyspace, Text: text, state: weak.Make(st), Under: st.Under, ID: NewID(keyspace, text)}
	if b, ok := tree.(*syntax.Batch); ok {
		for _, child := range b.Statements {
			if n := tableOf(child, keyspace); st.Table(n.Keyspace, n.Name) == nil {
				return nil, &Refusal{wire.Invalidf("write_sharding: one BATCH with statements on sharded tables and on %s.%s, which is not sharded, must be sent as a BATCH message or in two batches", n.Keyspace, n.Name),
					batchNeeds(st, b, keyspace)}
			}
		}
	}
	a, err := analysis.Analyze(tree, st.Schema, keyspace)
	if err != nil {
		return nil, namesShardColumn(st, err, text, keyspace)
	}
	s.Head = a.Head()
	if st.Changing(a) {
		if tree, s.once = plan.Once(tree, len(s.Head.Binds)); s.once != nil {
			if a, err = analysis.Analyze(tree, st.Schema, keyspace); err != nil {
				return nil, err
			}
		}
	}
	if t := s.Head.Table; t != nil && st.Table(t.Keyspace, t.Name) == nil {
		return nil, wire.Invalidf("table %s.%s does not exist", t.Keyspace, t.Name)
	}
	switch a := a.(type) {
	case *analysis.Select:
		t := st.Table(a.Table.Keyspace, a.Table.Name)
		if s.Sel, err = plan.NewSelect(t, tree.(*syntax.Select), a); err != nil {
			return nil, &Refusal{err, []Need{{t, false}}}
		}
		s.MetadataID = a.ResultID()
	case *analysis.Write:
		t := st.Table(a.Table.Keyspace, a.Table.Name)
		if s.Write, err = plan.NewWrite(t, tree, a); err != nil {
			return nil, &Refusal{err, needsOf(t, a)}
		}
	case *analysis.Batch:
		s.Batch = &BatchPlan{Logical: a}
		for i, w := range a.Writes {
			t := st.Table(w.Table.Keyspace, w.Table.Name)
			p, err := plan.NewWrite(t, tree.(*syntax.Batch).Statements[i], w)
			if err != nil {
				return nil, &Refusal{err, batchNeeds(st, tree.(*syntax.Batch), keyspace)}
			}
			s.Batch.Writes = append(s.Batch.Writes, p)
		}
	}
	return s, nil
}

// SyntaxError returns a parser's error in the form for clients. Cassandra reports some mistakes
// that it finds while parsing as other errors than syntax errors.
func SyntaxError(err error) error {
	var e *syntax.SyntaxError
	if errors.As(err, &e) && e.Invalid {
		return wire.Errorf(wire.CodeInvalid, "%s", err)
	}
	return wire.Errorf(wire.CodeSyntax, "%s", err)
}

// Whole returns the physical statement if the statement goes to one shard or is passed on
// unchanged, else nil.
func (s *Statement) Whole() *plan.Statement {
	switch {
	case s.Sel != nil:
		return s.Sel.Whole
	case s.Write != nil:
		return s.Write.Whole
	}
	return nil
}

func (s *Statement) newDirect() *plan.Direct {
	switch n := len(s.Head.Binds); {
	case s.Sel != nil:
		return s.Sel.Direct(n)
	case s.Write != nil:
		return s.Write.Direct(n)
	}
	return nil
}

// onePlace returns the second plan of the statement. It returns nil if there is none, or if the door computes values of
// the statement.
func (s *Statement) onePlace() *plan.OnePlace {
	switch {
	case s.once != nil:
		return nil
	case s.Sel != nil:
		return s.Sel.OnePlace
	case s.Write != nil:
		return s.Write.OnePlace
	}
	return nil
}

// Conditional says whether the answer may show the row as the store has it, with all columns.
func (s *Statement) Conditional() bool { return s.Write != nil && s.Write.Logical.Conditional() }

// Wrong returns an error about the values of the statement, if there is one.
func (s *Statement) Wrong(err error) error {
	if err == nil {
		return nil
	}
	return &Refusal{err, s.Needs()}
}

// Needs returns the permissions that the store wants for the statement.
func (s *Statement) Needs() []Need {
	switch {
	case s.Sel != nil:
		return []Need{{s.Sel.Table, false}}
	case s.Write != nil:
		return WriteNeeds(s.Write)
	}
	var all []Need
	for _, w := range s.Batch.Writes {
		all = append(all, WriteNeeds(w)...)
	}
	return all
}

// Placed returns the tables of the statement with the layouts of its plan.
func (s *Statement) Placed() []*plan.Table {
	if s.Sel != nil {
		return []*plan.Table{s.Sel.Table}
	}
	var all []*plan.Table
	for _, w := range s.writes() {
		if !slices.Contains(all, w.Table) {
			all = append(all, w.Table)
		}
	}
	return all
}

// writes returns the writes of the statement.
func (s *Statement) writes() []*plan.Write {
	switch {
	case s.Write != nil:
		return []*plan.Write{s.Write}
	case s.Batch != nil:
		return s.Batch.Writes
	}
	return nil
}

// WriteNeeds returns the permissions that the store wants for a write.
func WriteNeeds(w *plan.Write) []Need { return needsOf(w.Table, w.Logical) }

func needsOf(t *plan.Table, w *analysis.Write) []Need {
	if w.Conditional() {
		return []Need{{t, false}, {t, true}}
	}
	return []Need{{t, true}}
}

// batchNeeds returns the permissions to write the sharded tables of a batch.
func batchNeeds(s *tables.State, b *syntax.Batch, keyspace string) (all []Need) {
	for _, child := range b.Statements {
		n := tableOf(child, keyspace)
		if t := s.Table(n.Keyspace, n.Name); t != nil && !slices.Contains(all, Need{t, true}) {
			all = append(all, Need{t, true})
		}
	}
	return all
}

// EncodeColumns encodes the columns of a result on a table as metadata.
func EncodeColumns(v wire.Version, t *schema.Table, columns []analysis.ResultColumn) wire.Metadata {
	cols := make([]wire.Column, len(columns))
	for i, c := range columns {
		cols[i] = wire.Column{Keyspace: t.Keyspace, Table: t.Name, Name: c.Name, Type: c.Type}
	}
	return wire.EncodeColumns(v, cols)
}

// Tables returns the logical tables of the statement.
func (s *Statement) Tables() []*schema.Table {
	if s.Batch == nil {
		return []*schema.Table{s.Head.Table}
	}
	var all []*schema.Table
	for _, w := range s.Batch.Logical.Writes {
		if !slices.Contains(all, w.Table) {
			all = append(all, w.Table)
		}
	}
	return all
}

// Statements plans the texts of clients on the present State, and remembers the plans.
type Statements struct {
	Cache    *PlanCache
	State    *tables.States
	Premises *Premises
	Requests *observe.Requests // measures statements; may be nil
}

// Statement returns the plan of a text, from the cache if it is there.
func (x *Statements) Statement(keyspace, text string) (*Statement, error) {
	st := x.State.Load()
	id := NewID(keyspace, text)
	if k := x.Cache.Known.Get(id[:]); k != nil && k.Statement != nil && k.Statement.state.Value() == st && k.Statement.Text == text {
		return k.Statement, nil
	}
	if s, ok := x.Cache.Texts.get(id); ok && s.state.Value() == st && s.Text == text {
		return s, nil
	}
	s, err := x.newStatement(st, keyspace, text)
	if err != nil {
		return nil, err
	}
	x.Cache.Texts.put(id, s)
	return s, nil
}

// newStatement plans a text.
func (x *Statements) newStatement(st *tables.State, keyspace, text string) (*Statement, error) {
	s, err := newStatement(st, keyspace, text)
	if err != nil {
		return nil, err
	}
	s.Premises, s.Series = x.Premises, s.measured(x.Requests)
	if s.Whole() != nil {
		s.Physical = x.Cache.Physical(s.Whole().Text)
		s.Direct = s.newDirect()
	}
	if p := s.onePlace(); p != nil {
		s.InPlace = &InPlace{p, x.Cache.Physical(p.Whole.Text)}
	}
	return s, nil
}

// CheckAmount refuses a QUERY whose number of values differs from the number of markers.
func (s *Statement) CheckAmount(q *wire.Query) error {
	if q.Params.Values.Count != len(s.Head.Binds) && !q.Params.Values.Named {
		return wire.Invalidf("Invalid amount of bind variables")
	}
	return nil
}

// tableOf returns the table that a statement reads or writes.
func tableOf(tree syntax.Statement, keyspace string) (n syntax.Name) {
	switch t := tree.(type) {
	case *syntax.Insert:
		n = t.Into
	case *syntax.Update:
		n = t.Table
	case *syntax.Delete:
		n = t.From
	case *syntax.Select:
		n = t.From
	}
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	return n
}

// Identifier returns a name as CQL writes it, in quotes if it needs them.
func Identifier(name string) string { return string(syntax.AppendIdent(nil, name)) }
