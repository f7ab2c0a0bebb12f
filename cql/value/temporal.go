// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // embeds the time zones, so that they are available on any machine
)

// day is the length of a day in milliseconds.
const day = 24 * 60 * 60 * 1000

// DaysFromCivil returns the number of days since 1970-01-01 in the proleptic Gregorian calendar. d
// may exceed the length of the month.
func DaysFromCivil(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// civilFromDays returns the date of a number of days: the inverse of DaysFromCivil.
func civilFromDays(days int64) (y, m, d int64) {
	days += 719468
	era := floorDiv(days, 146097)
	doe := days - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = doy - (153*mp+2)/5 + 1
	m = mp + 3
	if m > 12 {
		m -= 12
	}
	y = yoe + era*400
	if m <= 2 {
		y++
	}
	return y, m, d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// MonthLength returns the number of days of the month.
func MonthLength(y, m int64) int64 {
	switch m {
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// scanner parses a text from left to right.
type scanner struct{ s string }

func (c *scanner) literal(b byte) bool {
	if c.s == "" || c.s[0] != b {
		return false
	}
	c.s = c.s[1:]
	return true
}

// number reads a number of at least least and at most most digits.
func (c *scanner) number(least, most int) (n int64, ok bool) {
	digits, rest := leadingDigits(c.s)
	if len(digits) > most {
		digits, rest = digits[:most], c.s[most:]
	}
	if len(digits) < least {
		return 0, false
	}
	c.s = rest
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// date reads yyyy-mm-dd. A year of more than four digits has a sign.
func (c *scanner) date() (y, m, d int64, ok bool) {
	negative := c.literal('-')
	plus := !negative && c.literal('+')
	digits, _ := leadingDigits(c.s)
	if len(digits) < 4 || len(digits) > 10 || !negative && plus != (len(digits) > 4) {
		return
	}
	y, _ = c.number(4, 10)
	if negative {
		y = -y
	}
	if !c.literal('-') {
		return
	}
	if m, ok = c.number(2, 2); !ok || !c.literal('-') {
		return y, m, d, false
	}
	d, ok = c.number(2, 2)
	return y, m, d, ok && m >= 1 && m <= 12 && d >= 1 && d <= 31
}

// parseTimestamp parses a timestamp to milliseconds: an integer, or a date with or without a time
// and a zone. Without a zone it is UTC.
func parseTimestamp(s string) (int64, error) {
	if digits, rest := leadingDigits(strings.TrimPrefix(s, "-")); digits != "" && rest == "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("Unable to make long (for date) from: '%s'", s)
		}
		return n, nil
	}
	if ms, ok := scanTimestamp(s); ok {
		return ms, nil
	}
	return 0, fmt.Errorf("Unable to parse a date/time from '%s'", s)
}

func scanTimestamp(s string) (int64, bool) {
	c := scanner{s}
	y, m, d, ok := c.date()
	if !ok || y == 0 && s[0] == '-' {
		return 0, false
	}
	d = min(d, MonthLength(y, m)) // 2020-02-31 means the last day of the month
	var ms int64
	if len(c.s) > 1 && (c.s[0] == 'T' || c.s[0] == ' ') && c.s[1] >= '0' && c.s[1] <= '9' {
		c.s = c.s[1:]
		// With a time, the year must be between 1 and 9999.
		if ms, ok = c.clock(); !ok || y < 1 || y > 9999 {
			return 0, false
		}
	}
	if c.s != "" && c.s != "Z" && y < 1 {
		return 0, false
	}
	days := DaysFromCivil(y, m, d)
	if days < math.MinInt64/day || days > math.MaxInt64/day {
		return 0, false
	}
	local := days*day + ms
	offset, ok := zone(c.s, local)
	utc := local - offset
	return utc, ok && (utc > local) == (offset < 0)
}

// clock reads h:m[:s[.fraction]] as milliseconds. 24:00 is the end of the day.
func (c *scanner) clock() (ms int64, ok bool) {
	var h, m, s int64
	if h, ok = c.number(1, 2); !ok || !c.literal(':') {
		return 0, false
	}
	if m, ok = c.number(1, 2); !ok {
		return 0, false
	}
	if c.literal(':') {
		if s, ok = c.number(1, 2); !ok {
			return 0, false
		}
		if c.literal('.') {
			digits, _ := leadingDigits(c.s)
			if len(digits) > 9 {
				return 0, false
			}
			c.s = c.s[len(digits):]
			ms, _ = strconv.ParseInt((digits + "000")[:3], 10, 64)
		}
	}
	if h > 24 || m > 59 || s > 59 || h == 24 && (m > 0 || s > 0 || ms > 0) {
		return 0, false
	}
	return ((h*60+m)*60+s)*1000 + ms, true
}

// zone parses the text after a date or time: nothing (UTC), Z, +hh, +hhmm or +hh:mm, each
// optionally after a space, or a space and the name of a zone. It returns the zone's offset at a
// local time, in milliseconds.
func zone(s string, local int64) (int64, bool) {
	if s == "" || s == "Z" {
		return 0, true
	}
	name, spaced := strings.CutPrefix(s, " ")
	if spaced && (name == "Z" || name == "UTC" || name == "GMT" || name == "UT") {
		return 0, true
	}
	for _, prefix := range []string{"GMT", "UTC", "UT"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && spaced && rest != "" && (rest[0] == '+' || rest[0] == '-') {
			name = rest
			break
		}
	}
	if name == "" {
		return 0, false
	}
	if name[0] == '+' || name[0] == '-' {
		return offset(name)
	}
	if !spaced {
		return 0, false
	}
	if region, ok := abbreviations[name]; ok {
		name = region
	} else if !strings.Contains(name, "/") {
		return 0, false
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return 0, false
	}
	y, m, d := civilFromDays(floorDiv(local, day))
	rest := local - floorDiv(local, day)*day
	if y < -100_000 || y > 1_000_000 {
		return 0, false
	}
	sec := int(rest / 1000)
	_, seconds := time.Date(int(y), time.Month(m), int(d), sec/3600, sec/60%60, sec%60, 0, loc).Zone()
	return int64(seconds) * 1000, true
}

// abbreviations are the zone names of Java's English locale that mean only one zone, at any time of
// the year.
var abbreviations = map[string]string{
	"CET": "Europe/Paris", "CEST": "Europe/Paris", "EET": "Europe/Bucharest", "EEST": "Europe/Bucharest",
	"WET": "Europe/Lisbon", "WEST": "Europe/Lisbon", "MSK": "Europe/Moscow",
	"EST": "America/New_York", "EDT": "America/New_York", "MST": "America/Denver", "MDT": "America/Denver",
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
	"JST": "Asia/Tokyo", "KST": "Asia/Seoul",
}

// offset reads +hh, +hhmm or +hh:mm, up to 18 hours, as milliseconds.
func offset(s string) (int64, bool) {
	c := scanner{s[1:]}
	h, ok := c.number(2, 2)
	if !ok {
		return 0, false
	}
	var m int64
	if c.s != "" {
		c.literal(':')
		if m, ok = c.number(2, 2); !ok {
			return 0, false
		}
	}
	if c.s != "" || m > 59 || h*60+m > 18*60 {
		return 0, false
	}
	ms := (h*60 + m) * 60_000
	if s[0] == '-' {
		ms = -ms
	}
	return ms, true
}

// formatTimestamp appends yyyy-mm-dd, sep, hh:mm:ss.mmmZ. With era it writes the year of the era,
// as Cassandra does in JSON: years before the year 1 then look like years after it.
func formatTimestamp(dst []byte, ms int64, sep byte, era bool) []byte {
	days := floorDiv(ms, day)
	y, m, d := civilFromDays(days)
	if era && y <= 0 {
		y = 1 - y
	}
	dst = appendDate(dst, y, m, d)
	dst = append(dst, sep)
	rest := ms - days*day
	dst = appendPadded(dst, rest/3600_000, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, rest/60_000%60, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, rest/1000%60, 2)
	dst = append(dst, '.')
	dst = appendPadded(dst, rest%1000, 3)
	return append(dst, 'Z')
}

func appendDate(dst []byte, y, m, d int64) []byte {
	switch {
	case y > 9999:
		dst = append(dst, '+')
	case y < 0:
		dst = append(dst, '-')
		y = -y
	}
	dst = append(appendPadded(dst, y, 4), '-')
	dst = append(appendPadded(dst, m, 2), '-')
	return appendPadded(dst, d, 2)
}

func appendPadded(dst []byte, n int64, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], n, 10)
	for i := len(digits); i < width; i++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// epoch is 1970-01-01 as a value of type date, whose days are counted from 2^31 days before it.
const epoch = 1 << 31

// parseDate parses a value of type date: an unsigned integer, or yyyy-mm-dd.
func parseDate(s string) (uint32, error) {
	if digits, rest := leadingDigits(strings.TrimPrefix(s, "-")); digits != "" && rest == "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || n > math.MaxUint32 {
			return 0, fmt.Errorf("Unable to make unsigned int (for date) from: '%s'", s)
		}
		return uint32(n), nil
	}
	c := scanner{s}
	y, m, d, ok := c.date()
	if !ok || c.s != "" || d > MonthLength(y, m) || y < -999_999_999 || y > 999_999_999 || y == 0 && s[0] == '-' {
		return 0, fmt.Errorf("Unable to coerce '%s' to a formatted date (long)", s)
	}
	days := DaysFromCivil(y, m, d)
	if days < math.MinInt64/day || days > math.MaxInt64/day {
		return 0, fmt.Errorf("Unable to coerce '%s' to a formatted date (long)", s)
	}
	n := days + epoch
	if n < 0 {
		return 0, fmt.Errorf("Input date %s is less than min supported date -5877641-06-23T00:00Z", s)
	}
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("Input date %s is greater than max supported date +5881580-07-11T00:00Z", s)
	}
	return uint32(n), nil
}

func formatDate(dst []byte, n uint32) []byte {
	y, m, d := civilFromDays(int64(n) - epoch)
	return appendDate(dst, y, m, d)
}

// dayNanos is the length of a day in nanoseconds.
const dayNanos = 24 * int64(time.Hour)

// parseTime parses a time of day to nanoseconds: an integer, or h:m:s[.fraction].
func parseTime(s string) (int64, error) {
	if digits, rest := leadingDigits(strings.TrimPrefix(s, "-")); digits != "" && rest == "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || n >= dayNanos {
			return 0, fmt.Errorf("Unable to make long (for time) from: '%s'", s)
		}
		return n, nil
	}
	parts := strings.SplitN(s, ":", 3)
	var n int64
	ok := len(parts) == 3
	if ok {
		seconds, fraction, point := strings.Cut(parts[2], ".")
		for i, limit := range []int64{23, 59, 59} {
			text := seconds
			if i < 2 {
				text = parts[i]
			}
			v, err := strconv.ParseInt(text, 10, 64) // a sign is allowed, as in Java
			ok = ok && err == nil && v >= 0 && v <= limit
			n = n*60 + v
		}
		digits, rest := leadingDigits(fraction)
		ok = ok && rest == "" && len(digits) <= 9 && point == (digits != "")
		if ok {
			nanos, _ := strconv.ParseInt((digits + "000000000")[:9], 10, 64)
			n = n*1e9 + nanos
		}
	}
	if !ok {
		return 0, fmt.Errorf("(TimeType) Unable to coerce '%s' to a formatted time (long)", s)
	}
	return n, nil
}

// formatTime appends hh:mm:ss.nnnnnnnnn.
func formatTime(dst []byte, n int64) []byte {
	dst = append(appendPadded(dst, n/3600e9%24, 2), ':')
	dst = append(appendPadded(dst, n/60e9%60, 2), ':')
	dst = append(appendPadded(dst, n/1e9%60, 2), '.')
	return appendPadded(dst, n%1e9, 9)
}
