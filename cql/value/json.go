// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
)

// JSON appends v as SELECT JSON and toJson show it: bare numbers, NaN and infinities as null, the
// empty value as "", blobs as "0x…", a map's keys as strings, names of a user-defined type's fields
// as JSONName writes them.
func (t *Type) JSON(dst, v []byte) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	switch t.Kind {
	case List, Set, Vector:
		dst = append(dst, '[')
		for p, i := t.Parts(v), 0; p.Next(); i++ {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = t.Elems[0].JSON(dst, p.part)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for p, i := t.Parts(v), 0; p.Next(); i++ {
			if i%2 == 1 {
				dst = t.Elems[1].JSON(append(dst, ": "...), p.part)
				continue
			}
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if key := t.Elems[0].JSON(nil, p.part); len(key) > 0 && key[0] == '"' {
				dst = append(dst, key...)
			} else {
				dst = appendJSONString(dst, string(key))
			}
		}
		return append(dst, '}')
	case Tuple, UDT:
		begin, end := byte('['), byte(']')
		if t.Kind == UDT {
			begin, end = '{', '}'
		}
		dst = append(dst, begin)
		p := t.Parts(v)
		for i, e := range t.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if t.Kind == UDT {
				dst = append(JSONName(dst, t.Fields[i]), ": "...)
			}
			var part []byte
			if p.Next() {
				part = p.part
			}
			dst = e.JSON(dst, part)
		}
		return append(dst, end)
	}
	if t.Validate(v) != nil && t.Kind != Text {
		return append(hex.AppendEncode(append(dst, `"0x`...), v), '"')
	}
	if len(v) == 0 && t.Kind != Blob {
		return append(dst, `""`...)
	}
	switch t.Kind {
	case Ascii, Text:
		return appendJSONString(dst, string(v))
	case Blob, Custom:
		return append(hex.AppendEncode(append(dst, `"0x`...), v), '"')
	case Double:
		if f := math.Float64frombits(binary.BigEndian.Uint64(v)); f-f != 0 {
			return append(dst, "null"...)
		}
	case Float:
		if f := math.Float32frombits(binary.BigEndian.Uint32(v)); f-f != 0 {
			return append(dst, "null"...)
		}
	case Timestamp:
		return append(formatTimestamp(append(dst, '"'), t.Int64(v), ' ', true), '"')
	case UUID, Timeuuid, Inet, Date, Time, Duration:
		return append(t.plain(append(dst, '"'), v), '"')
	}
	return t.plain(dst, v)
}

// JSONName appends a column's or field's name as SELECT JSON writes it: quoted, and quoted again
// inside if it is not all lower case.
func JSONName(dst []byte, name string) []byte {
	if name != strings.ToLower(name) {
		name = `"` + name + `"`
	}
	return appendJSONString(dst, name)
}

func appendJSONString(dst []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(dst, '"')
}
