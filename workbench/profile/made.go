// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/timeid"
)

// made holds what is known about a column's values as ids that begin with the time at which they
// were made.
type made struct {
	kind  timeid.Kind // of the present batch's texts; None: they are no ids
	large bool        // the present batch's numbers may be ids

	count   [timeid.Kinds]int64
	clock   *clock          // of texts; nil before the first
	numbers *timeid.Numbers // nil before the first
}

// begin looks at some values of a batch.
func (m *made) begin(v *rows.Vector, n int) {
	m.kind, m.large = timeid.None, false
	texts, ints, large := 0, 0, 0
	for k := range min(n, probes) {
		i := k
		if n > probes {
			i = int(mixed(uint64(k)) % uint64(n))
		}
		switch {
		case v.Null(i):
		case v.Kind == rows.Ints:
			ints++
			large += int(boolTo(v.Ints[i] >= timeid.Least))
		case (v.Kind == rows.Text || v.Kind == rows.Binary) && !v.Spans[i].Nested():
			b := v.Bytes(i)
			if c, number := isText, int64(0); v.Kind == rows.Text && len(b) > 14 && len(b) < 20 {
				if c, number = classify(b); c == isInt {
					ints++
					large += int(boolTo(number >= timeid.Least))
					continue
				}
			}
			kind := idOf(v, b)
			if texts++; kind == timeid.None || m.kind != timeid.None && m.kind != kind {
				return
			}
			m.kind = kind
		}
	}
	m.large = texts == 0 && large > 0 && large >= ints*3/4
}

// idOf returns the kind of a text, or of the 16 bytes of a UUID.
func idOf(v *rows.Vector, b []byte) timeid.Kind {
	if v.Kind == rows.Binary {
		return timeid.KindOfUUID(b)
	}
	return timeid.KindOf(b)
}

// text takes a text, if the batch's texts are ids.
func (m *made) text(b []byte) {
	if m.kind == timeid.None {
		return
	}
	if ms, ok := m.kind.Time(b); ok {
		m.add(ms)
	}
}

// uuid takes the 16 bytes of a UUID.
func (m *made) uuid(b []byte) {
	if m.kind == timeid.None {
		return
	}
	if ms, ok := m.kind.TimeOfUUID(b); ok {
		m.add(ms)
	}
}

func (m *made) add(ms int64) {
	if m.clock == nil {
		m.clock = newClock()
	}
	m.count[m.kind]++
	m.clock.add(ms, 0)
}

// number takes an integer.
func (m *made) number(n int64) {
	if !m.large || n < timeid.Least {
		return
	}
	if m.numbers == nil {
		m.numbers = &timeid.Numbers{}
	}
	m.numbers.Add(n)
}

func (m *made) merge(o *made) {
	for i, n := range o.count {
		m.count[i] += n
	}
	switch {
	case o.clock == nil:
	case m.clock == nil:
		m.clock = o.clock
	default:
		m.clock.merge(o.clock)
	}
	switch {
	case o.numbers == nil:
	case m.numbers == nil:
		m.numbers = o.numbers
	default:
		m.numbers.Merge(o.numbers)
	}
}

// fewestIds is how many values a column must have at least to count as a column of ids with a time.
const fewestIds = 16

// ids describes a column of texts as ids that begin with their time; nil: they do not.
func (s *state) ids() *Time {
	m := &s.made
	all := s.values - s.empty
	if m.clock == nil || all < fewestIds || m.clock.min == m.clock.max {
		return nil
	}
	for k, n := range m.count {
		kind := timeid.Kind(k)
		if kind == timeid.None || float64(n) < mostTimes*float64(all) {
			continue
		}
		return &Time{
			Granularity: m.clock.finest, Resolution: time.Duration(kind.Step()) * time.Millisecond,
			First: time.UnixMilli(m.clock.min).UTC(), Last: time.UnixMilli(m.clock.max).UTC(),
			Hot: m.clock.hot.periods(min(m.clock.finest, Day)), Sorts: true, ID: kind.String(), Where: kind.Where(), reader: reader{id: kind},
		}
	}
	return nil
}

// mostGaps is the greatest share of its numbers that a sequence leaves out.
const mostGaps = 0.9

// findNumbers finds columns of numbers that could be times by their size, but are not: they rise
// from row to row, as the times of another column do, at another pace and at another time, and
// leave out few numbers. A file may begin in the middle of a sequence whose numbers are as large as
// seconds since 1970.
func (p *Profile) findNumbers() {
	rising := func(c *Column) bool {
		return c.Time != nil && c.Order.Monotonic && c.Order.Ascending >= c.Order.Descending && c.Values-c.Empty >= fewestIds
	}
	for i := range p.Columns {
		c := &p.Columns[i]
		if !rising(c) || !c.Time.Unit.Counts() || !c.strict || c.Given || c.Order.Gaps > mostGaps {
			continue
		}
		for j := range p.Columns {
			o := &p.Columns[j]
			if !rising(o) || o.Time.Unit != datetime.NoUnit || o.Distinct.Value < 3 {
				continue
			}
			own, other := c.Time.Last.Sub(c.Time.First), o.Time.Last.Sub(o.Time.First)
			if (own > 2*other || other > 2*own) && (c.Time.First.After(o.Time.Last.Add(own+other)) || o.Time.First.After(c.Time.Last.Add(own+other))) {
				c.Note = fmt.Sprintf("integers that rise from row to row; no %s since 1970, for %s rises otherwise", c.Time.Unit, o.Name)
				c.Time = nil
				break
			}
		}
	}
}

// findDays describes columns of numbers as days since 1970 if another column of time has the same
// first and last day. Without that, numbers in the thousands are days only if they rise.
func (p *Profile) findDays(states map[string]*state) {
	for i := range p.Columns {
		c := &p.Columns[i]
		s := states[c.Name]
		n, unit := s.moments.numbered()
		if c.Time != nil || s.given != nil || unit != datetime.Days || float64(n) < mostTimes*float64(s.values-s.empty) || c.Distinct.Value < 3 {
			continue
		}
		clock := s.clock()
		for j := range p.Columns {
			t := p.Columns[j].Time
			if t == nil || t.Granularity >= Day || Day.Start(t.First.UnixMilli()) != clock.min || Day.Start(t.Last.UnixMilli()) != clock.max {
				continue
			}
			if c.Time = s.timing(c, Options{EventTime: c.Name}, datetime.Order{}); c.Time != nil && c.Note == "" {
				c.Note = c.Time.noted()
			}
			break
		}
		if days := span(s.moments.main) / float64(day); c.Time == nil && c.Note == "" && s.risingNumbers() && s.order.same > 0 && days < 30*365 && c.Distinct.Value > days/2 {
			c.MaybeDays = true
			c.Note = fmt.Sprintf("could be days since 1970, %s to %s, but other numbers rise like that, too: not taken for a time without --event-time %s",
				time.UnixMilli(clock.min).UTC().Format(time.DateOnly), time.UnixMilli(clock.max).UTC().Format(time.DateOnly), c.Name)
		}
	}
}

// findNumbered describes columns of Snowflake numbers as ids that begin with their time. The times
// of the other columns show which bits of these numbers are the time; otherwise their form does.
func (p *Profile) findNumbered(states map[string]*state) {
	for i := range p.Columns {
		c := &p.Columns[i]
		m := &states[c.Name].made
		if m.numbers == nil || c.Values < fewestIds || float64(m.numbers.N) < mostTimes*float64(c.Values-c.Empty) || states[c.Name].given != nil && c.Type.Kind == value.Timestamp {
			continue
		}
		var spans []timeid.Span
		for j := range p.Columns {
			if t := p.Columns[j].Time; j != i && t != nil && t.Granularity < Day {
				spans = append(spans, timeid.Span{First: t.First.UnixMilli(), Last: t.Last.UnixMilli()})
			}
		}
		l, ok := m.numbers.Layout(spans)
		if !ok {
			continue
		}
		c.Made = &Time{
			Granularity: Second, Resolution: time.Duration(l.Step) * time.Millisecond, Sorts: c.Type.Kind != value.Text || len(c.Min) == len(c.Max),
			First: time.UnixMilli(l.Time(m.numbers.Min)).UTC(), Last: time.UnixMilli(l.Time(m.numbers.Max)).UTC(),
			ID: "a Snowflake number", Where: l.Where(), reader: reader{flake: l},
		}
		if c.Time != nil { // read as nanoseconds since 1970
			c.Time, c.Note = nil, ""
		}
	}
}

// madeNote says what a column's ids are.
func (c *Column) madeNote() string {
	return fmt.Sprintf("each value is %s: %s", c.Made.ID, c.Made.Where)
}

// At reads a value as this column's values are read. ok is false if it has no time.
func (t *Time) At(text string) (at time.Time, ok bool) {
	ms := t.reader.text(&datetime.Parser{}, []byte(text))
	return time.UnixMilli(ms).UTC(), ms != noTime
}

// Moments returns the times of a column: those that its values are, or those in its ids; nil: it
// has none.
func (c *Column) Moments() *Time {
	if c.Time != nil {
		return c.Time
	}
	return c.Made
}

func boolTo(b bool) int {
	if b {
		return 1
	}
	return 0
}
