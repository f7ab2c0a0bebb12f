package value

import "encoding/binary"

// Canonical appends the canonical form of v to dst: values that Cassandra takes
// as the same key have the same canonical form. That of a valid value is a valid
// value, except that a tuple's trailing nulls are dropped.
func (t *Type) Canonical(dst, v []byte) []byte {
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
	case UUID, Timeuuid:
		return append(dst, v...)
	case List, Set, Map, Tuple, UDT, Vector:
		if t.rigid() {
			return append(dst, v...)
		}
		return t.canonicalParts(dst, v)
	}
	return append(dst, v...)
}

// CanonicalIsSame says whether the canonical form of every value of t is the
// value itself, so that there is nothing to compute.
func (t *Type) CanonicalIsSame() bool {
	switch t.Kind {
	case Boolean, Double, Float, Varint, Decimal, List, Set, Map, Tuple, UDT, Vector:
		return false
	}
	return true
}

// rigid is true for vectors of elements that are canonical as they are.
func (t *Type) rigid() bool { return t.Kind == Vector && t.Elems[0].CanonicalIsSame() }

// canonicalParts writes the canonical parts anew; what a malformed value has
// behind its sound parts is kept.
func (t *Type) canonicalParts(dst, v []byte) []byte {
	start := len(dst)
	if t.Collection() {
		dst = AppendCount(dst, 0)
	}
	p := t.Parts(v)
	end, n := len(dst), 0 // end of the last part that is not null
	for ; p.Next(); n++ {
		e := t.Elems[n%len(t.Elems)]
		if p.part == nil {
			dst = AppendPart(dst, nil)
			continue
		}
		if p.fixed >= 0 {
			dst = e.Canonical(dst, p.part)
			end = len(dst)
			continue
		}
		// The length comes before the part: leave room, then write it there.
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = e.Canonical(dst, p.part)
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
