package engine

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// pending is one row while mutations of it are put into a batch of which some depend
// on what is there: as in Cassandra, on what those before them in the statement made
// of it.
type pending struct {
	w     *writing
	table *table
	stamp *stamp
	key   []byte
	row   [][]byte
	reads map[*schema.Column]bool           // by a mutation of the statement
	known map[*schema.Column][]storage.Cell // in the order of their paths
}

// newPending is nil where no mutation depends on what is there.
func (w *writing) newPending(b *boundWrite, s *stamp, key []byte, row [][]byte) *pending {
	var p *pending
	for i := range b.Mutations {
		if m := &b.Mutations[i]; readsFirst(m) {
			if p == nil {
				p = &pending{w: w, table: b.plan.table, stamp: s, key: key, row: row,
					reads: map[*schema.Column]bool{}, known: map[*schema.Column][]storage.Cell{}}
			}
			p.reads[m.Column] = true
		}
	}
	return p
}

// note has the mutations that follow see one that does not read.
func (p *pending) note(m *analysis.Mutation) error {
	if p == nil || !p.reads[m.Column] {
		return nil
	}
	cells, err := p.cells(m.Column)
	if err != nil {
		return err
	}
	switch m.Kind {
	case analysis.PutCell:
		cells = nil
		if m.Value != nil {
			cells = []storage.Cell{{Value: m.Value}}
		}
	case analysis.ClearCells:
		cells = nil
	case analysis.PutCells:
		if m.Clear {
			cells = nil
		}
		for _, c := range m.Cells {
			cells = append(cells, storage.Cell{Path: c.Path, Value: c.Value})
		}
		slices.SortStableFunc(cells, func(a, b storage.Cell) int { return value.Native(value.Timeuuid).Compare(a.Path, b.Path) })
	}
	p.known[m.Column] = cells
	return nil
}

// readFirst puts a mutation that depends on what is there into a batch: of a
// list's elements by index or by value, or an addition to a number or a text.
// The partition is guarded.
func (p *pending) readFirst(batch *storage.Batch, m *analysis.Mutation) error {
	id, s := p.table.ids.of[m.Column.Name], p.stamp
	elements, err := p.cells(m.Column)
	if err != nil {
		return err
	}
	switch m.Kind {
	case analysis.AddToCell:
		if len(elements) == 0 {
			return nil // null and anything is null
		}
		sum, err := eval.Add(m.Column.Type, elements[0].Value, m.Value)
		if err == nil {
			batch.Set(storage.Cell{Column: id, Value: sum, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
			p.known[m.Column] = []storage.Cell{{Value: sum}}
		}
		return err
	case analysis.DiscardValues:
		elem := m.Column.Type.Elems[0]
		p.known[m.Column] = slices.DeleteFunc(elements, func(e storage.Cell) bool {
			gone := slices.ContainsFunc(m.Cells, func(c analysis.Cell) bool {
				return bytes.Equal(c.Value, e.Value) || elem.Compare(c.Value, e.Value) == 0
			})
			if gone {
				batch.Unset(id, e.Path, s.deletion())
			}
			return gone
		})
		return nil
	}
	if err := m.ListIndexError(len(elements)); err != nil {
		return err
	}
	path := elements[m.Index].Path
	if m.Kind == analysis.DeleteIndex || m.Value == nil {
		batch.Unset(id, path, s.deletion())
		p.known[m.Column] = slices.Delete(elements, int(m.Index), int(m.Index)+1)
		return nil
	}
	batch.Set(storage.Cell{Column: id, Path: path, Value: m.Value, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
	elements[m.Index].Value = m.Value
	return nil
}

// cells are the column's cells, its elements for a list.
func (p *pending) cells(c *schema.Column) ([]storage.Cell, error) {
	if cells, ok := p.known[c]; ok {
		return cells, nil
	}
	q := storage.Query{Now: p.w.seconds, Columns: storage.NewColumnSet(p.table.ids.of[c.Name])}
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
	p.known[c] = have.Cells
	return have.Cells, storageError(err)
}
