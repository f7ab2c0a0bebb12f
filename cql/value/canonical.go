// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"net/netip"
)

// Canonical appends the canonical form of v to dst. Values that Cassandra takes as the same key
// have the same canonical form, even if Cassandra changes them when they are bound (see Bind). The
// canonical form of a valid value is a valid value, except that a tuple loses its trailing nulls.
func (t *Type) Canonical(dst, v []byte) []byte { return t.canonical(dst, v, false) }

// CanonicalIsSame reports whether every value of t is its own canonical form, so that there is
// nothing to compute.
func (t *Type) CanonicalIsSame() bool {
	switch t.Kind {
	case Boolean, Double, Float, Varint, Decimal, List, Set, Map, Tuple, UDT, Vector:
		return false
	}
	return true
}

// canonical implements Canonical. within is set if v is inside a collection, because Cassandra
// rewrites bound inets and durations there.
func (t *Type) canonical(dst, v []byte, within bool) []byte {
	if len(v) == 0 {
		return dst
	}
	switch t.Kind {
	case Boolean:
		if len(v) == 1 {
			return append(dst, min(v[0], 1))
		}
	case Double:
		if len(v) == 8 && binary.BigEndian.Uint64(v)&^(1<<63) > 0x7ff0000000000000 {
			return binary.BigEndian.AppendUint64(dst, 0x7ff8000000000000)
		}
	case Float:
		if len(v) == 4 && binary.BigEndian.Uint32(v)&^(1<<31) > 0x7f800000 {
			return binary.BigEndian.AppendUint32(dst, 0x7fc00000)
		}
	case Varint:
		return append(dst, trimVarint(v)...)
	case Decimal:
		if len(v) >= 4 {
			return canonicalDecimal(dst, v)
		}
	case Inet:
		if within {
			return append(dst, unmap(v)...)
		}
	case Duration:
		if within {
			if s, ok := SpanOf(v); ok {
				return s.Append(dst)
			}
		}
	case Set, Map:
		if sorted, ok := t.sorted(v); ok {
			v = sorted
		}
		return t.canonicalParts(dst, v, true)
	case List:
		return t.canonicalParts(dst, v, true)
	case Tuple, UDT:
		return t.canonicalParts(dst, v, within)
	case Vector:
		if t.Elems[0].CanonicalIsSame() && !within {
			return append(dst, v...)
		}
		return t.canonicalParts(dst, v, within)
	}
	return append(dst, v...)
}

// unmap returns the four bytes of an IPv4 address within IPv6. It returns other addresses
// unchanged.
func unmap(v []byte) []byte {
	if len(v) == 16 && netip.AddrFrom16([16]byte(v)).Is4In6() {
		return v[12:]
	}
	return v
}

// sorted returns a set or map with its parts in order and without duplicates. ok is false if v is
// already in order, or is malformed.
func (t *Type) sorted(v []byte) (in []byte, ok bool) {
	step := len(t.Elems) // a map's keys are every other part
	p := t.Parts(v)
	var last []byte
	for i := 0; p.Next(); i++ {
		if i%step > 0 {
			continue
		}
		if i > 0 && t.Elems[0].Compare(last, p.part) >= 0 {
			ok = true
		}
		last = p.part
	}
	if !ok || p.fault != sound {
		return nil, false
	}
	var parts [][]byte
	for p := t.Parts(v); p.Next(); {
		parts = append(parts, p.part)
	}
	return t.Build(nil, t.Sort(parts)), true
}

// canonicalParts appends the parts in canonical form. It keeps the bytes that follow the sound
// parts of a malformed value.
func (t *Type) canonicalParts(dst, v []byte, within bool) []byte {
	start := len(dst)
	if t.Collection() {
		dst = AppendCount(dst, 0)
	}
	p := t.Parts(v)
	end, n := len(dst), 0 // end of the last part that is not null
	for ; p.Next(); n++ {
		e := t.Elems[n%len(t.Elems)]
		if p.part == nil || within && p.fixed == prefixed && len(p.part) == 0 && e.EmptyMeaningless() {
			dst = AppendPart(dst, nil)
			continue
		}
		if p.fixed >= 0 {
			dst = e.canonical(dst, p.part, within)
			end = len(dst)
			continue
		}
		// The length precedes the part: leave room, then fill it in.
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = e.canonical(dst, p.part, within)
		if p.fixed == prefixed {
			binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		} else {
			var buf [9]byte
			size := appendVint(buf[:0], uint64(len(dst)-at-4))
			dst = append(dst[:at], append(size, dst[at+4:]...)...)
		}
		end = len(dst)
	}
	if t.Collection() {
		if t.Kind == Map {
			n /= 2
		}
		binary.BigEndian.PutUint32(dst[start:], uint32(n))
	}
	if p.tuple {
		dst = dst[:end]
	}
	if p.fault != sound {
		dst = append(append(dst, byte(p.fault)), p.rest...)
	}
	return dst
}

// canonicalDecimal appends a decimal without trailing zeros. Zero gets scale 0.
func canonicalDecimal(dst, v []byte) []byte {
	scale, digits := int32(binary.BigEndian.Uint32(v)), trimVarint(v[4:])
	if len(digits) <= 8 {
		n := shortVarint(digits)
		if n == 0 {
			return append(dst, 0, 0, 0, 0, 0)
		}
		for n%10 == 0 && scale > math.MinInt32 {
			n /= 10
			scale--
		}
		return appendShortVarint(binary.BigEndian.AppendUint32(dst, uint32(scale)), n)
	}
	n := BigInt(digits)
	// The loop removes half of the possible zeros at a time, so that many zeros cost little.
	// A number with z zeros at its end can be divided by 2^z.
	most := min(uint(len(digits)*3), n.TrailingZeroBits())
	for step := int64(1) << bits.Len(most) / 2; step > 0; step /= 2 {
		p, rest := pow10(step), new(big.Int)
		for int64(scale)-step >= math.MinInt32 {
			q, _ := new(big.Int).QuoRem(n, p, rest)
			if rest.Sign() != 0 {
				break
			}
			n, scale = q, scale-int32(step)
		}
	}
	return AppendDecimal(dst, n, scale)
}
