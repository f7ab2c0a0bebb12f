// SPDX-License-Identifier: Apache-2.0

package storage

// packing is what a row's packed cells are read with.
type packing struct {
	table *Table
	now   int64
	floor int64
	base  int64
	path  []byte // memory of a decoded path
}

// visible returns the column of a cell that is live: nothing has deleted it, and it has not expired.
// For other cells it returns nil.
func (p *packing) visible(c *cellData) *tableColumn {
	if c.timestamp <= p.floor {
		return nil
	}
	switch c.kind & cellKind {
	case cellLive:
	case cellExpiring:
		if c.time <= p.now {
			return nil
		}
	default:
		return nil
	}
	col := p.table.column(c.column)
	if col == nil || c.timestamp <= col.floor {
		return nil
	}
	return col
}

// decodePath appends the path of an element to arena and returns a view of it.
func (p *packing) decodePath(arena []byte, col *tableColumn, c *cellData) (newArena, path []byte, err error) {
	if c.original != nil {
		return arena, c.original, nil
	}
	t := col.path
	if newer := p.table.state.latest.Load().column(c.column); newer != nil {
		t = newer.path // see decodeClustering
	}
	arena, path, _, err = decodeOrdered(arena, t, c.path)
	return arena, path, err
}

// Elements visits the elements of one packed Cell, in their order:
//
//	for e := row.Elements(&row.Cells[0]); e.Next(); {
//		e.Cell
//	}
type Elements struct {
	Cell Cell // the current element; valid until Next and as long as the row

	row  *Row
	rest rowReader
	err  error
}

// Elements begins the visit of a packed cell. The row's visits must not overlap.
func (row *Row) Elements(packed *Cell) Elements {
	return Elements{row: row, rest: rowReader{src: packed.Value, base: row.packed.base}}
}

// Packed reports whether the cell stands for the elements of a collection or UDT.
func (c *Cell) Packed() bool { return c.packed }

// Next goes to the next live element.
func (e *Elements) Next() bool {
	if e.row == nil {
		return false
	}
	var c cellData
	p := &e.row.packed
	for e.err == nil && e.rest.next(&c) {
		col := p.visible(&c)
		if col == nil {
			continue
		}
		e.Cell = Cell{Column: c.column, Value: c.value, Timestamp: c.timestamp, TTL: c.ttl, Expires: c.time}
		p.path, e.Cell.Path, e.err = p.decodePath(p.path[:0], col, &c)
		return e.err == nil
	}
	if e.rest.bad {
		e.err = errBadRow
	}
	return false
}

// Err returns the error that ended the visit early, or nil.
func (e *Elements) Err() error { return e.err }
