// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"math"
	"slices"
)

// Parts walks over the parts of a collection, tuple, user-defined type or vector without
// allocating. A map has the parts key, value, key, value …. A tuple has only the components that
// are present; trailing ones may be missing.
//
//	for p := t.Parts(v); p.Next(); {
//		use(p.Part())
//	}
type Parts struct {
	rest  []byte
	part  []byte
	left  int
	fixed int // length of every part; prefixed or vint if each part has its own
	tuple bool
	fault fault
}

const (
	prefixed = -1 // an int32 before each part
	vint     = -2 // a vint before each part
)

// fault is the way in which a value of several parts is malformed.
type fault uint8

const (
	sound     fault = iota
	shortSize       // too short for a count or for a part's length
	shortPart       // too short for a part
	longSize        // a part's length exceeds 32 bits
	surplus         // bytes after the last part
)

// Parts starts a walk over v.
func (t *Type) Parts(v []byte) Parts {
	p := Parts{rest: v, fixed: prefixed}
	switch t.Kind {
	case List, Set, Map:
		if len(v) < 4 {
			if len(v) > 0 {
				p.fault = shortSize
			}
			return p
		}
		n := int(int32(binary.BigEndian.Uint32(v)))
		if t.Kind == Map {
			n *= 2
		}
		p.rest, p.left = v[4:], max(n, 0)
	case Tuple, UDT:
		p.tuple, p.left = true, len(t.Elems)
	case Vector:
		if v == nil {
			return p
		}
		p.left, p.fixed = t.Dim, vint
		if n, ok := t.Elems[0].FixedLen(); ok {
			p.fixed = n
		}
	default:
		p.rest = nil
	}
	return p
}

// Next advances to the next part. It returns false at the end or if v is malformed.
func (p *Parts) Next() bool {
	if p.fault != sound {
		return false
	}
	if p.left == 0 || p.tuple && len(p.rest) == 0 {
		if len(p.rest) > 0 {
			p.fault = surplus
		}
		return false
	}
	n := p.fixed
	switch n {
	case prefixed:
		if len(p.rest) < 4 {
			p.fault = shortSize
			return false
		}
		n = int(int32(binary.BigEndian.Uint32(p.rest)))
		if n < 0 {
			p.rest, p.part = p.rest[4:], nil
			p.left--
			return true
		}
		if len(p.rest)-4 < n {
			p.fault = shortPart
			return false
		}
		p.rest = p.rest[4:]
	case vint:
		l, size := readVint(p.rest)
		if size == 0 {
			p.fault = shortSize
			return false
		}
		if l > math.MaxInt32 {
			p.fault = longSize
			return false
		}
		size = vintSize(l) // Cassandra skips the length of the shortest form, whatever form is there
		if uint64(len(p.rest)-size) < l {
			p.fault = shortPart
			return false
		}
		n, p.rest = int(l), p.rest[size:]
	default:
		if len(p.rest) < n {
			p.fault = shortPart
			return false
		}
	}
	p.part, p.rest = p.rest[:n:n], p.rest[n:]
	p.left--
	return true
}

// Part returns the current part, a slice of the value; nil is null.
func (p *Parts) Part() []byte { return p.part }

// Left returns the number of parts that are still to come, as announced by the value (for tuples
// and user-defined types, by the type).
func (p *Parts) Left() int { return p.left }

// Malformed reports whether the value is malformed. It is valid after Next has returned false.
// Type.Validate returns the error.
func (p *Parts) Malformed() bool { return p.fault != sound }

// Len returns the number of elements that a collection announces (for a map, of pairs); 0 for a
// malformed one.
func (t *Type) Len(v []byte) int {
	if !t.Collection() || len(v) < 4 {
		return 0
	}
	return max(int(int32(binary.BigEndian.Uint32(v))), 0)
}

// AppendCount appends the count at the start of a collection: the number of elements, or of a map's
// pairs.
func AppendCount(dst []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

// AppendPart appends a part of a collection, tuple or user-defined type, preceded by its length;
// nil is null.
func AppendPart(dst, part []byte) []byte {
	if part == nil {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(part))), part...)
}

// Build appends the value of type t with these parts: a collection's elements in the given order
// (key, value, … for a map), the components of a tuple or user-defined type, or a vector's
// elements.
func (t *Type) Build(dst []byte, parts [][]byte) []byte {
	switch t.Kind {
	case Map:
		dst = AppendCount(dst, len(parts)/2)
	case List, Set:
		dst = AppendCount(dst, len(parts))
	case Vector:
		_, fixed := t.Elems[0].FixedLen()
		for _, p := range parts {
			if !fixed {
				dst = appendVint(dst, uint64(len(p)))
			}
			dst = append(dst, p...)
		}
		return dst
	}
	for _, p := range parts {
		dst = AppendPart(dst, p)
	}
	return dst
}

// Sort sorts a set's elements or a map's pairs in the type's order and removes duplicates, as
// Cassandra stores them. The last of a map's equal keys stays. Sort returns the shortened parts. It
// returns the parts of other types unchanged.
func (t *Type) Sort(parts [][]byte) [][]byte {
	switch t.Kind {
	case Set:
		slices.SortStableFunc(parts, t.Elems[0].Compare)
		return slices.CompactFunc(parts, func(a, b []byte) bool { return t.Elems[0].Compare(a, b) == 0 })
	case Map:
		type pair struct{ key, val []byte }
		pairs := make([]pair, len(parts)/2)
		for i := range pairs {
			pairs[i] = pair{parts[2*i], parts[2*i+1]}
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return t.Elems[0].Compare(a.key, b.key) })
		parts = parts[:0]
		for i, p := range pairs {
			if i > 0 && t.Elems[0].Compare(parts[len(parts)-2], p.key) == 0 {
				parts[len(parts)-1] = p.val
				continue
			}
			parts = append(parts, p.key, p.val)
		}
	}
	return parts
}
