// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// facts are what is known before any key is measured: the options, the columns, the
// queries, and which column is the time of writing.
type facts struct {
	o     Options
	p     *profile.Profile
	qs    []queries.Query
	time  *profile.Column // of writing; nil where it is unknown
	fixed map[string]int  // columns that are updated, and the line that does
}

// inOrderOf are the columns of which queries want ranges or the order: times of these must
// be stored so that they sort, however the data write them.
func inOrderOf(qs []queries.Query) (columns []string) {
	for i := range qs {
		for _, r := range qs[i].Ranges {
			if !r.Prefix {
				columns = append(columns, r.Column)
			}
		}
		for _, o := range qs[i].Order {
			columns = append(columns, o.Column)
		}
	}
	return columns
}

// findTime chooses the column that says when a row was written, by its values and the
// queries: one in whose order the rows come, or that queries order or bound, as fine as
// there is. Of equals it is the earlier one, for what is due, ends or is changed comes
// later; but not one that goes back far longer, as birthdays do.
func (s *facts) findTime() error {
	switch s.o.EventTime {
	case NoEventTime:
		return nil
	case "":
	default:
		c := s.p.Column(s.o.EventTime)
		switch {
		case c == nil:
			return &NoColumn{Column: s.o.EventTime, Columns: s.columnNames()}
		case c.Time == nil:
			return fmt.Errorf("column %q is no time: it is %s, and fewer than half of its values are dates or count from 1970", c.Name, c.Type)
		}
		s.time = c
		return nil
	}
	best := 0.0
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		if c.Time == nil || c.Time.Granularity > profile.Day || c.Values < s.p.Rows*9/10 {
			continue
		}
		// The finer one of two tells more: birthdays and ends of validity are days, and
		// what writes rows knows the time.
		score := 0.75 * float64(profile.Day-c.Time.Granularity)
		if c.Order.Monotonic || c.Order.Ascending+c.Order.Same > 0.95 || c.Order.Descending+c.Order.Same > 0.95 {
			score += 2
		}
		if slices.ContainsFunc(s.qs, func(q queries.Query) bool {
			return q.Range(c.Name) != nil || slices.ContainsFunc(q.Order, func(o queries.Order) bool { return o.Column == c.Name })
		}) {
			score += 2
		}
		if score > 0 && (score > best || score == best && s.earlier(c)) {
			best, s.time = score, c
		}
	}
	return nil
}

// earlier says whether a column's times are before those of the one that is chosen: by their
// first ones, if they go on for about as long.
func (s *facts) earlier(c *profile.Column) bool {
	span := func(t *profile.Time) float64 { return t.Last.Sub(t.First).Seconds() }
	own, other := span(c.Time), span(s.time.Time)
	switch {
	case own > 4*other:
		return false
	case other > 4*own:
		return true
	}
	return c.Time.First.Before(s.time.Time.First)
}

// A NoColumn is an option's column that the data do not have.
type NoColumn struct {
	Column  string
	Columns []string
}

func (e *NoColumn) Error() string { return fmt.Sprintf("the data have no column %q", e.Column) }

func (s *facts) columnNames() []string {
	var names []string
	for i := range s.p.Columns {
		names = append(names, s.p.Columns[i].Name)
	}
	return names
}

// timeName is the event-time column's, "" where there is none.
func (s *facts) timeName() string {
	if s.time == nil {
		return ""
	}
	return s.time.Name
}

// isTime says whether a column is a point in time.
func (s *facts) isTime(column string) bool {
	c := s.p.Column(column)
	return c != nil && c.Time != nil
}

// sorts says whether a column's values are in the order of what they mean: times that are
// written 15.03.2024 are not, and no range of time can be read from them.
func (s *facts) sorts(column string) bool {
	c := s.p.Column(column)
	return c == nil || c.Time == nil || c.Time.Sorts
}

// keyable says whether a column can be in a primary key: of a type that may, with
// values, and not updated.
func (s *facts) keyable(column string) bool {
	c := s.p.Column(column)
	return c != nil && !c.Nested && c.Values > 0 && s.fixed[column] == 0
}

// idLike says whether a column is made to tell rows apart, by its type or its values.
func (s *facts) idLike(column string) bool {
	c := s.p.Column(column)
	if c == nil || c.Time != nil {
		return false
	}
	return c.Type.Kind == value.UUID || c.Type.Kind == value.Timeuuid || c.Order.Sequential
}

// span is how long the data's event time goes on, in seconds; 0 where it is unknown.
func (s *facts) span() float64 {
	if s.time == nil {
		return 0
	}
	return math.Max(0, s.time.Time.Last.Sub(s.time.Time.First).Seconds())
}

// partNames lists the names of a partition key's columns in the table.
func (s *facts) partNames(d *Design) []string {
	var out []string
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			out = append(out, s.bucketColumnOf(d).Name)
			continue
		}
		out = append(out, p.Column)
	}
	return out
}

func wholes(columns []string) []profile.Part {
	var out []profile.Part
	for _, c := range columns {
		out = append(out, profile.Part{Column: c})
	}
	return out
}
