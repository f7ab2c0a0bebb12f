// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// FromString returns the value of type t that a text denotes. It parses the text as Cassandra does
// in a literal and in JSON: 2020-07-09 12:00+0200, 127.0.0.1, 1h30m, 42, a blob's hex digits, ….
// For most types the empty text is the empty value. The error has Cassandra's text.
//
// A timestamp without a zone is UTC. FromString does not know 'now'. Host names are not inet
// addresses. It parses collections from their hex digits, and tuples from component:component with
// @ for null.
func (t *Type) FromString(s string) ([]byte, error) {
	if s == "" {
		switch t.Kind {
		case Boolean:
			return []byte{0}, nil
		case Date, Time:
		default:
			return []byte{}, nil
		}
	}
	switch t.Kind {
	case Ascii:
		for i := range len(s) {
			if s[i] >= 0x80 {
				return nil, errors.New("Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: Input length = 1")
			}
		}
		return []byte(s), nil
	case Text:
		return []byte(s), nil
	case Blob, List, Set, Map, Vector, Custom:
		b, err := hex.DecodeString(s)
		if err != nil {
			return nil, fmt.Errorf("cannot parse '%s' as hex bytes", s)
		}
		return b, nil
	case Bigint, Counter:
		return integer(s, 64, "long")
	case Int:
		return integer(s, 32, "int")
	case Smallint:
		return integer(s, 16, "short")
	case Tinyint:
		return integer(s, 8, "byte")
	case Varint:
		n, ok := bigInteger(s)
		if !ok {
			return nil, fmt.Errorf("unable to make int from '%s'", s)
		}
		return AppendVarint(nil, n), nil
	case Decimal:
		unscaled, scale, ok := ParseDecimal(s)
		if !ok {
			return nil, fmt.Errorf("unable to make BigDecimal from '%s'", s)
		}
		return AppendDecimal(nil, unscaled, scale), nil
	case Double:
		f, ok := parseFloat(s, 64)
		if !ok {
			return nil, fmt.Errorf("Unable to make double from '%s'", s)
		}
		return doubleValue(f), nil
	case Float:
		f, ok := parseFloat(s, 32)
		if !ok {
			return nil, fmt.Errorf("Unable to make float from '%s'", s)
		}
		return floatValue(float32(f)), nil
	case Boolean:
		switch {
		case strings.EqualFold(s, "true"):
			return []byte{1}, nil
		case strings.EqualFold(s, "false"):
			return []byte{0}, nil
		}
		return nil, fmt.Errorf("Unable to make boolean from '%s'", s)
	case UUID:
		u, ok := parseUUID(s)
		if !ok {
			return nil, fmt.Errorf("Unable to make UUID from '%s'", s)
		}
		return u, nil
	case Timeuuid:
		u, ok := parseUUID(s)
		if !ok {
			return nil, fmt.Errorf("Unknown timeuuid representation: %s", s)
		}
		if u[6]>>4 != 1 {
			return nil, errors.New("TimeUUID supports only version 1 UUIDs")
		}
		return u, nil
	case Inet:
		a, ok := parseInet(s)
		if !ok {
			return nil, fmt.Errorf("Unable to make inet address from '%s'", s)
		}
		return a, nil
	case Timestamp:
		ms, err := parseTimestamp(s)
		if err != nil {
			return nil, err
		}
		return binary.BigEndian.AppendUint64(nil, uint64(ms)), nil
	case Date:
		d, err := parseDate(s)
		if err != nil {
			return nil, err
		}
		return binary.BigEndian.AppendUint32(nil, d), nil
	case Time:
		n, err := parseTime(s)
		if err != nil {
			return nil, err
		}
		return binary.BigEndian.AppendUint64(nil, uint64(n)), nil
	case Duration:
		d, err := ParseSpan(s)
		if err != nil {
			return nil, err
		}
		return d.Append(nil), nil
	case Tuple, UDT:
		return t.tupleFromString(s)
	}
	return nil, fmt.Errorf("'%s' is not empty", s)
}

// integer parses a signed integer of the given number of bits.
func integer(s string, bits int, name string) ([]byte, error) {
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		return nil, fmt.Errorf("Unable to make %s from '%s'", name, s)
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n))[8-bits/8:], nil
}

func bigInteger(s string) (*big.Int, bool) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	if number, rest := leadingDigits(digits); number == "" || rest != "" || len(number) > MaxDigits {
		return nil, false
	}
	n := parseDigits(strings.TrimLeft(s, "+-"))
	if s[0] == '-' {
		n.Neg(n)
	}
	return n, true
}

// parseFloat accepts what Java's Double.valueOf and Float.valueOf accept: surrounding blanks, NaN
// and Infinity, hexadecimal numbers, a trailing f or d.
func parseFloat(s string, bits int) (float64, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 || unsigned == "" {
		return 0, false
	}
	switch {
	case unsigned == "NaN":
		return math.NaN(), true
	case unsigned == "Infinity":
		f, err := strconv.ParseFloat(s, bits)
		return f, err == nil
	case unsigned[0] != '.' && (unsigned[0] < '0' || unsigned[0] > '9') || strings.ContainsRune(s, '_'):
		return 0, false
	}
	switch s[len(s)-1] {
	case 'f', 'F', 'd', 'D':
		s = s[:len(s)-1]
	}
	f, err := strconv.ParseFloat(s, bits)
	if errors.Is(err, strconv.ErrRange) {
		return f, true // infinite
	}
	return f, err == nil
}

func doubleValue(f float64) []byte {
	if f != f {
		return binary.BigEndian.AppendUint64(nil, 0x7ff8000000000000)
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(f))
}

func floatValue(f float32) []byte {
	if f != f {
		return binary.BigEndian.AppendUint32(nil, 0x7fc00000)
	}
	return binary.BigEndian.AppendUint32(nil, math.Float32bits(f))
}

func parseUUID(s string) ([]byte, bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return nil, false
	}
	u, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	return u, err == nil
}

func formatUUID(dst, v []byte) []byte {
	for i, n := range []int{4, 2, 2, 2, 6} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, v[:n])
		v = v[n:]
	}
	return dst
}

// parseInet parses an address as Java's InetAddress does: IPv4 in one to four parts, IPv6 with or
// without brackets. IPv4 within IPv6 becomes IPv4.
func parseInet(s string) ([]byte, bool) {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
		if !strings.Contains(s, ":") {
			return nil, false
		}
	}
	if strings.Contains(s, ":") {
		if addr, scope, scoped := strings.Cut(s, "%"); scoped {
			if digits, rest := leadingDigits(scope); digits == "" || rest != "" {
				return nil, false
			}
			s = addr
		}
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, false
		}
		return a.Unmap().AsSlice(), true
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return nil, false
	}
	var a [4]byte
	for i, p := range parts {
		digits, rest := leadingDigits(p)
		n, err := strconv.ParseUint(p, 10, 32)
		last := i == len(parts)-1
		if digits == "" || rest != "" || err != nil || !last && n > 255 || last && n>>(8*(4-i)) > 0 {
			return nil, false
		}
		if !last {
			a[i] = byte(n)
			continue
		}
		for j := 3; j >= i; j-- {
			a[j], n = byte(n), n>>8
		}
	}
	return a[:], true
}

// formatInet appends an address as Java's InetAddress does: IPv6 in eight groups, without
// abbreviation.
func formatInet(dst, v []byte) []byte {
	if len(v) == 16 {
		if a := netip.AddrFrom16([16]byte(v)); a.Is4In6() {
			v = v[12:]
		}
	}
	if len(v) == 4 {
		return netip.AddrFrom4([4]byte(v)).AppendTo(dst)
	}
	for i := 0; i+1 < len(v); i += 2 {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(binary.BigEndian.Uint16(v[i:])), 16)
	}
	return dst
}

// tupleFromString parses component:component. @ is null. A backslash before : or @ makes it a plain
// character.
func (t *Type) tupleFromString(s string) ([]byte, error) {
	var fields []string
	start := 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == ':' && (i == 0 || s[i-1] != '\\') {
			fields = append(fields, s[start:i])
			start = i + 1
		}
	}
	if len(fields) > len(t.Elems) {
		name := t.String()
		if t.Kind == UDT {
			name = t.Name
		}
		return nil, fmt.Errorf("Invalid tuple literal: too many elements. Type %s expects %d but got %d", name, len(t.Elems), len(fields))
	}
	var dst []byte
	for i, f := range fields {
		if f == "@" {
			dst = AppendPart(dst, nil)
			continue
		}
		v, err := t.Elems[i].FromString(strings.NewReplacer(`\:`, ":", `\@`, "@").Replace(f))
		if err != nil {
			return nil, err
		}
		dst = AppendPart(dst, v)
	}
	return dst, nil
}
