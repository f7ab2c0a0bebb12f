// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// moments holds what is known about a column's values as times: those that CQL reads, those that
// people write, and numbers.
type moments struct {
	parser datetime.Parser
	tally  datetime.Tally
	units  [datetime.Units]int64 // numbers, by the unit that they count
	ids    int64                 // of the nanoseconds, those that look like Snowflake ids

	forms  []form // the first few forms in which people write times
	more   bool   // there are other forms
	yearly bool   // every time that people wrote begins with the year, then finer units

	// main reads dates with the day first if a date leaves the order open. other reads them with
	// the month first; it exists once a date has left the order open. If an order is given, there
	// is only main.
	main, other *clock
	order       *datetime.Order
	// literal is for a column that was given as timestamps: it reads integers as CQL does, in ms.
	literal clock

	// texts and numbers say what the present batch may hold: texts that may be times, and numbers.
	texts, numbers bool
}

// form is a way of writing times.
type form struct {
	id      uint64
	rows    int64
	example example
}

const mostForms = 8

func newMoments(order *datetime.Order) *moments {
	return &moments{yearly: true, main: newClock(), order: order, literal: *newClock()}
}

// probes is the number of values of a batch that probe looks at.
const probes = 16

// probe looks at some values of a batch. It has texts read as times if one of them is a time, and
// numbers if most are.
func (m *moments) probe(v *rows.Vector, n int) {
	m.texts, m.numbers = false, false
	ints, times := 0, 0
	for k := range min(n, probes) {
		i := k
		if n > probes { // at mixed places, so that no pattern of the rows hides a kind of value
			i = int(mixed(uint64(k)) % uint64(n))
		}
		switch {
		case v.Null(i):
			continue
		case v.Kind == rows.Ints:
			ints++
			if _, unit := datetime.OfInt(v.Ints[i]); unit != datetime.NoUnit {
				times++
			}
			continue
		case v.Kind == rows.Floats:
			ints++
			if _, _, unit := datetime.OfFloat(v.Floats[i]); unit != datetime.NoUnit {
				times++
			}
			continue
		case v.Kind != rows.Text || v.Spans[i].Nested():
			continue
		}
		text := v.Bytes(i)
		switch c, k := classify(text); c {
		case isText:
			if !m.texts {
				_, m.texts = m.parser.Parse(text)
			}
		case isInt:
			ints++
			if _, unit := datetime.OfInt(k); unit != datetime.NoUnit {
				times++
			}
		case isDecimal, isDouble:
			ints++
			if f, ok := decimal(text); ok {
				if _, _, unit := datetime.OfFloat(f); unit != datetime.NoUnit {
					times++
				}
			}
		}
	}
	m.numbers = times > 0 && times >= ints*3/4
}

// number takes an integer that may be a time.
func (m *moments) number(n int64) (ms int64, ok bool) {
	ms, unit := datetime.OfInt(n)
	if unit == datetime.NoUnit {
		return 0, false
	}
	m.units[unit]++
	if unit == datetime.Nanos && n&0xfff < 4 && n%1000 != 0 {
		m.ids++
	}
	m.main.add(ms, unit.Beyond(n))
	return ms, true
}

// float takes a number with a fraction that may be a time.
func (m *moments) float(f float64) {
	if ms, nanos, unit := datetime.OfFloat(f); unit != datetime.NoUnit {
		m.units[unit]++
		m.main.add(ms, nanos)
	}
}

// add takes a value that is certainly a time.
func (m *moments) add(ms int64, nanos int32) {
	m.main.add(ms, nanos)
	if m.other != nil {
		m.other.add(ms, nanos)
	}
}

// written takes a text as people write times. ms is its time with the day first, other its time
// with the month first.
func (m *moments) written(text []byte, at func() example) (ms, other int64, ok bool) {
	v, ok := m.parser.Parse(text)
	if !ok {
		return 0, 0, false
	}
	m.tally.Add(&v)
	m.yearly = m.yearly && v.Yearly
	m.count(v.Layout, at)
	if m.order != nil {
		ms = v.At(m.order)
		m.main.add(ms, v.Nanos)
		return ms, ms, true
	}
	if v.Ms != v.Other && m.other == nil {
		m.other = m.main.clone()
	}
	m.main.add(v.Ms, v.Nanos)
	if m.other != nil {
		m.other.add(v.Other, v.Nanos)
	}
	return v.Ms, v.Other, true
}

func (m *moments) count(id uint64, at func() example) {
	for i := range m.forms {
		if m.forms[i].id == id {
			m.forms[i].rows++
			return
		}
	}
	if len(m.forms) == mostForms {
		m.more = true
		return
	}
	m.forms = append(m.forms, form{id, 1, at()})
}

func (m *moments) merge(o *moments) {
	m.tally.Merge(&o.tally)
	for i, n := range o.units {
		m.units[i] += n
	}
	m.ids += o.ids
	m.yearly, m.more = m.yearly && o.yearly, m.more || o.more
	for _, l := range o.forms {
		known := false
		for i := range m.forms {
			if m.forms[i].id == l.id {
				m.forms[i].rows += l.rows
				if l.example.before(&m.forms[i].example) {
					m.forms[i].example = l.example
				}
				known = true
			}
		}
		switch {
		case known:
		case len(m.forms) < mostForms:
			m.forms = append(m.forms, l)
		default:
			m.more = true
		}
	}
	if o.other != nil && m.other == nil {
		m.other = m.main.clone()
	}
	switch {
	case o.other != nil:
		m.other.merge(o.other)
	case m.other != nil:
		m.other.merge(o.main)
	}
	m.main.merge(o.main)
	m.literal.merge(&o.literal)
}

// numbered returns how many values are numbers that may be times, and their most frequent unit.
func (m *moments) numbered() (n int64, most datetime.Unit) {
	for u := datetime.Days; u < datetime.Units; u++ {
		n += m.units[u]
		if m.units[u] > m.units[most] {
			most = u
		}
	}
	return n, most
}

// reading says how to read numeric dates.
type reading struct {
	order datetime.Order
	doubt datetime.Doubt
	sign  byte // the sign between the numbers that are in doubt
	// flipped says that the right times are those with the month first. again says that neither
	// reading is right: dates with one sign have the day first, dates with another sign the month.
	flipped, again bool
}

// settle chooses between the two readings of numeric dates.
func (m *moments) settle() (d reading) {
	narrower := 0
	if m.other != nil {
		a, b := span(m.main), span(m.other)
		switch {
		case a > b:
			narrower = 1
		case a < b:
			narrower = -1
		}
	}
	d.order, d.doubt, d.sign = m.tally.Order(narrower)
	if m.order != nil {
		return reading{order: *m.order}
	}
	same, monthFirst := m.tally.Uniform(&d.order)
	if d.again = !same; same && monthFirst && m.other != nil {
		m.main, m.other, d.flipped = m.other, nil, true
	}
	return d
}

// reads reports whether a text is a date or a timestamp as people write it.
func (m *moments) reads(t *value.Type, text []byte) bool {
	if t.Kind != value.Timestamp && t.Kind != value.Date {
		return false
	}
	v, ok := m.parser.Parse(text)
	return ok && !v.Monthly && (t.Kind == value.Timestamp || !v.Clock)
}

func span(c *clock) float64 { return math.Max(0, float64(c.max)-float64(c.min)) }
