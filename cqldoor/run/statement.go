// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"crypto/md5"
	"errors"
	"fmt"
	"slices"
	"strings"
	"weak"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/observe"
)

// statement is a client's statement on a sharded table, with its plan. It is immutable, except
// for the backend's ids of its physical statement.
type statement struct {
	id       [16]byte
	keyspace string // the session's keyspace when it was planned
	text     string
	state    weak.Pointer[State] // the state that it was planned on; a weak pointer does not keep the state alive
	under    *underWay           // requests under way on that state
	premises *premises

	head  *analysis.Header
	sel   *plan.Select
	write *plan.Write
	batch *batchPlan

	once       plan.Calls // values computed once, after the client's values
	metadataID [16]byte   // id of the result's metadata, v5
	physical   *physical  // for a statement that goes to one shard
	direct     *plan.Direct
	series     *observe.Series // measures it
}

// batchPlan is a BATCH that was sent as text.
type batchPlan struct {
	logical *analysis.Batch
	writes  []*plan.Write
}

// merged returns a statement that the store answers by itself, of one shard or a scan, in the form that can
// continue from a cursor: of another statement on the table, or of a scan that began during a change of the
// layout. It returns nil if the request has no such cursor.
func (s *statement) merged(params *wire.Params) (*statement, error) {
	if !s.goesOn(params) {
		return nil, nil
	}
	tree, err := syntax.Parse(s.text)
	if err != nil {
		return nil, syntaxError(err)
	}
	m := *s
	m.physical, m.direct = nil, nil
	m.sel, err = plan.NewMerged(s.sel.Table, tree.(*syntax.Select), s.sel.Logical)
	return &m, err
}

// goesOn says whether a statement that the store answers by itself must continue from a cursor.
func (s *statement) goesOn(params *wire.Params) bool {
	return s.sel != nil && (s.sel.Access == plan.One || s.sel.Access == plan.Scan) && params.Has(wire.QueryPagingState) && plan.IsCursor(s.sel.Table.Identity(), params.PagingState)
}

// newStatement parses, analyses and plans a statement.
func newStatement(st *State, keyspace, text string) (*statement, error) {
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, syntaxError(err)
	}
	return planStatement(st, keyspace, text, tree)
}

func planStatement(st *State, keyspace, text string, tree syntax.Statement) (*statement, error) {
	s := &statement{keyspace: keyspace, text: text, state: weak.Make(st), under: st.under, id: newID(keyspace, text)}
	if b, ok := tree.(*syntax.Batch); ok {
		for _, child := range b.Statements {
			if n := tableOf(child, keyspace); st.Table(n.Keyspace, n.Name) == nil {
				return nil, &refusal{wire.Invalidf("write_sharding: one BATCH with statements on sharded tables and on %s.%s, which is not sharded, must be sent as a BATCH message or in two batches", n.Keyspace, n.Name),
					batchNeeds(st, b, keyspace)}
			}
		}
	}
	a, err := analysis.Analyze(tree, st.Schema, keyspace)
	if err != nil {
		return nil, namesShardColumn(st, err, text, keyspace)
	}
	s.head = a.Head()
	if st.changing(a) {
		if tree, s.once = plan.Once(tree, len(s.head.Binds)); s.once != nil {
			if a, err = analysis.Analyze(tree, st.Schema, keyspace); err != nil {
				return nil, err
			}
		}
	}
	if t := s.head.Table; t != nil && st.Table(t.Keyspace, t.Name) == nil {
		return nil, wire.Invalidf("table %s.%s does not exist", t.Keyspace, t.Name)
	}
	switch a := a.(type) {
	case *analysis.Select:
		t := st.Table(a.Table.Keyspace, a.Table.Name)
		if s.sel, err = plan.NewSelect(t, tree.(*syntax.Select), a); err != nil {
			return nil, &refusal{err, []need{{t, false}}}
		}
		s.metadataID = md5.Sum(encodeColumns(wire.V5, s.head.Table, a.Columns).Specs)
	case *analysis.Write:
		t := st.Table(a.Table.Keyspace, a.Table.Name)
		if s.write, err = plan.NewWrite(t, tree, a); err != nil {
			return nil, &refusal{err, needsOf(t, a)}
		}
	case *analysis.Batch:
		s.batch = &batchPlan{logical: a}
		for i, w := range a.Writes {
			t := st.Table(w.Table.Keyspace, w.Table.Name)
			p, err := plan.NewWrite(t, tree.(*syntax.Batch).Statements[i], w)
			if err != nil {
				return nil, &refusal{err, batchNeeds(st, tree.(*syntax.Batch), keyspace)}
			}
			s.batch.writes = append(s.batch.writes, p)
		}
	}
	return s, nil
}

// namesShardColumn says in an error about a statement that names the shard column of an adopted table what has
// become of the column: the application knew it.
func namesShardColumn(s *State, err error, text, keyspace string) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return err
	}
	for n := range syntax.Tables(text) {
		t := s.Table(cmp.Or(n.Keyspace, keyspace), n.Name)
		if t == nil || t.Adopted == 0 || !strings.HasPrefix(e.Message, "Undefined column name "+identifier(t.Layout.Column)+" in") {
			continue
		}
		told := *e
		told.Message += fmt.Sprintf(" (write_sharding: table %s.%s was sharded by hand by its column %s, and is adopted: evenkeel fills that in and hides it; leave it out)",
			t.Keyspace, t.Name, identifier(t.Layout.Column))
		return &told
	}
	return err
}

// syntaxError returns a parser's error in the form for clients. Cassandra reports some mistakes
// that it finds while parsing as other errors than syntax errors.
func syntaxError(err error) error {
	var e *syntax.SyntaxError
	if errors.As(err, &e) && e.Invalid {
		return wire.Errorf(wire.CodeInvalid, "%s", err)
	}
	return wire.Errorf(wire.CodeSyntax, "%s", err)
}

// whole returns the physical statement if the statement goes to one shard or is passed on
// unchanged, else nil.
func (s *statement) whole() *plan.Statement {
	switch {
	case s.sel != nil:
		return s.sel.Whole
	case s.write != nil:
		return s.write.Whole
	}
	return nil
}

func (s *statement) newDirect() *plan.Direct {
	switch n := len(s.head.Binds); {
	case s.sel != nil:
		return s.sel.Direct(n)
	case s.write != nil:
		return s.write.Direct(n)
	}
	return nil
}

// conditional says whether the answer may show the row as the store has it, with all columns.
func (s *statement) conditional() bool { return s.write != nil && s.write.Logical.Conditional() }

// wrong returns an error about the values of the statement, if there is one.
func (s *statement) wrong(err error) error {
	if err == nil {
		return nil
	}
	return &refusal{err, s.needs()}
}

// needs returns the permissions that the store wants for the statement.
func (s *statement) needs() []need {
	switch {
	case s.sel != nil:
		return []need{{s.sel.Table, false}}
	case s.write != nil:
		return writeNeeds(s.write)
	}
	var all []need
	for _, w := range s.batch.writes {
		all = append(all, writeNeeds(w)...)
	}
	return all
}

// placed returns the tables of the statement with the layouts of its plan.
func (s *statement) placed() []*plan.Table {
	if s.sel != nil {
		return []*plan.Table{s.sel.Table}
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
func (s *statement) writes() []*plan.Write {
	switch {
	case s.write != nil:
		return []*plan.Write{s.write}
	case s.batch != nil:
		return s.batch.writes
	}
	return nil
}

// writeNeeds returns the permissions that the store wants for a write.
func writeNeeds(w *plan.Write) []need { return needsOf(w.Table, w.Logical) }

func needsOf(t *plan.Table, w *analysis.Write) []need {
	if w.Conditional() {
		return []need{{t, false}, {t, true}}
	}
	return []need{{t, true}}
}

// batchNeeds returns the permissions to write the sharded tables of a batch.
func batchNeeds(s *State, b *syntax.Batch, keyspace string) (all []need) {
	for _, child := range b.Statements {
		n := tableOf(child, keyspace)
		if t := s.Table(n.Keyspace, n.Name); t != nil && !slices.Contains(all, need{t, true}) {
			all = append(all, need{t, true})
		}
	}
	return all
}

// encodeColumns encodes the columns of a result on a table as metadata.
func encodeColumns(v wire.Version, t *schema.Table, columns []analysis.ResultColumn) wire.Metadata {
	cols := make([]wire.Column, len(columns))
	for i, c := range columns {
		cols[i] = wire.Column{Keyspace: t.Keyspace, Table: t.Name, Name: c.Name, Type: c.Type}
	}
	return wire.EncodeColumns(v, cols)
}

// tables returns the logical tables of the statement.
func (s *statement) tables() []*schema.Table {
	if s.batch == nil {
		return []*schema.Table{s.head.Table}
	}
	var all []*schema.Table
	for _, w := range s.batch.logical.Writes {
		if !slices.Contains(all, w.Table) {
			all = append(all, w.Table)
		}
	}
	return all
}

// statements plans the texts of clients on the present State, and remembers the plans.
type statements struct {
	cache    *planCache
	state    *states
	premises *premises
	requests *observe.Requests // measures statements; may be nil
}

// statement returns the plan of a text, from the cache if it is there.
func (x *statements) statement(keyspace, text string) (*statement, error) {
	st := x.state.Load()
	id := newID(keyspace, text)
	if k := x.cache.known.get(id[:]); k != nil && k.statement != nil && k.statement.state.Value() == st && k.statement.text == text {
		return k.statement, nil
	}
	if s, ok := x.cache.texts.get(id); ok && s.state.Value() == st && s.text == text {
		return s, nil
	}
	s, err := x.newStatement(st, keyspace, text)
	if err != nil {
		return nil, err
	}
	x.cache.texts.put(id, s)
	return s, nil
}

// newStatement plans a text.
func (x *statements) newStatement(st *State, keyspace, text string) (*statement, error) {
	s, err := newStatement(st, keyspace, text)
	if err != nil {
		return nil, err
	}
	s.premises, s.series = x.premises, s.measured(x.requests)
	if s.whole() != nil {
		s.physical = x.cache.physical(s.whole().Text)
		s.direct = s.newDirect()
	}
	return s, nil
}

// checkAmount refuses a QUERY whose number of values differs from the number of markers.
func (s *statement) checkAmount(q *wire.Query) error {
	if q.Params.Values.Count != len(s.head.Binds) && !q.Params.Values.Named {
		return wire.Invalidf("Invalid amount of bind variables")
	}
	return nil
}
