// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// fetchPlan describes how the columns that a statement reads (analysis.Fetched) are taken from
// storage's rows.
type fetchPlan struct {
	cells   []fetchCell
	columns storage.ColumnSet // regular and static
	static  bool              // some of the columns are static
	byID    []int16           // index in cells by column id; -1 for others
	times   bool              // the times of some cell are wanted
	complex bool              // some cell has several cells in storage
}

type fetchCell struct {
	kind    schema.ColumnKind
	index   int // among the key's or the clustering columns
	typ     *value.Type
	complex bool
	times   bool
}

func newFetchPlan(t *table, fetched []analysis.Fetched) fetchPlan {
	f := fetchPlan{cells: make([]fetchCell, len(fetched)), byID: make([]int16, t.ids.next)}
	for i := range f.byID {
		f.byID[i] = -1
	}
	for i, w := range fetched {
		c := w.Column
		f.cells[i] = fetchCell{kind: c.Kind, index: c.Position, typ: c.Type, complex: c.Type.Multicell(), times: w.Times}
		if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
			continue
		}
		id := t.ids.of[c.Name]
		f.columns.Add(id)
		f.byID[id] = int16(i)
		f.static = f.static || c.Kind == schema.Static
		f.times = f.times || w.Times
		f.complex = f.complex || f.cells[i].complex
	}
	return f
}

// rowView is an eval.Row over storage's rows. The values that it returns are valid until the next
// row is loaded. Those of the partition stay valid longer.
type rowView struct {
	plan    *fetchPlan
	seconds int64
	cells   [][]byte
	times   [][]eval.CellTime
	arena   []byte // serialized collections of the row
	shared  []byte // serialized collections of the static row
	exists  bool   // a row is loaded, not only a static one
	err     error  // of a collection that cannot be decoded
}

var _ eval.Row = (*rowView)(nil)

// Cell implements eval.Row.
func (v *rowView) Cell(i int) []byte { return v.cells[i] }

// Times implements eval.Row.
func (v *rowView) Times(i int) []eval.CellTime { return v.times[i] }

func (v *rowView) begin(plan *fetchPlan, seconds int64) {
	v.plan, v.seconds, v.err = plan, seconds, nil
	n := len(plan.cells)
	if cap(v.cells) < n {
		v.cells = make([][]byte, n)
	}
	v.cells = v.cells[:n]
	clear(v.cells)
	if !plan.times {
		return
	}
	if cap(v.times) < n {
		v.times = make([][]eval.CellTime, n)
	}
	v.times = v.times[:n]
	clear(v.times)
}

// partition loads the values that all rows of a partition share.
func (v *rowView) partition(key [][]byte, static *storage.Row) {
	for i := range v.plan.cells {
		c := &v.plan.cells[i]
		switch c.kind {
		case schema.PartitionKey:
			v.cells[i] = key[c.index]
		case schema.Static:
			v.cells[i] = nil
			if v.plan.times {
				v.times[i] = v.times[i][:0]
			}
		}
	}
	v.shared = v.shared[:0]
	if static != nil {
		v.shared = v.load(static, v.shared)
	}
}

// row loads a row. nil stands for a partition without rows: then only the shared values are not
// null.
func (v *rowView) row(r *storage.Row) {
	for i := range v.plan.cells {
		c := &v.plan.cells[i]
		switch c.kind {
		case schema.Clustering:
			if v.cells[i] = nil; r != nil {
				v.cells[i] = r.Clustering[c.index]
			}
		case schema.Regular:
			v.cells[i] = nil
			if v.plan.times {
				v.times[i] = v.times[i][:0]
			}
		}
	}
	v.exists = r != nil
	if r != nil {
		v.arena = v.load(r, v.arena[:0])
	}
}

// load takes the cells of a row. It serializes collections into arena.
func (v *rowView) load(r *storage.Row, arena []byte) []byte {
	for n := 0; n < len(r.Cells); {
		cell := &r.Cells[n]
		i := int16(-1)
		if int(cell.Column) < len(v.plan.byID) {
			i = v.plan.byID[cell.Column]
		}
		if i < 0 {
			n++
			continue
		}
		c := &v.plan.cells[i]
		if !c.complex {
			v.cells[i] = notNil(cell.Value)
			if c.times {
				v.times[i] = append(v.times[i][:0], v.time(cell))
			}
			n++
			continue
		}
		end := n + 1
		for end < len(r.Cells) && r.Cells[end].Column == cell.Column {
			end++
		}
		start := len(arena)
		all := elementsOf(r, r.Cells[n:end])
		arena = appendComplex(arena, c.typ, &all)
		v.cells[i] = arena[start:len(arena):len(arena)]
		if c.times {
			again := elementsOf(r, r.Cells[n:end])
			v.times[i] = v.complexTimes(v.times[i][:0], c.typ, &again)
		}
		if err := all.packed.Err(); err != nil && v.err == nil {
			v.err = storageError(err)
		}
		n = end
	}
	return arena
}

// notNil returns a cell's value. A cell's value is never null, so nil becomes empty.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (v *rowView) time(c *storage.Cell) eval.CellTime {
	t := eval.CellTime{Timestamp: c.Timestamp, TTL: eval.NoTTL}
	if c.TTL > 0 {
		t.TTL = c.TTLLeft(v.seconds)
	}
	return t
}

// storedElements visits the elements of a stored collection or UDT: those of a packed cell, or cells.
type storedElements struct {
	cells  []storage.Cell
	packed storage.Elements
}

func elementsOf(r *storage.Row, cells []storage.Cell) storedElements {
	if cells[0].Packed() {
		return storedElements{packed: r.Elements(&cells[0])}
	}
	return storedElements{cells: cells}
}

// next returns the next element, or nil after the last one. It is valid until the next call.
func (e *storedElements) next() *storage.Cell {
	if len(e.cells) > 0 {
		c := &e.cells[0]
		e.cells = e.cells[1:]
		return c
	}
	if e.packed.Next() {
		return &e.packed.Cell
	}
	return nil
}

// complexTimes appends the times of the elements of a collection, or of the fields of a UDT.
func (v *rowView) complexTimes(dst []eval.CellTime, t *value.Type, all *storedElements) []eval.CellTime {
	if t.Kind != value.UDT {
		for c := all.next(); c != nil; c = all.next() {
			dst = append(dst, v.time(c))
		}
		return dst
	}
	from := len(dst)
	for range t.Elems {
		dst = append(dst, eval.CellTime{Timestamp: eval.NoTimestamp, TTL: eval.NoTTL})
	}
	for c := all.next(); c != nil; c = all.next() {
		if f := from + fieldIndex(c.Path); f < len(dst) {
			dst[f] = v.time(c)
		}
	}
	return dst
}

// fieldIndex returns the index of a UDT's field from the path of its cell.
func fieldIndex(path []byte) int { return int(binary.BigEndian.Uint16(path)) }

// appendComplex appends the serialized form of a collection or UDT.
func appendComplex(dst []byte, t *value.Type, all *storedElements) []byte {
	if t.Kind == value.UDT {
		c := all.next()
		for i := range t.Elems {
			if c != nil && fieldIndex(c.Path) == i {
				dst = value.AppendPart(dst, notNil(c.Value))
				c = all.next()
			} else {
				dst = value.AppendPart(dst, nil)
			}
		}
		return dst
	}
	start, n := len(dst), 0
	dst = value.AppendCount(dst, 0) // until the elements are counted
	for c := all.next(); c != nil; c = all.next() {
		n++
		if t.Kind != value.List {
			dst = value.AppendPart(dst, notNil(c.Path))
		}
		if t.Kind != value.Set {
			dst = value.AppendPart(dst, notNil(c.Value))
		}
	}
	value.AppendCount(dst[:start], n)
	return dst
}
