// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Rows is the body of a RESULT Rows, as a view.
type Rows struct {
	Metadata Metadata
	Count    int    // number of rows
	Raw      []byte // the rows, still encoded
}

// ParseRows parses the body of a RESULT Rows (after its prefix) up to the rows. Iter parses and
// checks the rows.
func ParseRows(body []byte) (r Rows, err error) {
	c := NewCursor(body)
	c.expect(ResultRows)
	r.Metadata.parse(&c)
	r.Count = c.count()
	r.Raw = c.Rest()
	// A cell takes at least four bytes, and every row has columns.
	if c.err == nil && r.Count > 0 && (r.Metadata.Count == 0 || r.Count > len(r.Raw)/4/r.Metadata.Count) {
		c.Fail(errShort)
	}
	if err := c.Err(); err != nil {
		return Rows{}, fmt.Errorf("parse RESULT Rows: %w", err)
	}
	return r, nil
}

// Iter returns an iterator over the rows. It keeps the cells of a row in scratch, or in a new slice
// if scratch is too short.
func (r *Rows) Iter(scratch [][]byte) RowsIter {
	n := r.Metadata.Count
	if cap(scratch) < n && r.Count > 0 {
		scratch = make([][]byte, n)
	}
	if r.Count == 0 {
		n = 0
	}
	return RowsIter{raw: r.Raw, left: r.Count, Cells: scratch[:n]}
}

// RowsIter iterates over rows:
//
//	it := rows.Iter(scratch)
//	for it.Next() { use(it.Cells) }
//	if err := it.Err(); err != nil { … }
type RowsIter struct {
	Cells [][]byte // views of this row's cells; nil is null
	Start int      // this row is Raw[Start:End] of the rows
	End   int
	raw   []byte
	left  int
	err   *Error
}

// Next moves to the next row and reports whether there is one.
func (it *RowsIter) Next() bool {
	if it.left == 0 {
		return false
	}
	it.left--
	b, off := it.raw, it.End
	for i := range it.Cells {
		if len(b)-off < 4 {
			return it.short()
		}
		n := int(int32(binary.BigEndian.Uint32(b[off:])))
		off += 4
		if n < 0 {
			it.Cells[i] = nil
			continue
		}
		if n > len(b)-off {
			return it.short()
		}
		it.Cells[i] = b[off : off+n : off+n]
		off += n
	}
	it.Start, it.End = it.End, off
	return true
}

func (it *RowsIter) short() bool {
	it.left, it.err = 0, errShort
	return false
}

// Row returns the current row, still encoded.
func (it *RowsIter) Row() []byte { return it.raw[it.Start:it.End:it.End] }

// Left returns the number of rows after the current one.
func (it *RowsIter) Left() int { return it.left }

// Err returns the error that ended the iteration early, or nil.
func (it *RowsIter) Err() error {
	if it.err != nil {
		return fmt.Errorf("parse RESULT Rows: %w", it.err)
	}
	return nil
}

// Bounds finds the cells of the row that begins at Raw[off:]. bounds has one entry for each column;
// Bounds sets bounds[i] to the start of cell i, which begins with its length. next is the end of
// the row and the start of the following one. ok is false if the row is cut short.
func (r *Rows) Bounds(off int, bounds []int) (next int, ok bool) {
	for i := range bounds {
		if len(r.Raw)-off < 4 {
			return 0, false
		}
		bounds[i] = off
		n := int(int32(binary.BigEndian.Uint32(r.Raw[off:])))
		off += 4
		if n > len(r.Raw)-off {
			return 0, false
		}
		off += max(n, 0)
	}
	return off, true
}

// CellAt returns the cell that begins at raw[off:], at an offset that Bounds has found; nil is
// null.
func CellAt(raw []byte, off int) []byte {
	n := int(int32(binary.BigEndian.Uint32(raw[off:])))
	if n < 0 {
		return nil
	}
	off += 4
	return raw[off : off+n : off+n]
}

// headRoom is the number of bytes that RowsWriter keeps free for a paging state.
const headRoom = 256

// RowsWriter writes the body of a RESULT Rows row by row. Callers may change Metadata (paging
// state, new id) until Finish, because the writer writes the head last, into free room before the
// rows.
type RowsWriter struct {
	Metadata Metadata
	buf      []byte
	head     int // the rows start here
	rows     int
}

// Begin starts a body in buf. It overwrites the contents of buf.
func (w *RowsWriter) Begin(buf []byte, m Metadata) {
	w.Metadata = m
	w.head = w.headLen() + headRoom
	if cap(buf) < w.head {
		buf = make([]byte, w.head, 2*w.head)
	}
	w.buf = buf[:w.head]
	w.rows = 0
}

// Cell appends a cell to the current row; nil is null.
func (w *RowsWriter) Cell(b []byte) { w.buf = AppendBytes(w.buf, b) }

// EndRow completes a row. The row must have as many cells as there are columns.
func (w *RowsWriter) EndRow() { w.rows++ }

// Row appends a whole encoded row.
func (w *RowsWriter) Row(raw []byte) {
	w.buf = append(w.buf, raw...)
	w.rows++
}

// Rows appends n whole encoded rows.
func (w *RowsWriter) Rows(n int, raw []byte) {
	w.buf = append(w.buf, raw...)
	w.rows += n
}

// Grow makes room for n bytes of rows.
func (w *RowsWriter) Grow(n int) { w.buf = slices.Grow(w.buf, n) }

// Count returns the number of complete rows.
func (w *RowsWriter) Count() int { return w.rows }

// Size returns the length of the rows in bytes.
func (w *RowsWriter) Size() int { return len(w.buf) - w.head }

// SetPagingState sets the paging state; nil means that this is the last page.
func (w *RowsWriter) SetPagingState(state []byte) {
	w.Metadata.PagingState = state
	w.Metadata.Flags &^= MetadataMore
	if state != nil {
		w.Metadata.Flags |= MetadataMore
	}
}

// Finish writes the head and returns the body, which is part of the buffer. To reuse the buffer,
// pass Buffer's result to the next Begin.
func (w *RowsWriter) Finish() []byte {
	n := w.headLen()
	if n > w.head {
		more := n - w.head
		w.buf = append(w.buf, make([]byte, more)...)
		copy(w.buf[n:], w.buf[w.head:len(w.buf)-more])
		w.head = n
	}
	start := w.head - n
	b := AppendInt(w.buf[start:start], int32(ResultRows))
	b = w.Metadata.append(b)
	AppendInt(b, int32(w.rows))
	return w.buf[start:]
}

// Buffer returns the whole buffer. Use it for the next Begin when the body is no longer needed.
func (w *RowsWriter) Buffer() []byte { return w.buf[:0] }

// headLen returns the length of the head: kind, metadata, row count.
func (w *RowsWriter) headLen() int {
	m := &w.Metadata
	n := 4 + 4 + 4 + 4
	if m.Flags&MetadataMore != 0 {
		n += 4 + len(m.PagingState)
	}
	if m.Flags&MetadataNewID != 0 {
		n += 2 + len(m.NewID)
	}
	if m.Flags&MetadataNone == 0 {
		n += len(m.Specs)
	}
	return n
}
