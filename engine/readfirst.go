package engine

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// readFirst puts a mutation that depends on what is there into a batch: of a
// list's elements by index or by value, or an addition to a number or a text.
// The partition is guarded.
func (w *writing) readFirst(batch *storage.Batch, t *table, m *analysis.Mutation, s *stamp, key []byte, row [][]byte) error {
	id := t.ids.of[m.Column.Name]
	elements, err := w.elements(t, m.Column, key, row)
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
		}
		return err
	case analysis.DiscardValues:
		elem := m.Column.Type.Elems[0]
		for i := range elements {
			if slices.ContainsFunc(m.Cells, func(c analysis.Cell) bool {
				return bytes.Equal(c.Value, elements[i].Value) || elem.Compare(c.Value, elements[i].Value) == 0
			}) {
				batch.Unset(id, elements[i].Path, s.deletion())
			}
		}
		return nil
	}
	if len(elements) == 0 {
		if m.Kind == analysis.SetIndex {
			return wire.Invalidf("Attempted to set an element on a list which is null")
		}
		return wire.Invalidf("Attempted to delete an element from a list which is null")
	}
	if m.Index < 0 || int(m.Index) >= len(elements) {
		return wire.Invalidf("List index %d out of bound, list has size %d", m.Index, len(elements))
	}
	path := elements[m.Index].Path
	if m.Kind == analysis.DeleteIndex || m.Value == nil {
		batch.Unset(id, path, s.deletion())
		return nil
	}
	batch.Set(storage.Cell{Column: id, Path: path, Value: m.Value, Timestamp: s.timestamp, TTL: s.ttl, Expires: s.expires})
	return nil
}

// elements reads the column's cells.
func (w *writing) elements(t *table, c *schema.Column, key []byte, row [][]byte) ([]storage.Cell, error) {
	q := storage.Query{Now: w.seconds, Columns: storage.NewColumnSet(t.ids.of[c.Name])}
	var have storage.Row
	var found bool
	var err error
	token := partitioner.Murmur3(key)
	if c.Kind == schema.Static {
		found, err = t.store.GetStatic(token, key, &q, &have)
	} else {
		found, err = t.store.Get(token, key, row, &q, &have)
	}
	if err != nil || !found {
		return nil, storageError(err)
	}
	return have.Cells, nil
}
