package profile

import "github.com/evenkeel/evenkeel/cql/value"

// two reads two digits; what is none is far above 99.
func two(b []byte) int64 {
	hi, lo := b[0]-'0', b[1]-'0'
	if hi > 9 || lo > 9 {
		return 1 << 20
	}
	return int64(hi)*10 + int64(lo)
}

// classifyTime reads what has a dash behind four bytes: a date, a timestamp as CQL
// reads it, or a period. n is ms since 1970.
func classifyTime(b []byte) (c class, n int64) {
	y, m := two(b)*100+two(b[2:]), two(b[5:])
	if y > 9999 || m < 1 || m > 12 {
		return isText, 0
	}
	if len(b) == 7 {
		return isPeriod, value.DaysFromCivil(y, m, 1) * day
	}
	if len(b) < 10 || b[7] != '-' {
		return isText, 0
	}
	d := two(b[8:])
	if d < 1 || d > value.MonthLength(y, m) {
		return isText, 0
	}
	ms := value.DaysFromCivil(y, m, d) * day
	if len(b) == 10 {
		return isDate, ms
	}
	if b[10] != 'T' && b[10] != ' ' || len(b) < 13 {
		return isText, 0
	}
	h := two(b[11:])
	if h > 23 {
		return isText, 0
	}
	ms += h * hour
	if len(b) == 13 {
		return isPeriod, ms
	}
	b = b[13:]
	if b[0] != ':' || len(b) < 3 {
		return isText, 0
	}
	min := two(b[1:])
	if min > 59 {
		return isText, 0
	}
	ms += min * minute
	b = b[3:]
	if len(b) >= 3 && b[0] == ':' {
		s := two(b[1:])
		if s > 59 {
			return isText, 0
		}
		ms += s * second
		b = b[3:]
		if len(b) >= 2 && b[0] == '.' {
			unit, k := int64(100), 1
			for ; k < len(b) && b[k]-'0' <= 9; k++ {
				ms += int64(b[k]-'0') * unit
				unit /= 10
			}
			if k == 1 || k > 10 {
				return isText, 0
			}
			b = b[k:]
		}
	}
	offset, ok := zone(b)
	if !ok {
		return isText, 0
	}
	return isTimestamp, ms - offset
}

// zone reads nothing, Z, or an offset; it is in ms.
func zone(b []byte) (int64, bool) {
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

// clock is a time of day, 10:00:00 with or without a fraction.
func clock(b []byte) bool {
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
