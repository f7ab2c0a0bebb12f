// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// Compare compares two valid values in Cassandra's ascending order for a clustering column of type
// t. It returns a negative number, zero or a positive number. Null sorts first, then the empty
// value. Malformed values have a defined place in the order too.
//
// For a type that cannot be a clustering column it compares the bytes.
func (t *Type) Compare(a, b []byte) int {
	switch t.Kind {
	case Custom, Ascii, Blob, Text, Inet, Date, Time, Duration:
		if len(a) == 0 || len(b) == 0 {
			return compareEmpty(a, b)
		}
		return bytes.Compare(a, b)
	}
	if len(a) == 0 || len(b) == 0 {
		return compareEmpty(a, b)
	}
	switch t.Kind {
	case Bigint, Counter, Timestamp:
		if len(a) == 8 && len(b) == 8 {
			return cmp.Compare(int64(binary.BigEndian.Uint64(a)), int64(binary.BigEndian.Uint64(b)))
		}
		return compareMalformed(a, b, len(a) == 8, len(b) == 8)
	case Int:
		if len(a) == 4 && len(b) == 4 {
			return cmp.Compare(int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b)))
		}
		return compareMalformed(a, b, len(a) == 4, len(b) == 4)
	case Smallint:
		if len(a) == 2 && len(b) == 2 {
			return cmp.Compare(int16(binary.BigEndian.Uint16(a)), int16(binary.BigEndian.Uint16(b)))
		}
		return compareMalformed(a, b, len(a) == 2, len(b) == 2)
	case Tinyint:
		if len(a) == 1 && len(b) == 1 {
			return cmp.Compare(int8(a[0]), int8(b[0]))
		}
		return compareMalformed(a, b, len(a) == 1, len(b) == 1)
	case Boolean:
		if len(a) == 1 && len(b) == 1 {
			return cmp.Compare(min(a[0], 1), min(b[0], 1))
		}
		return compareMalformed(a, b, len(a) == 1, len(b) == 1)
	case Double:
		if len(a) == 8 && len(b) == 8 {
			return cmp.Compare(orderedFloat64(binary.BigEndian.Uint64(a)), orderedFloat64(binary.BigEndian.Uint64(b)))
		}
		return compareMalformed(a, b, len(a) == 8, len(b) == 8)
	case Float:
		if len(a) == 4 && len(b) == 4 {
			return cmp.Compare(orderedFloat32(binary.BigEndian.Uint32(a)), orderedFloat32(binary.BigEndian.Uint32(b)))
		}
		return compareMalformed(a, b, len(a) == 4, len(b) == 4)
	case UUID:
		if len(a) == 16 && len(b) == 16 {
			return compareUUID(a, b)
		}
		return compareMalformed(a, b, len(a) == 16, len(b) == 16)
	case Timeuuid:
		if len(a) == 16 && len(b) == 16 {
			return compareTimeuuid(a, b)
		}
		return compareMalformed(a, b, len(a) == 16, len(b) == 16)
	case Varint:
		return compareVarint(a, b)
	case Decimal:
		if len(a) >= 4 && len(b) >= 4 {
			return compareDecimal(a, b)
		}
		return compareMalformed(a, b, len(a) >= 4, len(b) >= 4)
	case List, Set, Map, Vector:
		return t.compareParts(a, b)
	case Tuple, UDT:
		return t.compareTuples(a, b)
	}
	return bytes.Compare(a, b)
}

// compareEmpty compares two values if at least one is null or empty. Null is first, then empty,
// then other values.
func compareEmpty(a, b []byte) int {
	rank := func(v []byte) int {
		switch {
		case v == nil:
			return 0
		case len(v) == 0:
			return 1
		}
		return 2
	}
	return cmp.Compare(rank(a), rank(b))
}

// compareMalformed compares two values if at least one is malformed. Malformed values are first, in
// byte order.
func compareMalformed(a, b []byte, aok, bok bool) int {
	switch {
	case aok:
		return 1
	case bok:
		return -1
	}
	return bytes.Compare(a, b)
}

// orderedFloat64 maps the bits of a double to integers in the order of Java's Double.compare: -0.0
// is less than 0.0, and all NaNs are equal and greater than any number.
func orderedFloat64(b uint64) int64 {
	if b&^(1<<63) > 0x7ff0000000000000 {
		return math.MaxInt64
	}
	n := int64(b)
	return n ^ n>>63&math.MaxInt64
}

func orderedFloat32(b uint32) int32 {
	if b&^(1<<31) > 0x7f800000 {
		return math.MaxInt32
	}
	n := int32(b)
	return n ^ n>>31&math.MaxInt32
}

// reorder reorders the timestamp of a version-1 uuid: high, middle, low.
func reorder(msb uint64) uint64 {
	return msb<<48 | msb<<16&0xffff00000000 | msb>>32
}

func compareUUID(a, b []byte) int {
	if c := cmp.Compare(a[6]>>4, b[6]>>4); c != 0 {
		return c
	}
	if a[6]>>4 == 1 {
		if c := cmp.Compare(reorder(binary.BigEndian.Uint64(a)), reorder(binary.BigEndian.Uint64(b))); c != 0 {
			return c
		}
	}
	return bytes.Compare(a, b)
}

func compareTimeuuid(a, b []byte) int {
	if c := cmp.Compare(int64(reorder(binary.BigEndian.Uint64(a))), int64(reorder(binary.BigEndian.Uint64(b)))); c != 0 {
		return c
	}
	// Cassandra compares the other half byte by byte, as signed bytes.
	const flip = 0x8080808080808080
	return cmp.Compare(binary.BigEndian.Uint64(a[8:])^flip, binary.BigEndian.Uint64(b[8:])^flip)
}

// compareParts compares collections and vectors element by element, then by the number of elements.
func (t *Type) compareParts(a, b []byte) int {
	p, q := t.Parts(a), t.Parts(b)
	for i := 0; ; i++ {
		more, also := p.Next(), q.Next()
		if !more || !also {
			switch {
			case more:
				return 1
			case also:
				return -1
			}
			if c := compareEnds(&p, &q); c != 0 || t.Kind == Vector {
				return c
			}
			return cmp.Compare(count(a), count(b))
		}
		if c := t.Elems[i%len(t.Elems)].Compare(p.part, q.part); c != 0 {
			return c
		}
	}
}

// compareTuples compares component by component. Null is first; a missing component is null.
func (t *Type) compareTuples(a, b []byte) int {
	p, q := t.Parts(a), t.Parts(b)
	for _, e := range t.Elems {
		if !p.Next() {
			p.part = nil
		}
		if !q.Next() {
			q.part = nil
		}
		if c := e.Compare(p.part, q.part); c != 0 {
			return c
		}
	}
	p.Next()
	q.Next()
	return compareEnds(&p, &q)
}

// compareEnds compares values whose parts are equal: sound values first, then malformed ones by
// their fault and their remaining bytes.
func compareEnds(p, q *Parts) int {
	if c := cmp.Compare(p.fault, q.fault); c != 0 || p.fault == sound {
		return c
	}
	return bytes.Compare(p.rest, q.rest)
}

// count returns the count at the start of a collection if it is negative, else 0. compareParts uses
// it to distinguish collections that have no elements because of a negative count.
func count(v []byte) int32 {
	if len(v) < 4 {
		return 0
	}
	return min(int32(binary.BigEndian.Uint32(v)), 0)
}
