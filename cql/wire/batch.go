// SPDX-License-Identifier: Apache-2.0

package wire

import "fmt"

// BatchType is the type of a BATCH.
type BatchType uint8

const (
	BatchLogged   BatchType = 0
	BatchUnlogged BatchType = 1
	BatchCounter  BatchType = 2
)

// Batch is the body of a BATCH. ParseBatch checks its statements.
type Batch struct {
	Type   BatchType
	Count  int    // number of statements
	Raw    []byte // the statements, still encoded; add one with AppendBatchStatement
	Params Params // AppendBatch leaves out values, page size and paging state
}

// BatchStatement is one statement of a BATCH: text, or the id of a prepared one.
type BatchStatement struct {
	Prepared bool
	Text     []byte // if not prepared
	ID       []byte // if prepared
	Values   Values
	Start    int // the statement is Raw[Start:End]
	End      int
}

// ParseBatch parses the body of a BATCH.
func ParseBatch(v Version, body []byte) (b Batch, err error) {
	c := NewCursor(body)
	b.Type = BatchType(c.Byte())
	if c.err == nil && b.Type > BatchCounter {
		c.Fail(Errorf(CodeProtocol, "Invalid BATCH message type %d", uint8(b.Type)))
	}
	b.Count = int(c.Short())
	start := c.off
	var s BatchStatement
	for i := 0; i < b.Count && c.err == nil; i++ {
		s.parse(&c)
	}
	b.Raw = c.b[start:c.off:c.off]
	b.Params.parse(&c, v)
	if err := c.Err(); err != nil {
		return Batch{}, fmt.Errorf("parse BATCH: %w", err)
	}
	return b, nil
}

func (s *BatchStatement) parse(c *Cursor) {
	*s = BatchStatement{Start: c.off}
	switch kind := c.Byte(); {
	case c.err != nil:
	case kind == 0:
		s.Text = c.LongStr()
	case kind == 1:
		s.Prepared, s.ID = true, c.ShortBytes()
	default:
		c.Fail(Errorf(CodeProtocol, "Invalid query kind in BATCH messages. Must be 0 or 1 but got %d", kind))
	}
	s.Values = parseValues(c, false)
	s.End = c.off
}

// Iter returns an iterator over the statements.
func (b *Batch) Iter() BatchIter { return BatchIter{c: NewCursor(b.Raw), left: b.Count} }

// BatchIter iterates over the statements of a batch:
//
//	for it := b.Iter(); it.Next(); { use(&it.BatchStatement) }
type BatchIter struct {
	BatchStatement
	c    Cursor
	left int
}

// Next moves to the next statement and reports whether there is one.
func (it *BatchIter) Next() bool {
	if it.left == 0 {
		return false
	}
	it.left--
	it.parse(&it.c)
	return it.c.err == nil
}

// AppendBatchStatement appends a statement in the encoding of Batch.Raw.
func AppendBatchStatement(dst []byte, s *BatchStatement) []byte {
	if s.Prepared {
		dst = AppendShortBytes(append(dst, 1), s.ID)
	} else {
		dst = AppendLongString(append(dst, 0), s.Text)
	}
	return s.Values.Append(dst)
}

// AppendBatch appends the body of a BATCH.
func AppendBatch(dst []byte, v Version, b *Batch) []byte {
	dst = AppendShort(append(dst, byte(b.Type)), uint16(b.Count))
	dst = append(dst, b.Raw...)
	return b.Params.append(dst, v, true)
}
