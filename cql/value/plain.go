// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"math"
	"strconv"
)

// plain appends a valid value of a scalar type as text without quotes; nothing for the empty value.
// FromString can parse the text.
func (t *Type) plain(dst, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	switch t.Kind {
	case Bigint, Counter, Int, Smallint, Tinyint:
		return strconv.AppendInt(dst, t.Int64(v), 10)
	case Varint:
		if len(v) <= 8 {
			return strconv.AppendInt(dst, shortVarint(v), 10)
		}
		return BigInt(v).Append(dst, 10)
	case Decimal:
		unscaled, scale := BigDecimal(v)
		return formatDecimal(dst, unscaled, scale)
	case Double:
		return formatDouble(dst, math.Float64frombits(binary.BigEndian.Uint64(v)), 64)
	case Float:
		return formatDouble(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(v))), 32)
	case Boolean:
		return strconv.AppendBool(dst, v[0] != 0)
	case UUID, Timeuuid:
		return formatUUID(dst, v)
	case Inet:
		return formatInet(dst, v)
	case Timestamp:
		return formatTimestamp(dst, t.Int64(v), 'T', false)
	case Date:
		return formatDate(dst, binary.BigEndian.Uint32(v))
	case Time:
		n := t.Int64(v)
		if n < 0 || n >= dayNanos {
			return strconv.AppendInt(dst, n, 10)
		}
		return formatTime(dst, n)
	case Duration:
		s, _ := SpanOf(v)
		return append(dst, s.String()...)
	}
	return append(dst, v...)
}

// Text returns a valid value of a scalar type as plain text, as CAST(c AS text) does. ok is false
// for collections, tuples, user-defined types and vectors.
func (t *Type) Text(v []byte) (text string, ok bool) {
	switch t.Kind {
	case List, Set, Map, Tuple, UDT, Vector:
		return "", false
	case Timestamp:
		if len(v) == 8 {
			return string(formatTimestamp(nil, t.Int64(v), 'T', false)), true
		}
	}
	return string(t.plain(nil, v)), true
}
