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
// as JSONName writes them. If that is longer than most bytes, it returns false. Escapes in keys that
// are maps themselves double with each such type.
func (t *Type) JSON(dst, v []byte, most int) ([]byte, bool) {
	end := len(dst) + most
	dst = t.json(dst, v, end)
	return dst, dst != nil && len(dst) <= end
}

// json appends v. It may return nil if dst would be longer than end.
func (t *Type) json(dst, v []byte, end int) []byte {
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
			if dst = t.Elems[0].json(dst, p.part, end); len(dst) > end || dst == nil {
				return nil
			}
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for p, i := t.Parts(v), 0; p.Next(); i++ {
			if i%2 == 1 {
				dst = t.Elems[1].json(append(dst, ": "...), p.part, end)
			} else {
				if i > 0 {
					dst = append(dst, ", "...)
				}
				dst = t.Elems[0].jsonKey(dst, p.part, end)
			}
			if len(dst) > end || dst == nil {
				return nil
			}
		}
		return append(dst, '}')
	case Tuple, UDT:
		brackets := "[]"
		if t.Kind == UDT {
			brackets = "{}"
		}
		dst = append(dst, brackets[0])
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
			if dst = e.json(dst, part, end); len(dst) > end || dst == nil {
				return nil
			}
		}
		return append(dst, brackets[1])
	}
	if t.Validate(v) != nil && t.Kind != Text {
		return appendJSONHex(dst, v, end)
	}
	if len(v) == 0 && t.Kind != Blob {
		return append(dst, `""`...)
	}
	switch t.Kind {
	case Ascii, Text:
		return appendJSONString(dst, v, end)
	case Blob, Custom:
		return appendJSONHex(dst, v, end)
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

// jsonKey does the same for a map's key, which is a string.
func (t *Type) jsonKey(dst, v []byte, end int) []byte {
	key := t.json(nil, v, end-len(dst))
	switch {
	case key == nil:
		return nil
	case len(key) > 0 && key[0] == '"':
		return append(dst, key...)
	}
	return appendJSONString(dst, key, end)
}

// JSONName appends a column's or field's name as SELECT JSON writes it: quoted, and quoted again
// inside if it is not all lower case.
func JSONName(dst []byte, name string) []byte {
	if name != strings.ToLower(name) {
		name = `"` + name + `"`
	}
	return appendJSONString(dst, name, math.MaxInt)
}

// appendJSONHex appends bytes as a string. It may stop when dst is longer than end.
func appendJSONHex(dst, v []byte, end int) []byte {
	dst = append(dst, `"0x`...)
	v = v[:min(len(v), max(0, end-len(dst))/2+1)]
	return append(hex.AppendEncode(dst, v), '"')
}

// appendJSONString appends a quoted string. It may stop when dst is longer than end.
func appendJSONString[S string | []byte](dst []byte, s S, end int) []byte {
	const digits = "0123456789ABCDEF"
	dst = append(dst, '"')
	for i := 0; i < len(s) && len(dst) <= end; i++ {
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
