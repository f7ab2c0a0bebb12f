// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// looks says which columns conditional writes read.
type looks struct {
	statics bool // all static columns, and
	rows    bool // all regular ones, and
	columns map[*schema.Column]bool
}

// look returns what the conditional writes read.
func (w *writing) look() *looks {
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
	return w.looks
}

// looksAt says whether the conditional writes read a column.
func (w *writing) looksAt(c *schema.Column) bool {
	l := w.look()
	switch {
	case c.Kind == schema.Static && l.statics, c.Kind == schema.Regular && l.rows:
		return true
	case c.Kind == schema.Static, c.Kind == schema.Regular:
		return l.columns[c]
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
func (w *writing) casRow() error {
	b := &w.writes[0]
	if b.Keys.Len() != 1 {
		return wire.Invalidf("IN on the partition key is not supported with conditional %ss", lower(b.Kind))
	}
	return w.guarded(func(batch *storage.Batch) error {
		p, err := w.present()
		if err != nil {
			return err
		}
		ok, err := p.holds(0)
		if err != nil {
			return err
		}
		if ok {
			if err := w.apply(batch); err != nil {
				return err
			}
			return w.c.answerCAS(b.Table, true, nil, nil)
		}
		cur := &p.of[0].current
		w.notApplied(b.Keys.At(0), cur)
		if err := w.guard.Settle(); err != nil {
			return storageError(err)
		}
		if !cur.there() {
			return w.c.answerCAS(b.Table, false, nil, nil)
		}
		return w.c.answerCAS(b.Table, false, b.Fetch, [][][]byte{cur.view.cells})
	})
}

func lower(k analysis.WriteKind) string {
	if k == analysis.Delete {
		return "deletion"
	}
	return "update"
}

// answerCAS answers with [applied] and, if that is false, with the present values. The answer of a
// batch repeats the static columns for each row.
func (c *call) answerCAS(t *schema.Table, applied bool, fetched []analysis.Fetched, rows [][][]byte) error {
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
			if err := c.cell(cell, 0); err != nil {
				return err
			}
		}
		c.writer.EndRow()
	}
	c.answer(wire.OpResult, c.writer.Finish())
	c.buffer = c.writer.Buffer()
	return nil
}

// casBatch executes a conditional batch on one partition, and answers.
func (w *writing) casBatch() error {
	return w.guarded(func(batch *storage.Batch) error {
		p, err := w.present()
		if err != nil {
			return err
		}
		all := true
		for i := range w.writes {
			if p.of[i] == nil {
				continue
			}
			ok, err := p.holds(i)
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
			return w.c.answerCAS(t, true, nil, nil)
		}
		if err := w.guard.Settle(); err != nil {
			return storageError(err)
		}
		fetched, rows, err := p.found()
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			fetched = nil
		}
		return w.c.answerCAS(t, false, fetched, rows)
	})
}

// staticCondition says whether the conditions concern the static row.
func (b *boundWrite) staticCondition() bool {
	_, onlyStatic := rowOf(b)
	return onlyStatic
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
