// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/datetime"
)

// UniformityReport judges an attribute, or a key, as DynamoDB's documentation does: does it spread
// the load evenly over partitions?
type UniformityReport struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"uniformity"`
	Why     string  `json:"why"`
	Rows    int64   `json:"rows"` // that have it
	Values  Figure  `json:"values"`
	Hottest float64 `json:"hottest_share"` // share of the rows that has the most frequent value
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
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < 100_000 {
		return // days since 1970 look like any other small number
	}
	unknown := datetime.OrderOf(false) // both orders give the same time of day
	if ms, err := timeOf(p, &unknown, text); err == nil {
		a.times++
		for a.finest > datetime.Second && a.finest.Start(ms) != ms {
			a.finest--
		}
	}
}

// uniformity judges the attributes, and the keys of several columns.
func (s *Simulation) uniformity(keys []KeyReport) (list []UniformityReport) {
	if len(s.o.Attributes) == 0 {
		return nil
	}
	for _, a := range s.attributes {
		rounded := datetime.Whole
		if a.rows > 0 && a.times == a.rows && a.finest >= datetime.Minute {
			rounded = a.finest
		}
		list = append(list, judge(a.name, a.rows, a.values.report(a.rows, Limit{}), rounded))
	}
	for i := range keys {
		if k := &keys[i]; len(s.keys[i].parts) > 1 || len(s.o.Keys[i].Expr.Columns()) == 0 || s.keys[i].parts[0].computed != nil {
			list = append(list, judge(k.Key, k.Rows, k.Values, datetime.Whole))
		} else if p := s.keys[i].parts[0]; p.function.Period() {
			list = append(list, judge(k.Key, k.Rows, k.Values, p.period))
		}
	}
	return list
}

// judge says how even an attribute is. rounded is the period to which its times are rounded.
func judge(name string, rows int64, v ValuesReport, rounded datetime.Period) UniformityReport {
	r := UniformityReport{Name: name, Rows: rows, Values: v.Count, Verdict: Bad}
	if rows > 0 {
		r.Hottest = v.Rows.Max.Value / float64(rows)
	}
	n := v.Count.Value
	switch {
	case rows == 0:
		r.Verdict, r.Why = Unknown, "no row has a value"
	case n == 1 && rows >= fewRows:
		r.Why = "one value has all rows"
	case rounded != datetime.Whole && n < float64(rows):
		r.Why = fmt.Sprintf("a time rounded to the %s: all that is written at a time goes to one value", rounded)
	case rows < fewRows:
		r.Verdict, r.Why = Unknown, "too few rows to tell"
	case popular(r.Hottest, n):
		r.Why = fmt.Sprintf("one value is far more popular than the others: %.0f times the mean", r.Hottest*n)
	case n < few && float64(rows)/n >= manyRows:
		r.Why = "only a few possible values"
	default:
		r.Verdict, r.Why = Good, "many values, of similar popularity"
	}
	return r
}
