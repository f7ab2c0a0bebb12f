// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Clustering values and collection paths are stored in a form whose plain byte order is Cassandra's
// order (value.Type.Compare). So Pebble's default comparer, bloom filters and ranges need not know
// types, and equal values (decimal 1.0 and 1.00) have one key. The value is decoded from the form.
// If a type has several serialized forms for one value, the form decodes to the canonical one. If
// the written bytes differ from it, the store keeps them beside the row (rowData.originals) or the
// path.
//
// A component is a marker and, for a value, its body:
//
//	null 01 · empty 02 · value 03 body
//
// Bodies are self-delimiting, so components can be concatenated. The body of a user-defined type is
// its fields, as components, up to the last one that is not null, and then 00. So ALTER TYPE may
// add a field, and data written before keep their form and their place in the order. In a DESC
// component all bits are inverted. No component begins with FF, DESC or not: prefix+FF comes just
// after all keys with the prefix.
const (
	markNull  = 0x01 // inside tuples and UDTs only
	markEmpty = 0x02
	markValue = 0x03

	after = 0xff
)

// appendOrdered appends v's component.
func appendOrdered(dst []byte, t *value.Type, v []byte) ([]byte, error) {
	if v == nil {
		return append(dst, markNull), nil
	}
	if len(v) == 0 {
		return append(dst, markEmpty), nil
	}
	return appendBody(append(dst, markValue), t, v)
}

// appendClustering appends the component of a clustering column.
func appendClustering(dst []byte, c *ClusteringColumn, v []byte) ([]byte, error) {
	if v == nil {
		return dst, fmt.Errorf("null clustering value: %w", ErrMalformed)
	}
	n := len(dst)
	dst, err := appendOrdered(dst, c.Type, v)
	if c.Desc {
		invert(dst[n:])
	}
	return dst, err
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// injective reports whether the type has one serialized form for each value, so that decoding
// always returns the bytes that were encoded.
func injective(t *value.Type) bool {
	switch t.Kind {
	case value.Decimal, value.Varint, value.Boolean, value.Float, value.Double:
		return false
	case value.Tuple, value.UDT:
		return false // trailing nulls may be left out
	}
	for _, e := range t.Elems {
		if !injective(e) {
			return false
		}
	}
	return true
}

func appendBody(dst []byte, t *value.Type, v []byte) ([]byte, error) {
	if n := fixedLen(t.Kind); n > 0 && len(v) != n {
		return dst, fmt.Errorf("%d bytes for a value of %d: %w", len(v), n, ErrMalformed)
	}
	switch t.Kind {
	case value.Int, value.Bigint, value.Smallint, value.Tinyint, value.Timestamp, value.Counter:
		dst = append(dst, v[0]^0x80)
		return append(dst, v[1:]...), nil
	case value.Date, value.Time:
		return append(dst, v...), nil
	case value.Boolean:
		if v[0] != 0 {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case value.Double:
		bits := binary.BigEndian.Uint64(v)
		if math.IsNaN(math.Float64frombits(bits)) {
			bits = 0x7ff8000000000000
		}
		if bits>>63 != 0 {
			bits = ^bits
		} else {
			bits |= 1 << 63
		}
		return binary.BigEndian.AppendUint64(dst, bits), nil
	case value.Float:
		bits := binary.BigEndian.Uint32(v)
		if f := math.Float32frombits(bits); f != f {
			bits = 0x7fc00000
		}
		if bits>>31 != 0 {
			bits = ^bits
		} else {
			bits |= 1 << 31
		}
		return binary.BigEndian.AppendUint32(dst, bits), nil
	case value.UUID:
		// Ordered by version, then by time (version 1) or bytes.
		msb := binary.BigEndian.Uint64(v)
		version := byte(msb>>12) & 0x0f
		dst = append(dst, version)
		if version == 1 {
			msb = timeFirst(msb)
		}
		dst = binary.BigEndian.AppendUint64(dst, msb)
		return append(dst, v[8:]...), nil
	case value.Timeuuid:
		// Ordered by time, then by bytes as signed ones.
		dst = binary.BigEndian.AppendUint64(dst, timeFirst(binary.BigEndian.Uint64(v))^1<<63)
		for _, b := range v[8:] {
			dst = append(dst, b^0x80)
		}
		return dst, nil
	case value.Varint:
		return appendVarint(dst, v), nil
	case value.Decimal:
		if len(v) < 5 {
			return dst, fmt.Errorf("decimal of %d bytes: %w", len(v), ErrMalformed)
		}
		return appendDecimal(dst, v), nil
	case value.List, value.Set, value.Map:
		for p := t.Parts(v); ; {
			if !p.Next() {
				return append(dst, 0), malformed(&p)
			}
			e := t.Elems[0]
			var err error
			if dst, err = appendOrdered(dst, e, p.Part()); err != nil {
				return dst, err
			}
			if t.Kind != value.Map {
				continue
			}
			if !p.Next() {
				return dst, fmt.Errorf("map key without a value: %w", ErrMalformed)
			}
			if dst, err = appendOrdered(dst, t.Elems[1], p.Part()); err != nil {
				return dst, err
			}
		}
	case value.UDT:
		end := len(dst) // of the last field that is not null
		for p, i := t.Parts(v), 0; ; i++ {
			if !p.Next() {
				return append(dst[:end], 0), malformed(&p)
			}
			var err error
			if dst, err = appendOrdered(dst, t.Elems[i], p.Part()); err != nil {
				return dst, err
			}
			if p.Part() != nil {
				end = len(dst)
			}
		}
	case value.Tuple, value.Vector:
		p := t.Parts(v)
		n := len(t.Elems)
		if t.Kind == value.Vector {
			n = t.Dim
		}
		for i := range n {
			e := t.Elems[0]
			if t.Kind != value.Vector {
				e = t.Elems[i]
			}
			var part []byte
			if p.Next() {
				part = p.Part()
			} else if err := malformed(&p); err != nil {
				return dst, err
			}
			var err error
			if dst, err = appendOrdered(dst, e, part); err != nil {
				return dst, err
			}
		}
		return dst, nil
	default: // ascii, text, blob, inet, and what has no order but its bytes
		return appendEscaped(dst, v), nil
	}
}

func malformed(p *value.Parts) error {
	if !p.Malformed() {
		return nil
	}
	return fmt.Errorf("parts of a frozen value: %w", ErrMalformed)
}

// fixedLen returns the length of the kind's values, or 0 if it varies.
func fixedLen(k value.Kind) int {
	switch k {
	case value.Boolean, value.Tinyint:
		return 1
	case value.Smallint:
		return 2
	case value.Int, value.Date, value.Float:
		return 4
	case value.Bigint, value.Counter, value.Timestamp, value.Time, value.Double:
		return 8
	case value.UUID, value.Timeuuid:
		return 16
	}
	return 0
}

// timeFirst puts the parts of a version 1 UUID's time in order: high, middle, low.
func timeFirst(msb uint64) uint64 {
	return msb<<48 | msb<<16&0xffff_0000_0000 | msb>>32
}

func timeLast(x uint64) uint64 {
	return x<<32 | x>>16&0xffff_0000 | x>>48
}

// appendEscaped appends bytes in a form in which a prefix sorts before all that begin with it: 00
// becomes 00 ff, and the end is 00 01.
func appendEscaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, 0)
		if i < 0 {
			dst = append(dst, v...)
			return append(dst, 0, 1)
		}
		dst = append(dst, v[:i]...)
		dst = append(dst, 0, 0xff)
		v = v[i+1:]
	}
}

// decodeEscaped returns the bytes and the rest of src after them. The bytes are a view of src if
// nothing was escaped; otherwise they are appended to arena.
func decodeEscaped(arena, src []byte) (newArena, v, rest []byte, err error) {
	i := bytes.IndexByte(src, 0)
	if i < 0 || i+1 >= len(src) {
		return arena, nil, nil, errTruncated
	}
	if src[i+1] == 1 {
		return arena, src[:i:i], src[i+2:], nil
	}
	n := len(arena)
	for {
		arena = append(arena, src[:i]...)
		switch src[i+1] {
		case 1:
			return arena, arena[n:len(arena):len(arena)], src[i+2:], nil
		case 0xff:
			arena = append(arena, 0)
			src = src[i+2:]
		default:
			return arena, nil, nil, errTruncated
		}
		if i = bytes.IndexByte(src, 0); i < 0 || i+1 >= len(src) {
			return arena, nil, nil, errTruncated
		}
	}
}

var errTruncated = fmt.Errorf("%w: key does not fit the table's types", ErrCorrupt)

// appendVarint appends a length that grows with the magnitude, then the shortest two's complement.
// Between numbers of the same sign and length, that is in order.
func appendVarint(dst, v []byte) []byte {
	for len(v) > 1 && (v[0] == 0 && v[1] < 0x80 || v[0] == 0xff && v[1] >= 0x80) {
		v = v[1:]
	}
	n := len(v)
	switch negative := v[0] >= 0x80; {
	case n < 64 && !negative:
		dst = append(dst, byte(0x80+n-1))
	case n < 64:
		dst = append(dst, byte(0x7f-(n-1)))
	case !negative:
		dst = binary.BigEndian.AppendUint64(append(dst, 0xbf), uint64(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 0x40), ^uint64(n))
	}
	return append(dst, v...)
}

func decodeVarint(src []byte) (v, rest []byte, err error) {
	if len(src) == 0 {
		return nil, nil, errTruncated
	}
	h, src := src[0], src[1:]
	var n int
	switch {
	case h == 0xbf || h == 0x40:
		if len(src) < 8 {
			return nil, nil, errTruncated
		}
		u := binary.BigEndian.Uint64(src)
		if h == 0x40 {
			u = ^u
		}
		if u > uint64(len(src)-8) {
			return nil, nil, errTruncated
		}
		n, src = int(u), src[8:]
	case h >= 0x80:
		n = int(h-0x80) + 1
	default:
		n = int(0x7f-h) + 1
	}
	if n > len(src) {
		return nil, nil, errTruncated
	}
	return src[:n:n], src[n:], nil
}

// A decimal is 0.d × 10^e, and d has no zeros at either end. Its form is the sign, e, and d with
// two digits in a byte. In negative numbers e and d are inverted.
const (
	decimalNegative = 0x10
	decimalZero     = 0x20
	decimalPositive = 0x30
)

func appendDecimal(dst, v []byte) []byte {
	unscaled, scale := value.BigDecimal(v)
	if unscaled.Sign() == 0 {
		return append(dst, decimalZero)
	}
	var stack [64]byte
	digits := stack[:0]
	if unscaled.Sign() > 0 {
		digits = unscaled.Append(digits, 10)
	} else {
		digits = unscaled.Append(digits, 10)[1:] // after the minus sign
	}
	e := int64(len(digits)) - int64(scale)
	digits = bytes.TrimRight(digits, "0")
	if unscaled.Sign() > 0 {
		dst = append(dst, decimalPositive)
	} else {
		dst = append(dst, decimalNegative)
	}
	n := len(dst)
	switch {
	case e >= -64 && e < 64:
		dst = append(dst, byte(0x80+e))
	case e < 0:
		dst = binary.BigEndian.AppendUint64(append(dst, 0x3f), uint64(e)^1<<63)
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 0xc0), uint64(e)^1<<63)
	}
	for i := 0; i < len(digits); i += 2 {
		d := (digits[i] - '0') * 10
		if i+1 < len(digits) {
			d += digits[i+1] - '0'
		}
		dst = append(dst, d+1)
	}
	dst = append(dst, 0)
	if unscaled.Sign() < 0 {
		invert(dst[n:])
	}
	return dst
}

// maxZeros is the largest number of zeros that the canonical form of a whole number writes out (100
// and not 1E+2).
const maxZeros = 32

func decodeDecimal(dst, src []byte) (newDst, rest []byte, err error) {
	if len(src) == 0 {
		return dst, nil, errTruncated
	}
	sign, src := src[0], src[1:]
	var flip byte
	switch sign {
	case decimalZero:
		return value.AppendDecimal(dst, new(big.Int), 0), src, nil
	case decimalNegative:
		flip = 0xff
	case decimalPositive:
	default:
		return dst, nil, errTruncated
	}
	if len(src) == 0 {
		return dst, nil, errTruncated
	}
	h, src := src[0]^flip, src[1:]
	e := int64(h) - 0x80
	if h == 0x3f || h == 0xc0 {
		if len(src) < 8 {
			return dst, nil, errTruncated
		}
		x := binary.BigEndian.Uint64(src)
		if flip != 0 {
			x = ^x
		}
		e, src = int64(x^1<<63), src[8:]
	}
	var stack [64]byte
	digits := stack[:0]
	if flip != 0 {
		digits = append(digits, '-')
	}
	for {
		if len(src) == 0 {
			return dst, nil, errTruncated
		}
		d := src[0] ^ flip
		src = src[1:]
		if d == 0 {
			break
		}
		d--
		if d > 99 {
			return dst, nil, errTruncated
		}
		digits = append(digits, '0'+d/10, '0'+d%10)
	}
	digits = bytes.TrimRight(digits, "0")
	n := len(digits)
	if flip != 0 {
		n--
	}
	scale := int64(n) - e
	for zeros := int64(0); scale < 0 && scale >= -maxZeros && zeros < maxZeros; zeros++ {
		digits = append(digits, '0')
		scale++
	}
	unscaled, ok := new(big.Int).SetString(string(digits), 10)
	if !ok || scale != int64(int32(scale)) {
		return dst, nil, errTruncated
	}
	return value.AppendDecimal(dst, unscaled, int32(scale)), src, nil
}

// decodeOrdered decodes one component. v is a view of src or of arena; rest is the part of src
// after the component.
func decodeOrdered(arena []byte, t *value.Type, src []byte) (newArena, v, rest []byte, err error) {
	if len(src) == 0 {
		return arena, nil, nil, errTruncated
	}
	mark, src := src[0], src[1:]
	switch mark {
	case markNull:
		return arena, nil, src, nil
	case markEmpty:
		return arena, []byte{}, src, nil
	case markValue:
		return decodeBody(arena, t, src)
	}
	return arena, nil, nil, errTruncated
}

// decodeClustering decodes one component of a clustering column, as decodeOrdered does.
func decodeClustering(arena []byte, c *ClusteringColumn, src []byte) (newArena, v, rest []byte, err error) {
	if !c.Desc {
		return decodeOrdered(arena, c.Type, src)
	}
	n := len(arena)
	arena = append(arena, src...)
	plain := arena[n:len(arena):len(arena)]
	invert(plain)
	arena, v, left, err := decodeOrdered(arena, c.Type, plain)
	if err != nil {
		return arena, nil, nil, err
	}
	return arena, v, src[len(plain)-len(left):], nil
}

func decodeBody(arena []byte, t *value.Type, src []byte) (newArena, v, rest []byte, err error) {
	n := len(arena)
	size := fixedLen(t.Kind)
	if t.Kind == value.UUID {
		size = 17
	}
	if len(src) < size {
		return arena, nil, nil, errTruncated
	}
	switch t.Kind {
	case value.Int, value.Bigint, value.Smallint, value.Tinyint, value.Timestamp, value.Counter:
		arena = append(arena, src[:size]...)
		arena[n] ^= 0x80
	case value.Date, value.Time, value.Boolean:
		return arena, src[:size:size], src[size:], nil
	case value.Double:
		bits := binary.BigEndian.Uint64(src)
		if bits>>63 != 0 {
			bits &^= 1 << 63
		} else {
			bits = ^bits
		}
		arena = binary.BigEndian.AppendUint64(arena, bits)
	case value.Float:
		bits := binary.BigEndian.Uint32(src)
		if bits>>31 != 0 {
			bits &^= 1 << 31
		} else {
			bits = ^bits
		}
		arena = binary.BigEndian.AppendUint32(arena, bits)
	case value.UUID:
		msb := binary.BigEndian.Uint64(src[1:])
		if src[0] == 1 {
			msb = timeLast(msb)
		}
		arena = binary.BigEndian.AppendUint64(arena, msb)
		arena = append(arena, src[9:17]...)
	case value.Timeuuid:
		arena = binary.BigEndian.AppendUint64(arena, timeLast(binary.BigEndian.Uint64(src)^1<<63))
		for _, b := range src[8:16] {
			arena = append(arena, b^0x80)
		}
	case value.Varint:
		v, rest, err = decodeVarint(src)
		return arena, v, rest, err
	case value.Decimal:
		arena, rest, err = decodeDecimal(arena, src)
		return arena, arena[n:len(arena):len(arena)], rest, err
	case value.List, value.Set, value.Map:
		var parts [][]byte
		for i := 0; ; i++ {
			if len(src) == 0 {
				return arena, nil, nil, errTruncated
			}
			if src[0] == 0 {
				return appendBuilt(arena, t, parts, src[1:])
			}
			e := t.Elems[0]
			if t.Kind == value.Map && i%2 == 1 {
				e = t.Elems[1]
			}
			if arena, v, src, err = decodeOrdered(arena, e, src); err != nil {
				return arena, nil, nil, err
			}
			parts = append(parts, v)
		}
	case value.UDT:
		var parts [][]byte
		for {
			if len(src) == 0 {
				return arena, nil, nil, errTruncated
			}
			if src[0] == 0 {
				if len(parts) == 0 {
					parts = append(parts, nil) // if the type had no field at all, this would be the empty value
				}
				return appendBuilt(arena, t, parts, src[1:])
			}
			if len(parts) == len(t.Elems) {
				return arena, nil, nil, errTruncated
			}
			if arena, v, src, err = decodeOrdered(arena, t.Elems[len(parts)], src); err != nil {
				return arena, nil, nil, err
			}
			parts = append(parts, v)
		}
	case value.Tuple, value.Vector:
		count := len(t.Elems)
		if t.Kind == value.Vector {
			count = t.Dim
		}
		parts := make([][]byte, 0, min(count, len(src)))
		for i := range count {
			e := t.Elems[0]
			if t.Kind != value.Vector {
				e = t.Elems[i]
			}
			if arena, v, src, err = decodeOrdered(arena, e, src); err != nil {
				return arena, nil, nil, err
			}
			parts = append(parts, v)
		}
		return appendBuilt(arena, t, parts, src)
	default:
		return decodeEscaped(arena, src)
	}
	return arena, arena[n:len(arena):len(arena)], src[size:], nil
}

func appendBuilt(arena []byte, t *value.Type, parts [][]byte, rest []byte) (newArena, v, r []byte, err error) {
	n := len(arena)
	arena = t.Build(arena, parts)
	return arena, arena[n:len(arena):len(arena)], rest, nil
}
