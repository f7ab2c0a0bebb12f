// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/keys"
)

// UniformityReport judges an attribute, or a key, as DynamoDB's documentation does: does it spread
// the load evenly over partitions?
type UniformityReport struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"uniformity"`
	Why     string  `json:"why"`
	Rows    int64   `json:"rows"` // that have it
	Values  Figure  `json:"values"`
	Hottest Figure  `json:"hottest_share"` // share of the rows that has the most frequent value
}

// Verdict is Good, Bad or Unknown.
type Verdict string

// These are the verdicts.
const (
	Good    Verdict = "Good"
	Bad     Verdict = "Bad"
	Unknown Verdict = "unknown" // too few rows
)

// An attribute is bad if it has fewer than few values, with manyRows each. It is also bad if the
// most frequent value is popular: it has a large share of the rows, and many times the mean.
// fewRows are too few to tell.
const (
	few      = 24
	manyRows = 10
	fewRows  = 100
)

func popular(share, values float64) bool {
	times := share * values
	return share >= 0.02 && times >= 20 || share >= 0.1 && times >= 5 || share >= 0.3 && times >= 2.5
}

// attribute counts a column's values, and checks whether they are rounded times.
type attribute struct {
	name   string
	at     int // in a row's values
	rows   int64
	values *values
	times  int64
	finest datetime.Period
}

func newAttribute(name string, at, size int) *attribute {
	return &attribute{name: name, at: at, values: newValues(0, size), finest: datetime.Year}
}

// add counts the attribute's value in a row.
func (a *attribute) add(row *Row, p *datetime.Parser) {
	text := row.Values[a.at]
	if text == "" || row.Null != nil && row.Null[a.at] {
		return
	}
	a.rows++
	a.values.hash = partitioner.Hash([]byte(text))
	a.values.add(row.Bytes)
	if a.times+1 < a.rows || a.finest < datetime.Minute {
		return // some value is no time, or is not rounded
	}
	if to := roundedTo(p, text); to != datetime.Whole {
		a.times++
		a.finest = min(a.finest, to)
	}
}

// roundedTo returns the longest period that begins at a time, Second for every other time, and
// Whole for what is no time.
func roundedTo(p *datetime.Parser, text string) datetime.Period {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < 100_000 {
		return datetime.Whole // days since 1970 look like any other small number
	}
	unknown := datetime.OrderOf(false) // both orders give the same time of day
	ms, err := timeOf(p, &unknown, text)
	if err != nil {
		return datetime.Whole
	}
	to := datetime.Year
	for to > datetime.Second && to.Start(ms) != ms {
		to--
	}
	return to
}

// rounded returns the period to which the attribute's values are rounded; datetime.Whole: they are
// no times, or are not rounded.
func (a *attribute) rounded() datetime.Period {
	if a.rows > 0 && a.times == a.rows && a.finest >= datetime.Minute {
		return a.finest
	}
	return datetime.Whole
}

// moment counts a key's values without the parts that are the same for all that is written at a
// time: periods, rollovers, and columns that are rounded times. What is left is what tells apart the
// rows of a moment.
type moment struct {
	values *values
	parts  []slot
	times  []string // columns that are left out because of their first value
}

// newMoment returns nil if the current row's key has no part to leave out, or no second part.
func (s *Simulation) newMoment(k *key, size int) *moment {
	m := &moment{values: newValues(0, size)}
	for i := range k.parts {
		p := &k.parts[i]
		switch {
		case p.function.Period(), p.rollover != nil:
		case p.function == keys.Column && roundedTo(&s.parser, s.columns[p.column].text) >= datetime.Minute:
			m.times = append(m.times, s.columns[p.column].name)
		default:
			m.parts = append(m.parts, *p)
		}
	}
	if len(k.parts) == 1 || len(m.parts) == len(k.parts) {
		return nil
	}
	return m
}

// momentOf returns what is known of a key's values at a time; nil: the key has no part that is the
// same for all that is written at a time.
func (s *Simulation) momentOf(k *key) *ValuesReport {
	if k.moment == nil {
		return nil
	}
	for _, name := range k.moment.times {
		i := slices.IndexFunc(s.attributes, func(a *attribute) bool { return a.name == name })
		if i < 0 || s.attributes[i].rounded() == datetime.Whole {
			return nil
		}
	}
	r := k.moment.values.report(k.rows, Limit{})
	return &r
}

// uniformity judges the attributes, and the keys of several columns.
func (s *Simulation) uniformity(reports []KeyReport) (list []UniformityReport) {
	if len(s.o.Attributes) == 0 {
		return nil
	}
	for _, a := range s.attributes {
		list = append(list, judge(a.name, a.rows, a.values.report(a.rows, Limit{}), a.rounded()))
	}
	for i := range reports {
		k, of := &reports[i], s.keys[i]
		at := s.momentOf(of)
		switch p := of.parts[0]; {
		case at != nil:
			u := judge(k.Key, k.Rows, *at, datetime.Whole)
			u.Values, u.Hottest = k.Values.Count, shareOf(k.Values.Rows.Max, k.Rows)
			u.Why = "at any time, " + u.Why
			list = append(list, u)
		case len(of.parts) == 1 && p.function.Period():
			list = append(list, judge(k.Key, k.Rows, k.Values, p.period))
		case len(of.parts) > 1 || p.function != keys.Column:
			list = append(list, judge(k.Key, k.Rows, k.Values, datetime.Whole))
		}
	}
	return list
}

// shareOf returns the share of the rows that a number of them is.
func shareOf(f Figure, rows int64) Figure {
	all := float64(max(1, rows))
	return Figure{f.Value / all, f.Low / all, f.High / all}
}

// judge says how even an attribute is. rounded is the period to which its times are rounded.
func judge(name string, rows int64, v ValuesReport, rounded datetime.Period) UniformityReport {
	r := UniformityReport{Name: name, Rows: rows, Values: v.Count, Verdict: Bad, Hottest: shareOf(v.Rows.Max, rows)}
	n, hottest := v.Count.Value, r.Hottest.Value
	switch {
	case rows == 0:
		r.Verdict, r.Why = Unknown, "no row has a value"
	case n == 1 && rows >= fewRows:
		r.Why = "one value has all rows"
	case rounded != datetime.Whole && n < float64(rows):
		r.Why = fmt.Sprintf("a time rounded to the %s: all that is written at a time goes to one value", rounded)
	case rows < fewRows:
		r.Verdict, r.Why = Unknown, "too few rows to tell"
	case popular(hottest, n):
		r.Why = fmt.Sprintf("one value is far more popular than the others: %.0f times the mean", hottest*n)
	case n < few && float64(rows)/n >= manyRows:
		r.Why = "only a few possible values"
	default:
		r.Verdict, r.Why = Good, "many values, of similar popularity"
	}
	return r
}
