// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// pending is one row while mutations of it are put into a batch and some of them depend on its
// present state. As in Cassandra, they see the result of the statement's earlier mutations, but
// not those of a batch's other statements.
type pending struct {
	w     *writing
	table *table
	stamp *stamp
	key   []byte
	row   [][]byte
	reads map[*schema.Column]bool // columns that a mutation of the statement reads
	known map[*schema.Column]*elements
}

// newPending returns nil if no mutation depends on the present state.
func (w *writing) newPending(b *boundWrite, s *stamp, key []byte, row [][]byte) *pending {
	reads := b.readColumns()
	if reads == nil {
		return nil
	}
	return &pending{w: w, table: b.plan.table, stamp: s, key: key, row: row,
		reads: reads, known: map[*schema.Column]*elements{}}
}

// readColumns returns the columns that mutations of the write read.
func (b *boundWrite) readColumns() (reads map[*schema.Column]bool) {
	for i := range b.Mutations {
		if m := &b.Mutations[i]; readsFirst(m) {
			if reads == nil {
				reads = map[*schema.Column]bool{}
			}
			reads[m.Column] = true
		}
	}
	return reads
}

// note makes later mutations see one that does not read.
func (p *pending) note(m *analysis.Mutation) error {
	if p == nil || !p.reads[m.Column] {
		return nil
	}
	e, err := p.elements(m.Column)
	if err != nil {
		return err
	}
	switch m.Kind {
	case analysis.PutCell:
		e = newElements(nil)
		if m.Value != nil {
			e = newElements([]storage.Cell{{Value: m.Value}})
		}
	case analysis.ClearCells:
		e = newElements(nil)
	case analysis.PutCells:
		if m.Clear {
			e = newElements(nil)
		}
		more := make([]storage.Cell, 0, m.Cells.Len())
		for c := range m.Cells.All() {
			more = append(more, storage.Cell{Path: c.Path, Value: c.Value})
		}
		e = e.put(more, m.Column.Type.Elems[0])
	}
	p.known[m.Column] = e
	return nil
}

// readFirst puts a mutation that depends on the present state into a batch: of a list's elements
// by index or value, or an addition to a number or a text. The partition is locked.
func (p *pending) readFirst(batch *storage.Batch, m *analysis.Mutation) error {
	id, s := p.table.ids.of[m.Column.Name], p.stamp
	e, err := p.elements(m.Column)
	if err != nil {
		return err
	}
	switch m.Kind {
	case analysis.AddToCell:
		if e.left() == 0 {
			return nil // null plus anything is null
		}
		sum, err := eval.Add(m.Column.Type, e.value(e.at(0)), m.Value)
		if err == nil {
			batch.Set(storage.Cell{Column: id, Value: sum, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
			p.known[m.Column] = newElements([]storage.Cell{{Value: sum}})
		}
		return err
	case analysis.DiscardValues:
		elem := m.Column.Type.Elems[0]
		gone := make([][]byte, 0, m.Cells.Len())
		for c := range m.Cells.All() {
			gone = append(gone, c.Value)
		}
		slices.SortFunc(gone, elem.Compare)
		e.discard(gone, elem, func(path []byte) bool {
			batch.Unset(id, path, s.deletion())
			return !p.w.tooLong(batch)
		})
		return nil
	}
	if err := m.ListIndexError(e.left()); err != nil {
		return err
	}
	at := e.at(int(m.Index))
	path := e.cell(at).Path
	if m.Kind == analysis.DeleteIndex || m.Value == nil {
		batch.Unset(id, path, s.deletion())
		e.remove(at)
		return nil
	}
	batch.Set(storage.Cell{Column: id, Path: path, Value: m.Value, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
	e.replace(at, m.Value, m.Column.Type.Elems[0])
	return nil
}

// elements returns the column's cells, which for a list are its elements.
func (p *pending) elements(c *schema.Column) (*elements, error) {
	if e, ok := p.known[c]; ok {
		return e, nil
	}
	before, err := p.w.before.get(p, c)
	if err != nil {
		return nil, err
	}
	e := before.elements()
	p.known[c] = e
	return e, nil
}

// read reads the column's cells.
func (p *pending) read(c *schema.Column) ([]storage.Cell, error) {
	q := storage.Query{Now: p.w.seconds, Columns: storage.NewColumnSet(p.table.ids.of[c.Name]), Room: p.w.roomForRow}
	var have storage.Row
	var found bool
	var err error
	token := partitioner.Murmur3(p.key)
	if c.Kind == schema.Static {
		found, err = p.table.store.GetStatic(token, p.key, &q, &have)
	} else {
		found, err = p.table.store.Get(token, p.key, p.row, &q, &have)
	}
	if err != nil || !found {
		have.Cells = nil
	}
	return have.Cells, storageError(err)
}
