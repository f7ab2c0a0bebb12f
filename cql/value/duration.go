// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Span is a duration: months, days and nanoseconds, all with the same sign.
type Span struct {
	Months, Days int32
	Nanos        int64
}

// unit is a unit of a duration in text form. The units of a text must be in the order of rank.
type unit struct {
	symbol string // in lower case
	rank   int
	field  byte // 'm' months, 'd' days, 'n' nanoseconds
	size   int64
	plural string
}

// units has a longer symbol before its own prefix.
var units = []unit{
	{"mo", 2, 'm', 1, "months"},
	{"ms", 8, 'n', 1e6, "milliseconds"},
	{"us", 9, 'n', 1e3, "microseconds"},
	{"µs", 9, 'n', 1e3, "microseconds"},
	{"ns", 10, 'n', 1, "nanoseconds"},
	{"y", 1, 'm', 12, "years"},
	{"w", 3, 'd', 7, "weeks"},
	{"d", 4, 'd', 1, "days"},
	{"h", 5, 'n', 3600e9, "hours"},
	{"m", 6, 'n', 60e9, "minutes"},
	{"s", 7, 'n', 1e9, "seconds"},
}

// spanBuilder adds up a duration, one unit at a time.
type spanBuilder struct {
	months, days, nanos int64
	last                unit
}

func (b *spanBuilder) add(u unit, number string) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return fmt.Errorf("For input string: %q", number)
	}
	switch {
	case u.rank == b.last.rank:
		return fmt.Errorf("Invalid duration. The %s are specified multiple times", u.plural)
	case u.rank < b.last.rank:
		return fmt.Errorf("Invalid duration. The %s should be after %s", b.last.plural, u.plural)
	}
	b.last = u
	sum, limit, what := &b.nanos, int64(math.MaxInt64), "nanoseconds"
	switch u.field {
	case 'm':
		sum, limit, what = &b.months, math.MaxInt32, "months"
	case 'd':
		sum, limit, what = &b.days, math.MaxInt32, "days"
	}
	if n > (limit-*sum)/u.size {
		return fmt.Errorf("Invalid duration. The total number of %s must be less or equal to %d", what, math.MaxInt32)
	}
	*sum += n * u.size
	return nil
}

func (b *spanBuilder) span(negative bool) Span {
	s := Span{int32(b.months), int32(b.days), b.nanos}
	if negative {
		s = Span{-s.Months, -s.Days, -s.Nanos}
	}
	return s
}

var errSpan = errors.New("not a duration")

// ParseSpan parses a duration in any of CQL's forms: 1y2mo3w4d5h6m7s8ms9us10ns, P1Y2M3DT4H5M6S,
// P3W, P0001-02-03T04:05:06. Each may begin with a minus sign.
func ParseSpan(s string) (Span, error) {
	text, negative := strings.CutPrefix(s, "-")
	var b spanBuilder
	var err error
	switch {
	case text == "":
		err = errSpan
	case text[0] != 'P':
		err = b.standard(text)
	case text[len(text)-1] == 'W':
		if n, rest := leadingDigits(text[1:]); n != "" && rest == "W" {
			err = b.add(unit{"w", 3, 'd', 7, "weeks"}, n)
		} else {
			err = errSpan
		}
	case strings.Contains(text, "-"):
		err = b.alternative(text)
	default:
		err = b.iso(text[1:])
	}
	if err == errSpan {
		err = fmt.Errorf("Unable to convert '%s' to a duration", text)
	}
	if err != nil {
		return Span{}, err
	}
	return b.span(negative), nil
}

func leadingDigits(s string) (number, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

// part splits off a number and the unit after it.
func part(s string) (u unit, number, rest string, ok bool) {
	number, rest = leadingDigits(s)
	if number == "" {
		return
	}
	for _, u := range units {
		if len(rest) >= len(u.symbol) && strings.EqualFold(rest[:len(u.symbol)], u.symbol) && rest[0] != 0xce {
			return u, number, rest[len(u.symbol):], true
		}
	}
	return
}

func (b *spanBuilder) standard(s string) error {
	// The whole form is checked before the values.
	for rest := s; rest != ""; {
		var ok bool
		if _, _, rest, ok = part(rest); !ok {
			return errSpan
		}
	}
	for s != "" {
		u, number, rest, _ := part(s)
		if err := b.add(u, number); err != nil {
			return err
		}
		s = rest
	}
	return nil
}

// isoUnits are the units of P1Y2M3DT4H5M6S before and after the T.
var isoUnits = [2][3]unit{
	{{"Y", 1, 'm', 12, "years"}, {"M", 2, 'm', 1, "months"}, {"D", 4, 'd', 1, "days"}},
	{{"H", 5, 'n', 3600e9, "hours"}, {"M", 6, 'n', 60e9, "minutes"}, {"S", 7, 'n', 1e9, "seconds"}},
}

func (b *spanBuilder) iso(s string) error {
	date, time, _ := strings.Cut(s, "T")
	for half, s := range []string{date, time} {
		for _, u := range isoUnits[half] {
			n, rest := leadingDigits(s)
			if n == "" || !strings.HasPrefix(rest, u.symbol) {
				continue
			}
			if err := b.add(u, n); err != nil {
				return err
			}
			s = rest[1:]
		}
		if s != "" {
			return errSpan
		}
	}
	return nil
}

// alternative parses P0001-02-03T04:05:06.
func (b *spanBuilder) alternative(s string) error {
	const form = "Pdddd-dd-ddTdd:dd:dd"
	if len(s) != len(form) {
		return errSpan
	}
	for i := range len(form) {
		if form[i] == 'd' && (s[i] < '0' || s[i] > '9') || form[i] != 'd' && s[i] != form[i] {
			return errSpan
		}
	}
	for i, n := range []string{s[1:5], s[6:8], s[9:11], s[12:14], s[15:17], s[18:20]} {
		if err := b.add(isoUnits[i/3][i%3], n); err != nil {
			return err
		}
	}
	return nil
}

// SpanOf decodes a value of type duration.
func SpanOf(v []byte) (s Span, ok bool) {
	if validateDuration(v) != nil {
		return Span{}, false
	}
	var n [3]int64
	for i := range n {
		u, size := readVint(v)
		n[i], v = unzigzag(u), v[size:]
	}
	return Span{int32(n[0]), int32(n[1]), n[2]}, true
}

// Append appends the duration as a value: three zigzag vints.
func (s Span) Append(dst []byte) []byte {
	dst = appendVint(dst, zigzag(int64(s.Months)))
	dst = appendVint(dst, zigzag(int64(s.Days)))
	return appendVint(dst, zigzag(s.Nanos))
}

// String formats the duration as CQL does: 1y2mo3d4h5m6s7ms8us9ns; "" for the zero duration.
func (s Span) String() string {
	var dst []byte
	months, days, nanos := absolute(int64(s.Months)), absolute(int64(s.Days)), absolute(s.Nanos)
	if s.Months < 0 || s.Days < 0 || s.Nanos < 0 {
		dst = append(dst, '-')
	}
	put := func(rest *uint64, size uint64, symbol string) {
		if n := *rest / size; n > 0 {
			dst = append(strconv.AppendUint(dst, n, 10), symbol...)
			*rest %= size
		}
	}
	put(&months, 12, "y")
	put(&months, 1, "mo")
	put(&days, 1, "d")
	put(&nanos, 3600e9, "h")
	put(&nanos, 60e9, "m")
	put(&nanos, 1e9, "s")
	put(&nanos, 1e6, "ms")
	put(&nanos, 1e3, "us")
	put(&nanos, 1, "ns")
	return string(dst)
}

func absolute(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
