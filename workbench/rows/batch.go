// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Column is a column of the data.
type Column struct {
	Name string
	Type *value.Type // the type that the file gives; nil: it gives none, as in CSV and JSON
}

// Kind says how a vector holds its values.
type Kind uint8

const (
	Text   Kind = iota // as written: Spans of Data
	Binary             // serialized as CQL does for Column.Type: Spans of Data
	Ints               // Ints: integers, booleans (0, 1), dates (days since 1970), timestamps (ms since 1970), times (ns)
	Floats             // Floats
)

// Span is the position of a value in a vector's bytes, with marks.
type Span struct {
	At  uint32
	len uint32 // with the marks in its upper bits
}

// These are marks of a span.
const (
	markNull   = 1 << 31 // no value
	markString = 1 << 30 // a string by its syntax, whatever its text is
	markNested = 1 << 29 // a JSON object or array
	markEmpty  = 1 << 28 // nothing between two commas
	markLen    = 1<<28 - 1
)

// Len returns the length in bytes.
func (s Span) Len() int { return int(s.len & markLen) }

// Null reports whether there is no value.
func (s Span) Null() bool { return s.len&markNull != 0 }

// Empty reports whether there is nothing between two commas of CSV: a null, or the empty text. Null
// also reports true for such a value.
func (s Span) Empty() bool { return s.len&markEmpty != 0 }

// String reports whether the value is a string by its syntax (JSON's quotes), even if its text is a
// number.
func (s Span) String() bool { return s.len&markString != 0 }

// Nested reports whether the value is a JSON object or array, written as such.
func (s Span) Nested() bool { return s.len&markNested != 0 }

// Vector holds the values of a column in a batch.
type Vector struct {
	Kind   Kind
	Data   []byte    // of Spans
	Spans  []Span    // of Text and Binary
	Ints   []int64   // of Ints
	Floats []float64 // of Floats
	Nulls  []bool    // of Ints and Floats; nil: no value is null
}

// Bytes returns value i of a vector with spans; nil: the value is null.
func (v *Vector) Bytes(i int) []byte {
	s := v.Spans[i]
	if s.len&markNull != 0 {
		return nil
	}
	return v.Data[s.At : s.At+s.len&markLen : s.At+s.len&markLen]
}

// Null reports whether value i is null.
func (v *Vector) Null(i int) bool {
	if v.Kind <= Binary {
		return v.Spans[i].Null()
	}
	return v.Nulls != nil && v.Nulls[i]
}

// Batch holds consecutive rows of the data, by columns. It is valid until the function that
// received it returns.
type Batch struct {
	Seq     int // 0, 1, 2, … in the order of the data
	N       int // rows
	Columns []Vector

	name    string
	line    int      // where the batch begins, 1-based; in a format without lines, the number of its first row
	lines   []uint32 // of rows, counted from line; nil: one row a line
	dropped []bool
	bads    int64
	bad     []BadRow // the first few
}

// namedBads is how many bad rows are kept to be shown.
const namedBads = 10

// Line returns where row i begins: its line, or its number in a format without lines.
func (b *Batch) Line(i int) int {
	if b.lines == nil {
		return b.line + i
	}
	return b.line + int(b.lines[i])
}

// Drop makes row i a bad row, which counts against ScanOptions.MaxBadRows. The row stays in the
// batch; Dropped reports it.
func (b *Batch) Drop(i int, reason string) {
	if b.dropped == nil {
		b.dropped = make([]bool, b.N)
	}
	if b.dropped[i] {
		return
	}
	b.dropped[i] = true
	b.wrong(b.Line(i), "%s", reason)
}

// wrong records a bad row.
func (b *Batch) wrong(line int, format string, args ...any) {
	if b.bads++; len(b.bad) < namedBads {
		b.bad = append(b.bad, BadRow{Name: b.name, Line: line, Reason: fmt.Sprintf(format, args...)})
	}
}

// begin empties the batch for a piece.
func (b *Batch) begin(name string, w *work, columns int) {
	b.Seq, b.N, b.name, b.line = w.seq, 0, name, w.line
	b.dropped, b.bads, b.bad = nil, 0, nil
	if cap(b.Columns) < columns {
		b.Columns = append(make([]Vector, 0, columns), b.Columns...)
	}
	b.Columns = b.Columns[:columns]
}

// reserve makes room for that many rows of text.
func (b *Batch) reserve(rows int) {
	for i := range b.Columns {
		c := &b.Columns[i]
		if cap(c.Spans) < rows {
			c.Spans = make([]Span, rows+rows/8)
		}
		c.Spans = c.Spans[:rows]
	}
	if cap(b.lines) < rows {
		b.lines = make([]uint32, rows+rows/8)
	}
	b.lines = b.lines[:rows]
}

// end sets the vectors' kind, data and lengths.
func (b *Batch) end(data []byte) {
	for i := range b.Columns {
		c := &b.Columns[i]
		c.Kind, c.Data, c.Spans = Text, data, c.Spans[:b.N]
	}
	b.lines = b.lines[:b.N]
}

// Dropped returns for each row whether Drop took it; nil: no row was dropped.
func (b *Batch) Dropped() []bool { return b.dropped }

// Append adds a value that is text; nil is null. It is for callers that make batches from other
// sources than files. They must append one value for each row to all columns of a batch, and set N.
func (v *Vector) Append(text []byte) {
	if text == nil {
		v.Spans = append(v.Spans, Span{len: markNull})
		return
	}
	v.Spans = append(v.Spans, Span{At: uint32(len(v.Data)), len: uint32(len(text))})
	v.Data = append(v.Data, text...)
}

// AppendText appends value i as text: the text in the file, or CQL's form of the value; nothing for
// null. t is the column's type if the file gives one.
func (v *Vector) AppendText(dst []byte, i int, t *value.Type) []byte {
	if v.Null(i) {
		return dst
	}
	switch v.Kind {
	case Text:
		return append(dst, v.Bytes(i)...)
	case Binary:
		if text, ok := t.Text(v.Bytes(i)); ok && t.Kind != value.Blob {
			return append(dst, text...)
		}
		return t.Format(dst, v.Bytes(i))
	case Floats:
		return strconv.AppendFloat(dst, v.Floats[i], 'g', -1, 64)
	}
	return appendInt(dst, v.Ints[i], t)
}
