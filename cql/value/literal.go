// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Literal is the lexical kind of a CQL constant. The kinds are in the order of the grammar.
type Literal uint8

const (
	StringLiteral   Literal = iota + 1 // 'text'
	IntegerLiteral                     // -1
	FloatLiteral                       // 1.5, 1e3, NaN, Infinity
	UUIDLiteral                        // 123e4567-e89b-12d3-a456-426614174000
	HexLiteral                         // 0xca (the text is without the prefix)
	BooleanLiteral                     // true
	DurationLiteral                    // 1h30m, P1D
)

// String returns the kind's name in Cassandra's messages.
func (k Literal) String() string {
	if k < StringLiteral || k > DurationLiteral {
		return "UNKNOWN"
	}
	return [...]string{"STRING", "INTEGER", "FLOAT", "UUID", "HEX", "BOOLEAN", "DURATION"}[k-1]
}

// ErrNotAssignable is FromLiteral's error for a constant of a kind that the type does not accept,
// whatever its text. The caller must format Cassandra's message, because it knows the receiver's
// name: «Invalid STRING constant (a) for "c" of type int».
var ErrNotAssignable = errors.New("constant is not assignable to the type")

// Accepts reports whether a constant of kind k may be used for type t.
func (t *Type) Accepts(k Literal) bool {
	switch t.Kind {
	case Custom, Tuple:
		return true
	}
	switch k {
	case StringLiteral:
		switch t.Kind {
		case Ascii, Text, Inet, Date, Time, Timestamp:
			return true
		}
	case IntegerLiteral:
		switch t.Kind {
		case Bigint, Counter, Date, Decimal, Double, Duration, Float, Int, Smallint, Time, Timestamp, Tinyint, Varint:
			return true
		}
	case FloatLiteral:
		return t.Kind == Decimal || t.Kind == Double || t.Kind == Float
	case UUIDLiteral:
		return t.Kind == UUID || t.Kind == Timeuuid
	case HexLiteral:
		return t.Kind == Blob || t.Kind == Tinyint
	case BooleanLiteral:
		return t.Kind == Boolean
	case DurationLiteral:
		return t.Kind == Duration
	}
	return false
}

// FromLiteral returns the value of type t that a constant denotes. text is unquoted for strings and
// has no 0x for blobs. The error is ErrNotAssignable or has Cassandra's text.
func (t *Type) FromLiteral(k Literal, text string) ([]byte, error) {
	if !t.Accepts(k) {
		return nil, ErrNotAssignable
	}
	if k == HexLiteral {
		b, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("cannot parse '%s' as hex bytes", text)
		}
		if t.Kind == Tinyint {
			return b, t.Validate(b) // Cassandra accepts and stores any bytes here
		}
		return b, nil
	}
	return t.FromString(text)
}

// Preferred returns the type that Cassandra gives a constant if the context does not determine one.
// An integer is an int, bigint or varint by its size; a float is a double or decimal; a string is
// ascii or text.
func Preferred(k Literal, text string) *Type {
	switch k {
	case StringLiteral:
		if strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0 {
			return native[Ascii]
		}
		return native[Text]
	case IntegerLiteral:
		n, ok := bigInteger(text)
		switch {
		case !ok || !n.IsInt64():
			return native[Varint]
		case n.Int64() < math.MinInt32 || n.Int64() > math.MaxInt32:
			return native[Bigint]
		}
		return native[Int]
	case UUIDLiteral:
		if len(text) > 14 && text[14] == '1' {
			return native[Timeuuid]
		}
		return native[UUID]
	case FloatLiteral:
		if text == "NaN" || strings.HasSuffix(text, "Infinity") {
			return native[Double]
		}
		f, ok := parseFloat(text, 64)
		unscaled, scale, exact := ParseDecimal(text)
		if ok && exact {
			u, s, _ := ParseDecimal(string(formatDouble(nil, f, 64)))
			a, b := AppendDecimal(nil, unscaled, scale), []byte(nil)
			if u != nil {
				b = AppendDecimal(nil, u, s)
			}
			if b != nil && compareDecimal(a, b) == 0 {
				return native[Double]
			}
		}
		return native[Decimal]
	case HexLiteral:
		return native[Blob]
	case BooleanLiteral:
		return native[Boolean]
	case DurationLiteral:
		return native[Duration]
	}
	return nil
}
