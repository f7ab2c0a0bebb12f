// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// Format appends v as CQL: a literal such as 'text', 0xca, [1, 2], {'a': 1} or null. If no literal
// denotes v (an empty int), it appends a call such as blobasint(0x). The text does not keep
// duplicates and disorder in sets and maps, or missing components of tuples. A malformed value is
// shown as a blob.
func (t *Type) Format(dst, v []byte) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	if t.Validate(v) != nil {
		return formatBlob(dst, v)
	}
	if t.unwritable(v) {
		dst = append(append(append(dst, "blobas"...), names[t.Kind]...), '(')
		return append(formatBlob(dst, v), ')')
	}
	switch t.Kind {
	case Ascii, Text:
		return append(append(append(dst, '\''), strings.ReplaceAll(string(v), "'", "''")...), '\'')
	case Blob:
		return formatBlob(dst, v)
	case Custom:
		return append(hex.AppendEncode(append(dst, '\''), v), '\'')
	case Empty:
		return append(dst, "null"...)
	case Timestamp:
		// Cassandra parses a date with a time only if the year has four digits.
		if ms := t.Int64(v); len(v) == 8 && (ms < minYear1 || ms >= minYear10000) {
			return strconv.AppendInt(dst, ms, 10)
		}
		fallthrough
	case Date, Time, Inet:
		return append(t.plain(append(dst, '\''), v), '\'')
	case Duration:
		if s, _ := SpanOf(v); s == (Span{}) {
			return append(dst, "0s"...)
		}
		return t.plain(dst, v)
	case List, Vector:
		return append(t.formatParts(append(dst, '['), v), ']')
	case Set, Map:
		return append(t.formatParts(append(dst, '{'), v), '}')
	case Tuple:
		if len(v) == 0 {
			return append(dst, "(null)"...) // () is not a literal
		}
		return append(t.formatParts(append(dst, '('), v), ')')
	case UDT:
		if len(v) == 0 && len(t.Fields) > 0 {
			return append(append(append(dst, '{'), quoteName(t.Fields[0])...), ": null}"...) // {} is a set
		}
		dst = append(dst, '{')
		for p, i := t.Parts(v), 0; p.Next(); i++ {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, quoteName(t.Fields[i])...), ": "...)
			dst = t.Elems[i].Format(dst, p.part)
		}
		return append(dst, '}')
	}
	return t.plain(dst, v)
}

// unwritable reports whether no literal denotes v: some empty values, times after the end of the
// day, decimals whose exponent in text form exceeds 32 bits.
func (t *Type) unwritable(v []byte) bool {
	switch {
	case len(v) == 0:
		return t.EmptyMeaningless() && t.Kind != Timestamp && t.Kind != Inet
	case t.Kind == Time:
		return uint64(t.Int64(v)) >= uint64(dayNanos)
	case t.Kind == Decimal:
		return unwritableDecimal(v)
	}
	return false
}

// The times of 0001-01-01 and +10000-01-01 in milliseconds.
const (
	minYear1     = -62135596800000
	minYear10000 = 253402300800000
)

func formatBlob(dst, v []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), v) }

func (t *Type) formatParts(dst, v []byte) []byte {
	p := t.Parts(v)
	for i := 0; p.Next(); i++ {
		switch {
		case i == 0:
		case t.Kind == Map && i%2 == 1:
			dst = append(dst, ": "...)
		default:
			dst = append(dst, ", "...)
		}
		e := t.Elems[0]
		if t.Kind == Map || t.Kind == Tuple {
			e = t.Elems[i%len(t.Elems)]
		}
		dst = e.Format(dst, p.part)
	}
	return dst
}

// unwritableDecimal reports whether the exponent of a decimal's text exceeds 32 bits.
func unwritableDecimal(v []byte) bool {
	if len(v) < 4 {
		return false
	}
	unscaled, scale := BigDecimal(v)
	adjusted := int64(Digits(unscaled)) - 1 - int64(scale)
	return adjusted != int64(int32(adjusted)) && !(scale >= 0 && adjusted >= -6)
}
