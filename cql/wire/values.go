// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Values are the values bound to a statement, still encoded. Each is its name (a [string]) if
// Named, then a [value].
//
// To build them, append each to Raw with AppendBytes, AppendNull or AppendUnset (if Named, first
// its name with AppendString), and set Count.
type Values struct {
	Count int
	Named bool
	Raw   []byte

	// Insert sets these: the inserted values come between Raw[:at] and Raw[at:].
	at       int
	inserted int
	insert   []byte
}

// Value is one bound value.
type Value struct {
	Name  []byte // if named
	Bytes []byte // nil if null or unset; otherwise never nil
	Unset bool
	Start int // the value and its name are Raw[Start:End]
	End   int
}

// parseValues reads the count, then checks and skips the values.
func parseValues(c *Cursor, named bool) Values {
	v := Values{Count: int(c.Short()), Named: named}
	start := c.off
	for i := 0; i < v.Count && c.err == nil; i++ {
		if named {
			c.Str()
		}
		c.Value()
	}
	if c.err != nil {
		return Values{}
	}
	v.Raw = c.b[start:c.off:c.off]
	return v
}

// Iter returns an iterator over the values.
func (v *Values) Iter() ValuesIter {
	return ValuesIter{c: NewCursor(v.Raw), left: v.Count, named: v.Named}
}

// ValuesIter iterates over values:
//
//	for it := vs.Iter(); it.Next(); { use(it.Value) }
type ValuesIter struct {
	Value
	c     Cursor
	left  int
	named bool
}

// Next moves to the next value and reports whether there is one.
func (it *ValuesIter) Next() bool {
	if it.left == 0 {
		return false
	}
	it.left--
	it.Start = it.c.off
	if it.named {
		it.Name = it.c.Str()
	}
	it.Bytes, it.Unset = it.c.Value()
	it.End = it.c.off
	return it.c.err == nil
}

// Slice appends the values to scratch, so that they can be accessed by index.
func (v *Values) Slice(scratch []Value) []Value {
	for it := v.Iter(); it.Next(); {
		scratch = append(scratch, it.Value)
	}
	return scratch
}

// At returns the value at index i; false if there is none. It parses all values before it.
func (v *Values) At(i int) (Value, bool) {
	if i < 0 || i >= v.Count {
		return Value{}, false
	}
	it := v.Iter()
	for ok := it.Next(); ok; ok = it.Next() {
		if i == 0 {
			return it.Value, true
		}
		i--
	}
	return Value{}, false
}

// offset returns the start of the value at index i in Raw. For i = Count it returns the end of Raw.
func (v *Values) offset(i int) int {
	if i >= v.Count {
		return len(v.Raw)
	}
	off := 0
	for ; i > 0; i-- {
		if v.Named {
			off += 2 + int(binary.BigEndian.Uint16(v.Raw[off:]))
		}
		off += 4 + int(max(0, int32(binary.BigEndian.Uint32(v.Raw[off:]))))
	}
	return off
}

// Insert returns v with n encoded values, raw, before index i (i = Count is after the last). Only
// Append and Len use them. A second Insert replaces the first. raw must stay unchanged as long as
// the result is used.
func (v Values) Insert(i, n int, raw []byte) Values {
	v.at = v.offset(i)
	v.insert, v.inserted = raw, n
	return v
}

// Append appends the count and the values.
func (v *Values) Append(dst []byte) []byte {
	dst = AppendShort(dst, uint16(v.Count+v.inserted))
	if v.insert == nil {
		return append(dst, v.Raw...)
	}
	dst = append(dst, v.Raw[:v.at]...)
	dst = append(dst, v.insert...)
	return append(dst, v.Raw[v.at:]...)
}

// Len returns the number of bytes that Append appends.
func (v *Values) Len() int { return 2 + len(v.Raw) + len(v.insert) }
