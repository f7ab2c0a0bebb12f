// SPDX-License-Identifier: Apache-2.0

package datetime

import "github.com/evenkeel/evenkeel/cql/value"

// Kind is the kind of a text in CQL's own form.
type Kind uint8

const (
	NoTime    Kind = iota
	Date           // 2020-07-09
	Timestamp      // 2020-07-09 10:00, with or without seconds, zone
	Partial        // 2020-07, 2020-07-09T10: a time without a CQL type
)

// two reads two digits. If they are no digits, it returns a number far above 99.
func two(b []byte) int64 {
	hi, lo := b[0]-'0', b[1]-'0'
	if hi > 9 || lo > 9 {
		return 1 << 20
	}
	return int64(hi)*10 + int64(lo)
}

// ISO reads a text that begins with a year, a dash and a month: a date, a timestamp as CQL reads
// it, or a part of one. ms counts from 1970; nanos is the remainder.
func ISO(b []byte) (k Kind, ms int64, nanos int32) {
	if len(b) < 7 || b[4] != '-' {
		return NoTime, 0, 0
	}
	y, m := two(b)*100+two(b[2:]), two(b[5:])
	if y > 9999 || m < 1 || m > 12 {
		return NoTime, 0, 0
	}
	if len(b) == 7 {
		return Partial, value.DaysFromCivil(y, m, 1) * day, 0
	}
	if len(b) < 10 || b[7] != '-' {
		return NoTime, 0, 0
	}
	d := two(b[8:])
	if d < 1 || d > value.MonthLength(y, m) {
		return NoTime, 0, 0
	}
	ms = value.DaysFromCivil(y, m, d) * day
	if len(b) == 10 {
		return Date, ms, 0
	}
	if b[10] != 'T' && b[10] != ' ' || len(b) < 13 {
		return NoTime, 0, 0
	}
	h := two(b[11:])
	if h > 23 {
		return NoTime, 0, 0
	}
	ms += h * hour
	if len(b) == 13 {
		return Partial, ms, 0
	}
	b = b[13:]
	if b[0] != ':' || len(b) < 3 {
		return NoTime, 0, 0
	}
	min := two(b[1:])
	if min > 59 {
		return NoTime, 0, 0
	}
	ms += min * minute
	b = b[3:]
	if len(b) >= 3 && b[0] == ':' {
		s := two(b[1:])
		if s > 59 {
			return NoTime, 0, 0
		}
		ms += s * second
		b = b[3:]
		if len(b) >= 2 && b[0] == '.' {
			unit, k := int64(100_000_000), 1
			fraction := int64(0)
			for ; k < len(b) && b[k]-'0' <= 9; k++ {
				fraction += int64(b[k]-'0') * unit
				unit /= 10
			}
			if k == 1 || k > 10 {
				return NoTime, 0, 0
			}
			ms += fraction / 1_000_000
			nanos = int32(fraction % 1_000_000)
			b = b[k:]
		}
	}
	offset, ok := isoZone(b)
	if !ok {
		return NoTime, 0, 0
	}
	return Timestamp, ms - offset, nanos
}

// isoZone reads nothing, Z, or an offset, and returns it in ms.
func isoZone(b []byte) (int64, bool) {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	switch {
	case len(b) == 0:
		return 0, true
	case len(b) == 1:
		return 0, b[0] == 'Z'
	case string(b) == "UTC" || string(b) == "GMT":
		return 0, true
	case b[0] != '+' && b[0] != '-' || len(b) < 3:
		return 0, false
	}
	sign := int64(1)
	if b[0] == '-' {
		sign = -1
	}
	h, m := two(b[1:]), int64(0)
	switch {
	case len(b) == 6 && b[3] == ':':
		m = two(b[4:])
	case len(b) == 5:
		m = two(b[3:])
	case len(b) != 3:
		return 0, false
	}
	return sign * (h*hour + m*minute), h <= 18 && m <= 59
}
