// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"time"

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

// load holds the writes per second.
type load struct {
	writes float64 // rows; 0: unknown
	insert float64 // of these, new rows
	from   Source
	why    string // the source in words
	ttl    float64
	twice  float64 // share of the writes that a store that bills requests writes twice
}

// traffic says what is written, and when.
type traffic struct {
	measures
	load  load
	pace  pace
	crowd *profile.Busiest // of all rows together

	cluster float64 // nodes that the present writes to one table need
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
		l.why = fmt.Sprintf("%s writes/s on average: column %s, to the %s", number(mean), s.time.Name, unitName(s.time.Moments().Granularity))
	}
	s.load = l
	s.cluster = s.nodesFor(1)
}

// paceLoad takes the rate of writes from the measurements over time, if the queries have no rate.
// It takes the rate since the last change.
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

// finest names the unit of the finest step of a column's times.
func finest(t *profile.Time) string {
	if t.Granularity != profile.Second {
		return unitName(t.Granularity)
	}
	switch {
	case t.Resolution < time.Microsecond:
		return "nanosecond"
	case t.Resolution < time.Millisecond:
		return "microsecond"
	case t.Resolution < time.Second:
		return "millisecond"
	}
	return "second"
}

// rateOf returns a query's rate, or UnratedPerSecond if it has none.
func rateOf(q *queries.Query) float64 {
	if q.Rate > 0 {
		return q.Rate
	}
	return UnratedPerSecond
}

// rated reports whether any query has a rate.
func rated(qs []queries.Query) bool {
	return slices.ContainsFunc(qs, func(q queries.Query) bool { return q.Rate > 0 })
}

func isFloat(c *profile.Column) bool {
	switch c.Type.Kind {
	case value.Float, value.Double, value.Decimal:
		return true
	}
	return false
}
