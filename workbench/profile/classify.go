// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/datetime"
)

// class is the kind of a text, by its form.
type class uint8

const (
	isText      class = iota
	isInt             // written as an integer: no leading zero, no +; fits 64 bits
	isVarint          // the same, but larger
	isDecimal         // with a point
	isDouble          // with an exponent, NaN
	isBool            // true, false
	isDate            // 2020-07-09
	isTimestamp       // 2020-07-09 10:00, with or without seconds, zone
	isPeriod          // 2020-07, 2020-07-09T10: a time without a CQL type
	isWritten         // 15.03.2024 10:30: a time as people write it, which is text to CQL
	isTime            // 10:00:00
	isUUID
	isTimeuuid // a UUID of version 1
	isInet
	isBlob // 0x and an even number of hex digits
	isNested
	classes
)

var isoClass = [...]class{datetime.NoTime: isText, datetime.Date: isDate, datetime.Timestamp: isTimestamp, datetime.Partial: isPeriod}

// classify returns the class of a text. n is its integer, or its time in ms since 1970. It
// classifies times as people write them as text; moments reads these.
func classify(b []byte) (c class, n int64) {
	if len(b) == 0 {
		return isText, 0
	}
	switch first := b[0]; {
	case first-'0' <= 9:
		switch {
		case len(b) >= 7 && b[4] == '-':
			if k, ms, _ := datetime.ISO(b); k != datetime.NoTime {
				return isoClass[k], ms
			}
		case len(b) >= 8 && b[2] == ':' && timeOfDay(b):
			return isTime, 0
		case first == '0' && len(b) > 2 && b[1]|0x20 == 'x' && len(b)%2 == 0 && allHex(b[2:]):
			return isBlob, 0
		}
		if len(b) == 36 && b[8] == '-' {
			return classifyUUID(b)
		}
		return number(b)
	case first == '-':
		return number(b)
	case first|0x20 >= 'a' && first|0x20 <= 'f':
		if len(b) == 36 && b[8] == '-' {
			return classifyUUID(b)
		}
		if first|0x20 == 'f' && len(b) == 5 && (string(b) == "false" || string(b) == "False" || string(b) == "FALSE") {
			return isBool, 0
		}
		if len(b) <= 45 && inet6(b) {
			return isInet, 0
		}
	case first == 't' || first == 'T':
		if len(b) == 4 && (string(b) == "true" || string(b) == "True" || string(b) == "TRUE") {
			return isBool, 1
		}
	case first == ':':
		if len(b) <= 45 && inet6(b) {
			return isInet, 0
		}
	case first == 'N' && string(b) == "NaN":
		return isDouble, 0
	}
	return isText, 0
}

// number classifies an integer or decimal, an IPv4 address, or an IPv6 address that begins with a
// digit.
func number(b []byte) (class, int64) {
	i, negative := 0, b[0] == '-'
	if negative {
		i = 1
	}
	digits := b[i:]
	if len(digits) == 0 || digits[0]-'0' > 9 {
		return isText, 0
	}
	n := uint64(0)
	k := 0
	for k < len(digits) && digits[k]-'0' <= 9 {
		if k < 19 {
			n = n*10 + uint64(digits[k]-'0')
		}
		k++
	}
	zero := k > 1 && digits[0] == '0' // a leading zero
	if k == len(digits) {
		switch {
		case zero || negative && n == 0:
			return isText, 0
		case k > 19 || k == 19 && n > math.MaxInt64:
			if k > 1000 {
				return isText, 0
			}
			return isVarint, 0
		case negative:
			return isInt, -int64(n)
		}
		return isInt, int64(n)
	}
	rest := digits[k:]
	if rest[0] == '.' {
		k = 1
		for k < len(rest) && rest[k]-'0' <= 9 {
			k++
		}
		if k == len(rest) {
			if zero || k == 1 || len(b) > 40 {
				return isText, 0
			}
			return isDecimal, 0
		}
		if !negative && rest[k] == '.' && inet4(b) {
			return isInet, 0
		}
		if k == 1 {
			return isText, 0
		}
		rest = rest[k:]
	}
	if !zero && (rest[0] == 'e' || rest[0] == 'E') {
		k = 1
		if k < len(rest) && (rest[k] == '+' || rest[k] == '-') {
			k++
		}
		from := k
		for k < len(rest) && rest[k]-'0' <= 9 {
			k++
		}
		if k == len(rest) && k > from && k-from < 4 {
			return isDouble, 0
		}
	}
	if !negative && len(b) <= 45 && inet6(b) {
		return isInet, 0
	}
	return isText, 0
}

func inet4(b []byte) bool {
	parts, n, digits := 1, 0, 0
	for _, c := range b {
		switch {
		case c == '.' && digits > 0:
			parts++
			n, digits = 0, 0
		case c-'0' <= 9 && digits < 3:
			n = n*10 + int(c-'0')
			digits++
			if n > 255 {
				return false
			}
		default:
			return false
		}
	}
	return parts == 4 && digits > 0
}

// inet6 reports whether b is an address of eight groups, or of fewer with one ::.
func inet6(b []byte) bool {
	groups, digits, gap := 0, 0, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == ':':
			if digits > 0 {
				groups++
			} else if i > 0 || len(b) < 2 || b[1] != ':' {
				return false
			}
			if i+1 < len(b) && b[i+1] == ':' {
				if gap {
					return false
				}
				gap = true
				i++
			} else if i+1 == len(b) {
				return false
			}
			digits = 0
		case hexDigit[c] >= 0:
			if digits++; digits > 4 {
				return false
			}
		default:
			return false
		}
	}
	if digits > 0 {
		groups++
	}
	return gap && groups < 8 || groups == 8
}

// hexDigit holds the value of each hex digit, and -1 for other bytes.
var hexDigit = func() (t [256]int8) {
	for i := range t {
		switch c := byte(i); {
		case c-'0' <= 9:
			t[i] = int8(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			t[i] = int8(c|0x20-'a') + 10
		default:
			t[i] = -1
		}
	}
	return t
}()

func allHex(b []byte) bool {
	all := int8(0)
	for _, c := range b {
		all |= hexDigit[c]
	}
	return all >= 0
}

// classifyUUID classifies 36 bytes with a dash at 8. n is the time of a UUID of version 1.
func classifyUUID(b []byte) (class, int64) {
	if b[13] != '-' || b[18] != '-' || b[23] != '-' || !allHex(b[:8]) || !allHex(b[9:13]) || !allHex(b[14:18]) || !allHex(b[19:23]) || !allHex(b[24:]) {
		return isText, 0
	}
	if b[14] != '1' {
		return isUUID, 0
	}
	return isTimeuuid, timeOfUUID(hex(b[:8]), hex(b[9:13]), hex(b[15:18]))
}

// timeOfUUID returns the time of a version 1 UUID in ms since 1970.
func timeOfUUID(low, middle, high uint64) int64 {
	const epoch = 0x01b21dd213814000 // 1970 in units of 100 ns since 1582
	t := int64(high<<48|middle<<32|low) - epoch
	return (t - floorMod(t, 10_000)) / 10_000
}

func hex(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<4 | uint64(hexDigit[c])
	}
	return n
}

// two reads two digits. If they are no digits, it returns a number far above 99.
func two(b []byte) int64 {
	hi, lo := b[0]-'0', b[1]-'0'
	if hi > 9 || lo > 9 {
		return 1 << 20
	}
	return int64(hi)*10 + int64(lo)
}

// timeOfDay reports whether b is a time such as 10:00:00, with or without a fraction.
func timeOfDay(b []byte) bool {
	if b[5] != ':' || two(b) > 23 || two(b[3:]) > 59 || two(b[6:]) > 59 {
		return false
	}
	if len(b) == 8 {
		return true
	}
	if b[8] != '.' || len(b) < 10 || len(b) > 18 {
		return false
	}
	for _, c := range b[9:] {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}
