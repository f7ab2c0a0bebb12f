// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Source says where a figure of heat comes from.
type Source string

const (
	FromQueries Source = "the rates in the queries"
	FromTime    Source = "the column of time"
	Unknown     Source = "unknown"
)

// load is what is written in a second.
type load struct {
	writes float64 // rows; 0 where it is unknown
	insert float64 // of these, new rows
	from   Source
	why    string // the source in words
	ttl    float64
}

// traffic is what is written, and when.
type traffic struct {
	measures
	load  load
	pace  pace
	crowd *profile.Busiest // of all rows together
}

func (s *traffic) findLoad() {
	l := load{from: Unknown, why: "unknown: no INSERT with a rate in the queries, and no column says when rows were written"}
	for i := range s.qs {
		q := &s.qs[i]
		if !q.Writes() || q.Rate == 0 {
			continue
		}
		l.writes += q.Rate
		if q.Verb == queries.Insert {
			l.insert += q.Rate
		}
		l.from = FromQueries
	}
	for i := range s.qs {
		if q := &s.qs[i]; q.Verb == queries.Insert && q.TTL > 0 {
			l.ttl = max(l.ttl, float64(q.TTL))
		}
	}
	switch {
	case l.from == FromQueries:
		l.why = fmt.Sprintf("%s writes/s: %s; which keys they go to is taken from the rows", number(l.writes), FromQueries)
	case s.span() > 0 && s.time.Values > 1:
		mean := float64(s.time.Values) / s.span()
		l.writes, l.insert, l.from = mean, mean, FromTime
		l.why = fmt.Sprintf("%s writes/s on average: column %s, to the %s", number(mean), s.time.Name, unitName(s.time.Time.Granularity))
	}
	s.load = l
}

// paceLoad takes the rate of writes from what was measured over time, where the queries
// say none: that since it changed.
func (s *traffic) paceLoad() {
	if s.load.from != FromTime || !s.pace.known || s.pace.from.IsZero() {
		return
	}
	s.load.writes, s.load.insert = s.pace.base, s.pace.base
	s.load.why = fmt.Sprintf("%s writes/s since %s, %s times as many as before: column %s", number(s.pace.base), minutes(s.pace.from), number(s.pace.times), s.time.Name)
}

func unitName(g profile.Granularity) string {
	if g == profile.Whole {
		return "value"
	}
	return g.String()
}

// rate is a query's weight, and whether it was given.
func rateOf(q *queries.Query) float64 {
	if q.Rate > 0 {
		return q.Rate
	}
	return UnratedPerSecond
}

// rated says whether any query says its rate.
func (s *facts) rated() bool {
	for i := range s.qs {
		if s.qs[i].Rate > 0 {
			return true
		}
	}
	return false
}

func isFloat(c *profile.Column) bool {
	switch c.Type.Kind {
	case value.Float, value.Double, value.Decimal:
		return true
	}
	return false
}

// itemBytes is a row as a store that bills requests sees it: names and values of
// all columns (DynamoDB), or values with metadata (Keyspaces).
func (s *facts) itemBytes() float64 {
	total := 0.0
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		present := float64(c.Values) / float64(s.p.Rows)
		switch s.o.Target {
		case DynamoDB:
			total += present * (float64(len(c.Name)) + c.MeanBytes + 1)
		default:
			total += present * (c.MeanBytes + 4)
		}
	}
	if s.o.Target == Keyspaces {
		total += 100 // of each row ("Estimate row size in Amazon Keyspaces")
	}
	return total
}
