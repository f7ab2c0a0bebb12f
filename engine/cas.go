// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// current is the present state of the row that a conditional write concerns.
type current struct {
	view    rowView
	row     storage.Row
	static  storage.Row
	live    bool // the row exists
	statics bool // the static row exists and matters
}

// load reads the row. If onlyStatic is set, the first row of the partition represents it, which
// shows whether the partition exists.
//
// Static columns matter if a static column is written or has a condition. The same holds for
// regular ones.
func (cur *current) load(w *writing, t *table, plan *fetchPlan, fetched []analysis.Fetched, key [][]byte, clustering [][]byte, onlyStatic bool) error {
	raw := partitioner.AppendComposite(nil, key...)
	token := partitioner.Murmur3(raw)
	limited := w.c.engine.limits != nil
	q := storage.Query{Now: w.seconds, Columns: plan.columns, All: limited}
	var err error
	if w.looksAtStatics() {
		q.All = true // any static column makes the static row exist
		if cur.statics, err = t.store.GetStatic(token, raw, &q, &cur.static); err != nil {
			return storageError(err)
		}
		q.All = limited
	}
	row := &cur.row
	if onlyStatic {
		it := t.store.Read(token, raw, &q)
		defer it.Close()
		if cur.live = it.NextPartition() && it.Next(); cur.live {
			row = it.Row()
		}
		err = it.Err()
	} else {
		cur.live, err = t.store.Get(token, raw, clustering, &q, row)
	}
	if err != nil {
		return storageError(err)
	}
	cur.view.begin(plan, w.seconds)
	var static *storage.Row
	if cur.statics {
		static = &cur.static
	}
	if !cur.live {
		row = nil
	}
	cur.view.partition(key, static)
	cur.view.row(row)
	for i, f := range fetched {
		if !w.looksAt(f.Column) {
			cur.view.cells[i] = nil
		}
	}
	if onlyStatic { // the row is the iterator's
		for i := range cur.view.cells {
			cur.view.cells[i] = cloneCell(cur.view.cells[i])
		}
	}
	return nil
}

func cloneCell(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

// looks says which columns conditional writes read.
type looks struct {
	statics bool // all static columns, and
	rows    bool // all regular ones, and
	columns map[*schema.Column]bool
}

// looksAt says whether the conditional writes read a column.
func (w *writing) looksAt(c *schema.Column) bool {
	if w.looks == nil {
		w.looks = &looks{columns: map[*schema.Column]bool{}}
		for i := range w.writes {
			b := &w.writes[i]
			for j := range b.Write.Conditions {
				w.looks.columns[b.Write.Conditions[j].Column] = true
			}
			w.looks.statics = w.looks.statics || b.writesStatic()
			w.looks.rows = w.looks.rows || b.Scope != analysis.ScopeStatic
		}
	}
	switch {
	case c.Kind == schema.Static && w.looks.statics, c.Kind == schema.Regular && w.looks.rows:
		return true
	case c.Kind == schema.Static, c.Kind == schema.Regular:
		return w.looks.columns[c]
	}
	return true
}

func (w *writing) looksAtStatics() bool {
	return slices.ContainsFunc(w.writes[0].Table.Statics, w.looksAt)
}

func (b *boundWrite) writesStatic() bool {
	return b.Scope == analysis.ScopeStatic ||
		slices.ContainsFunc(b.Mutations, func(m analysis.Mutation) bool { return m.Column.Kind == schema.Static })
}

// there says whether there is anything to report.
func (cur *current) there() bool { return cur.live || cur.statics }

// holds loads the row of a write and returns whether the write applies.
func (w *writing) holds(b *boundWrite, cur *current) (bool, error) {
	clustering, onlyStatic := rowOf(b)
	if err := cur.load(w, b.plan.table, &b.plan.fetch, b.Fetch, b.Keys.At(0), clustering, onlyStatic); err != nil {
		return false, err
	}
	return w.applies(b, cur)
}

// applies evaluates a write's conditions on its row.
func (w *writing) applies(b *boundWrite, cur *current) (bool, error) {
	exists := cur.live
	if b.Scope == analysis.ScopeStatic {
		exists = cur.statics
	}
	switch {
	case b.IfNotExists:
		return !exists, nil
	case b.IfExists:
		return exists, nil
	}
	for i := range b.Conditions {
		ok, err := b.Conditions[i].Applies(&cur.view)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// guarded runs f while the partitions of the writes are locked. It takes the time of the writes
// then, so that it is later than the time of all earlier writes.
func (w *writing) guarded(f func(b *storage.Batch) error) error {
	w.guard = w.c.engine.db.Guard(w.partitions()...)
	defer w.guard.Unlock()
	w.now = w.c.engine.clock.timestamp()
	b := w.c.engine.db.NewBatch()
	defer b.Release()
	return f(b)
}

// apply commits the writes, whose conditions hold.
func (w *writing) apply(b *storage.Batch) error {
	w.fill(b)
	if w.err != nil {
		return w.err
	}
	if b.Empty() {
		return storageError(w.guard.Settle())
	}
	return storageError(b.CommitGuarded(w.guard))
}

// rowOf returns the clustering of the row that a conditional write concerns. onlyStatic says that
// its conditions concern the static row instead.
func rowOf(b *boundWrite) (clustering [][]byte, onlyStatic bool) {
	if b.Rows.Len() == 0 {
		return nil, true
	}
	conditions := b.Write.Conditions
	static := len(conditions) > 0 && !slices.ContainsFunc(conditions, func(c analysis.Condition) bool { return c.Column.Kind != schema.Static })
	return b.Rows.At(0), static
}

// casRow executes one conditional write and answers.
func (c *call) casRow(w *writing) error {
	b := &w.writes[0]
	if b.Keys.Len() != 1 {
		return wire.Invalidf("IN on the partition key is not supported with conditional %ss", lower(b.Kind))
	}
	return w.guarded(func(batch *storage.Batch) error {
		var cur current
		ok, err := w.holds(b, &cur)
		if err != nil {
			return err
		}
		if ok {
			if err := w.apply(batch); err != nil {
				return err
			}
			c.answerApplied(b.Table)
			return nil
		}
		w.notApplied(b.Keys.At(0), &cur)
		if err := w.guard.Settle(); err != nil {
			return storageError(err)
		}
		if !cur.there() {
			c.answerCAS(b.Table, false, nil, nil)
			return nil
		}
		c.answerCAS(b.Table, false, b.Fetch, [][][]byte{cur.view.cells})
		return nil
	})
}

func lower(k analysis.WriteKind) string {
	if k == analysis.Delete {
		return "deletion"
	}
	return "update"
}

func (c *call) answerApplied(t *schema.Table) { c.answerCAS(t, true, nil, nil) }

// answerCAS answers with [applied] and, if that is false, with the present values.
func (c *call) answerCAS(t *schema.Table, applied bool, fetched []analysis.Fetched, rows [][][]byte) {
	cols := []wire.Column{{Keyspace: t.Keyspace, Table: t.Name, Name: "[applied]", Type: value.Native(value.Boolean)}}
	for _, f := range fetched {
		cols = append(cols, wire.Column{Keyspace: t.Keyspace, Table: t.Name, Name: f.Column.Name, Type: f.Column.Type})
	}
	flag := []byte{0}
	if applied {
		flag[0] = 1
	}
	c.writer.Begin(c.buffer, wire.EncodeColumns(c.version, cols))
	if len(rows) == 0 {
		rows = [][][]byte{nil}
	}
	for _, row := range rows {
		c.writer.Cell(flag)
		for _, cell := range row {
			c.writer.Cell(cell)
		}
		c.writer.EndRow()
	}
	c.answer(wire.OpResult, c.writer.Finish())
	c.buffer = c.writer.Buffer()
}

// casBatch executes a conditional batch on one partition, and answers.
func (c *call) casBatch(w *writing) error {
	return w.guarded(func(batch *storage.Batch) error {
		all := true
		for i := range w.writes {
			b := &w.writes[i]
			if !b.Conditional() {
				continue
			}
			var cur current
			ok, err := w.holds(b, &cur)
			if err != nil {
				return err
			}
			all = all && ok
		}
		t := w.writes[0].Table
		if all {
			if err := w.apply(batch); err != nil {
				return err
			}
			c.answerApplied(t)
			return nil
		}
		if err := w.guard.Settle(); err != nil {
			return storageError(err)
		}
		fetched, rows, err := w.found()
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			fetched = nil
		}
		c.answerCAS(t, false, fetched, rows)
		return nil
	})
}

// staticCondition says whether the conditions concern the static row.
func (b *boundWrite) staticCondition() bool {
	_, onlyStatic := rowOf(b)
	return onlyStatic
}

// found reads what a batch that was not applied reports: of every existing row with a condition,
// the primary key and the columns of the conditions, in clustering order.
func (w *writing) found() ([]analysis.Fetched, [][][]byte, error) {
	t := w.writes[0].plan.table
	fetched := w.reported(t)
	plan := newFetchPlan(t, fetched)
	var conditional, ofRows []*boundWrite
	for i := range w.writes {
		b := &w.writes[i]
		if !b.Conditional() {
			continue
		}
		conditional = append(conditional, b)
		if !b.staticCondition() {
			ofRows = append(ofRows, b)
		}
	}
	if len(ofRows) > 0 {
		conditional = ofRows
	}
	slices.SortStableFunc(conditional, func(a, b *boundWrite) int {
		ra, _ := rowOf(a)
		rb, _ := rowOf(b)
		return analysis.CompareClustering(t.Table, ra, rb)
	})
	var rows [][][]byte
	var last [][]byte
	for i, b := range conditional {
		clustering, onlyStatic := rowOf(b)
		if i > 0 && slices.EqualFunc(last, clustering, slices.Equal) {
			continue
		}
		last = clustering
		var cur current
		if err := cur.load(w, t, &plan, fetched, b.Keys.At(0), clustering, onlyStatic); err != nil {
			return nil, nil, err
		}
		if cur.there() {
			rows = append(rows, cur.view.cells)
		}
	}
	return fetched, rows, nil
}

// reported returns the columns that a conditional batch reports.
func (w *writing) reported(t *table) []analysis.Fetched {
	all := false
	wanted := map[*schema.Column]bool{}
	for _, b := range w.writes {
		all = all || b.IfExists || b.IfNotExists
		for _, cond := range b.Write.Conditions {
			wanted[cond.Column] = true
		}
	}
	var fetched []analysis.Fetched
	for _, col := range t.All() {
		if all || wanted[col] || col.Kind == schema.PartitionKey || col.Kind == schema.Clustering {
			fetched = append(fetched, analysis.Fetched{Column: col})
		}
	}
	return fetched
}
