// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// serialize appends the value of a text in a type, as CQL serializes it.
func serialize(dst []byte, t *value.Type, text []byte) ([]byte, error) {
	switch t.Kind {
	case value.Text, value.Ascii:
		return append(dst, text...), nil
	case value.Blob:
		if c, _ := classify(text); c == isBlob {
			for i := 2; i < len(text); i += 2 {
				dst = append(dst, byte(hexDigit[text[i]])<<4|byte(hexDigit[text[i+1]]))
			}
			return dst, nil
		}
	default:
		if v, ok := serializeKnown(dst, t, text); ok {
			return v, nil
		}
	}
	if len(text) == 0 {
		return dst, fmt.Errorf("is empty, which is no %s", t)
	}
	v, err := t.FromString(string(text))
	if err != nil {
		return dst, fmt.Errorf("%.60q is no %s", text, t)
	}
	return append(dst, v...), nil
}

// serializeKnown serializes the forms that classify knows.
func serializeKnown(dst []byte, t *value.Type, text []byte) ([]byte, bool) {
	c, n := classify(text)
	switch {
	case c == isInt && (t.Kind == value.Bigint || t.Kind == value.Counter || t.Kind == value.Timestamp):
		return binary.BigEndian.AppendUint64(dst, uint64(n)), true
	case c == isInt && t.Kind == value.Int && n == int64(int32(n)):
		return binary.BigEndian.AppendUint32(dst, uint32(n)), true
	case (c == isDate || c == isTimestamp) && t.Kind == value.Timestamp:
		return binary.BigEndian.AppendUint64(dst, uint64(n)), true
	case c == isDate && t.Kind == value.Date:
		return binary.BigEndian.AppendUint32(dst, uint32(n/day-min(n%day, 0)+1<<31)), true
	case c == isTimeuuid && t.Kind == value.Timeuuid, (c == isUUID || c == isTimeuuid) && t.Kind == value.UUID:
		for i := 0; i < 36; i += 2 {
			if text[i] == '-' {
				i++
			}
			dst = append(dst, byte(hexDigit[text[i]])<<4|byte(hexDigit[text[i+1]]))
		}
		return dst, true
	case c == isBool && t.Kind == value.Boolean:
		return append(dst, byte(n)), true
	}
	return dst, false
}

// appendValue appends value i of a vector, which is not null, serialized as t.
func appendValue(dst []byte, v *rows.Vector, i int, t *value.Type) ([]byte, error) {
	switch v.Kind {
	case rows.Text:
		return serialize(dst, t, v.Bytes(i))
	case rows.Binary:
		return append(dst, v.Bytes(i)...), nil
	case rows.Floats:
		if t.Kind == value.Float {
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v.Floats[i]))), nil
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Floats[i])), nil
	}
	n := v.Ints[i]
	switch t.Kind {
	case value.Boolean, value.Tinyint:
		return append(dst, byte(n)), nil
	case value.Smallint:
		return binary.BigEndian.AppendUint16(dst, uint16(n)), nil
	case value.Int:
		return binary.BigEndian.AppendUint32(dst, uint32(n)), nil
	case value.Date:
		return binary.BigEndian.AppendUint32(dst, uint32(n+1<<31)), nil
	}
	return binary.BigEndian.AppendUint64(dst, uint64(n)), nil
}

// fixedLen returns the length of all values of a type; 0: lengths differ.
func fixedLen(t *value.Type) int {
	switch t.Kind {
	case value.Tinyint:
		return 1
	case value.Smallint:
		return 2
	case value.Date:
		return 4
	case value.Time:
		return 8
	}
	if n, ok := t.FixedLen(); ok {
		return n
	}
	return 0
}

// textLen returns the length of a text, serialized as a type of variable length.
func textLen(t *value.Type, text []byte) int {
	switch t.Kind {
	case value.Varint, value.Decimal:
		if n, ok := numberLen(text); ok {
			if t.Kind == value.Decimal {
				n += 4
			}
			return n
		}
	}
	return serializedLen(t, len(text))
}

// numberLen returns the length in bytes of a number's digits as a two's complement integer. ok is
// false if there are many digits, or an exponent.
func numberLen(text []byte) (int, bool) {
	n, digits, negative := uint64(0), 0, false
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n, digits = n*10+uint64(c-'0'), digits+1
		case c == '-' && i == 0:
			negative = true
		case c == '+' && i == 0, c == '.':
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > 18 {
		return 0, false
	}
	if negative && n > 0 {
		n--
	}
	return bits.Len64(n)/8 + 1, true
}

// serializedLen returns about how long a text of that many bytes is, serialized as a type of
// variable length.
func serializedLen(t *value.Type, text int) int {
	switch t.Kind {
	case value.Blob:
		return max(text-2, 0) / 2
	case value.Varint:
		return digitsLen(text)
	case value.Decimal:
		return 4 + digitsLen(text-1)
	case value.Inet:
		if text <= 15 {
			return 4
		}
		return 16
	case value.Duration:
		return 5
	}
	return text
}

// digitsLen returns the length in bytes of an integer of that many decimal digits.
func digitsLen(digits int) int { return int(float64(max(digits, 1))*0.4152) + 1 }
