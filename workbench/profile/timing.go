// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
)

// mostTimes is the share of a column's values that must be times for the column to be one of time.
// someTimes is enough if the user says that it is one.
const (
	mostTimes = 0.99
	someTimes = 0.5
)

// timing describes a column as a time; nil: it is none. The column's type, its order and its
// distinct values are known.
func (s *state) timing(c *Column, o Options, order datetime.Order) *Time {
	m := s.moments
	ints, unit := m.numbered()
	texts := s.count[isDate] + s.count[isTimestamp] + s.count[isPeriod] + s.count[isTimeuuid] + s.count[isWritten]
	all := float64(s.values - s.empty)
	need := mostTimes
	if o.EventTime == c.Name {
		need = someTimes
	}
	r := reader{order: order, written: s.count[isWritten] > 0, numbers: ints > 0}
	if s.literal() {
		r.numbers, r.literal, unit, ints = false, true, datetime.Millis, s.count[isInt]
	}
	clock := s.clock()
	switch {
	case texts+ints == 0 || float64(texts+ints) < need*all:
		return nil
	case texts == 0 && !r.literal && !s.believable(c, unit, o):
		return nil
	}
	t := &Time{
		Granularity: clock.finest, Resolution: clock.resolution(),
		First: time.UnixMilli(clock.min).UTC(), Last: time.UnixMilli(clock.max).UTC(),
		Hot: clock.hot.periods(min(clock.finest, Day)), reader: r,
	}
	if texts == 0 && unit == datetime.DateDigits && c.Distinct.Value < 2 { // that one day is the first of a month is chance
		t.Granularity = min(t.Granularity, Day)
	}
	if texts == 0 {
		t.Unit = unit
	}
	t.Sorts = s.sorts(c.Type, texts, ints)
	s.forms(t)
	return t
}

// literal reports whether a column was given as timestamps and its integers are not all times by
// their size. Then they are ms since 1970, as in CQL.
func (s *state) literal() bool {
	ints, _ := s.moments.numbered()
	return s.timestamps() && s.count[isInt] > 0 && float64(ints) < mostTimes*float64(s.count[isInt])
}

// clock returns the times of the column.
func (s *state) clock() *clock {
	if s.literal() && s.moments.literal.n >= s.moments.main.n {
		return &s.moments.literal
	}
	return s.moments.main
}

// sorts reports whether values, in their type, sort in the order of their times.
func (s *state) sorts(t *value.Type, texts, numbers int64) bool {
	m := s.moments
	switch t.Kind {
	case value.Timestamp, value.Date, value.Timeuuid, value.Time:
		return true
	case value.Text, value.Ascii:
		periods := s.count[isPeriod] + s.count[isDate] + s.count[isTimestamp]
		switch {
		case numbers > 0:
			return texts == 0 && m.oneUnit()
		case s.count[isWritten] == 0:
			return s.count[isTimestamp] == 0 // periods, and days among them
		}
		return periods == 0 && m.yearly && len(m.forms) == 1 && !m.more
	}
	return texts == 0 && m.oneUnit()
}

// oneUnit reports whether all numbers are of one unit.
func (m *moments) oneUnit() bool {
	n, most := m.numbered()
	return n == m.units[most]
}

// forms sets how values are written that CQL does not read as times, and what to store instead.
func (s *state) forms(t *Time) {
	m := s.moments
	forms := slices.Clone(m.forms)
	slices.SortStableFunc(forms, func(a, b form) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.example.seq, b.example.seq), cmp.Compare(a.example.line, b.example.line))
	})
	for _, f := range forms {
		v, _ := datetime.Parse([]byte(f.example.text))
		name := datetime.Describe([]byte(f.example.text), t.reader.order.MonthFirst(&v))
		if !slices.Contains(t.Forms, name) {
			t.Forms = append(t.Forms, name)
		}
	}
	if s.count[isWritten] > 0 {
		for k, name := range map[class]string{isDate: "yyyy-mm-dd", isTimestamp: "yyyy-mm-dd hh:mm:ss", isPeriod: "yyyy-mm"} {
			if s.count[k] > 0 {
				t.Forms = append(t.Forms, name)
			}
		}
		slices.Sort(t.Forms[len(forms):])
	}
	if t.Sorts {
		return
	}
	t.Store = "timestamp"
	if t.Granularity >= Day {
		t.Store = "date"
	}
	if len(forms) == 0 {
		return
	}
	t.Example = forms[0].example.text
	at := t.reader.text(&m.parser, []byte(t.Example))
	t.Stored = time.UnixMilli(at).UTC().Format(t.storedLayout())
}

// storedLayout returns the layout of the texts that Stored is an example of. They have one length, so that
// they sort as their times do where the store keeps times as texts.
func (t *Time) storedLayout() string {
	switch {
	case t.Store == "date":
		return time.DateOnly
	case t.Resolution < time.Second:
		return "2006-01-02T15:04:05.000Z07:00"
	}
	return time.RFC3339
}

// noted returns a note about anything odd in a column of time.
func (t *Time) noted() string {
	var list []string
	switch {
	case t.Sorts && t.Unit != datetime.NoUnit && t.Unit.Counts():
		list = append(list, t.Unit.String()+" since 1970")
	case t.Sorts && t.Unit != datetime.NoUnit:
		list = append(list, "times as "+t.Unit.String())
	case t.Sorts:
	case len(t.Forms) > 0:
		forms := strings.Join(t.Forms[:min(len(t.Forms), 3)], ", ")
		if len(t.Forms) > 3 {
			forms += fmt.Sprintf(" and %d other forms", len(t.Forms)-3)
		}
		list = append(list, fmt.Sprintf("times written %s, which do not sort as times do: store %s in place of %q, as a %s", forms, t.Stored, t.Example, t.Store))
	case t.Unit != datetime.NoUnit:
		list = append(list, "times in several units, which do not sort as times do: store a "+t.Store)
	default:
		list = append(list, "times in several forms, which do not sort as times do: store a "+t.Store)
	}
	if t.Doubt != "" {
		list = append(list, t.Doubt)
	}
	return strings.Join(list, "; ")
}

// doubted says why the order of day and month is not certain.
func doubted(column string, d reading) string {
	if d.doubt == datetime.Certain {
		return ""
	}
	text := fmt.Sprintf("03%c04%c2024", d.sign, d.sign)
	month, other, first := "April", "mdy", "the day"
	if d.order.MonthFirst(&datetime.Value{Sign: d.sign}) {
		month, other, first = "March", "dmy", "the month"
	}
	if d.doubt == datetime.Mixed {
		return fmt.Sprintf("some dates have the day first, and some the month: %s is read with %s first, as most are that tell", text, first)
	}
	return fmt.Sprintf("no date tells whether the day or the month is first: %s is taken to be in %s (--date-order %s=%s takes the other)", text, month, column, other)
}

// risingNumbers reports whether nearly every value is at least the one before it.
func (s *state) risingNumbers() bool {
	steps := float64(s.order.up + s.order.down + s.order.same)
	return steps > 0 && float64(s.order.up+s.order.same) >= 0.95*steps
}

// believable reports whether numbers that could be times are times, by their other properties.
func (s *state) believable(c *Column, unit datetime.Unit, o Options) bool {
	if o.EventTime == c.Name {
		return true
	}
	if s.given != nil && (s.given.Kind == value.Int || s.given.Kind == value.Bigint || s.given.Kind == value.Varint) {
		return false
	}
	steps := float64(s.order.up + s.order.down + s.order.same)
	rising := s.risingNumbers()
	sequence := steps > 0 && float64(s.order.one) >= 0.8*steps
	days := span(s.moments.main) / float64(day)
	switch {
	case !unit.Counts(): // digits: neither numbers by chance nor a sequence beyond its month are dates
		if c.Distinct.Value < 5 { // the data of a few days: next to no other numbers of eight digits are dates
			return unit == datetime.DateDigits && days < 31 && float64(s.values) >= 100*c.Distinct.Value
		}
		return !sequence || days > 31
	case unit == datetime.Nanos && s.moments.ids > s.moments.units[unit]/4: // Snowflake ids end in small numbers
		return false
	case unit == datetime.Days:
		// Numbers in the thousands could be anything. They are days only if they rise one after the
		// other, with many rows each.
		return rising && days < 30*365 && c.Distinct.Value >= 3 && float64(s.values) >= 10*c.Distinct.Value && c.Distinct.Value > days/2
	case sequence:
		return s.order.same > 0 // in a sequence, a number comes once
	case days > 20*365: // numbers by chance fill the whole range of possible times
		return rising
	}
	return true
}
