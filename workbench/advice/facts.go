// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// facts holds what is known before any key is measured: the options, the columns, the queries, and
// the column that holds the time of writing.
type facts struct {
	itemSizes
	o     Options
	p     *profile.Profile
	qs    []queries.Query
	time  *profile.Column // the time of writing; nil: unknown
	fixed map[string]int  // updated columns, with the line of the query that updates them
}

// inOrderOf returns the columns that queries order, or restrict to a range. A time in such a column
// must be stored so that it sorts, in whatever form the data have it.
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

// dropNumbers takes columns of numbers for no times if the queries use them as names only: they bind
// them by equality, and ask for no range and no order of them. Numbers of accounts or channels may be as
// large as seconds since 1970. The numbers of times would rise from row to row, or be whole minutes, hours
// or days.
func (s *facts) dropNumbers() {
	ordered := inOrderOf(s.qs)
	columns := slices.Clone(s.p.Columns)
	for i := range columns {
		c := &columns[i]
		if c.Time == nil || !c.Time.Unit.Counts() || c.Time.Granularity > profile.Second || rises(c) || c.Given || c.Name == s.o.EventTime {
			continue
		}
		if s.looksUp(c.Name) && !slices.Contains(ordered, c.Name) {
			c.Note = fmt.Sprintf("as large as %s since 1970, but queries ask for single values, and these do not rise from row to row: taken for names (--event-time %s takes them for times)", c.Time.Unit, c.Name)
			c.Time = nil
		}
	}
	own := *s.p
	own.Columns = columns
	s.p, s.itemSizes.p = &own, &own
}

// rises reports whether a column's values rise from row to row, or fall.
func rises(c *profile.Column) bool {
	return c.Order.Monotonic || c.Order.Ascending+c.Order.Same > 0.95 || c.Order.Descending+c.Order.Same > 0.95
}

// findTime chooses the column that says when a row was written, by its values and the queries. It
// prefers a column in whose order the rows come, or that queries order or bound, and the finest
// granularity. A column that a query updates does not say when a row was inserted. Of two equal ones it chooses the earlier, because the time at which something is
// due, ends or changes comes later. But it does not choose one that covers a far longer time, as
// birthdays do.
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
		case c.Moments() == nil:
			return fmt.Errorf("column %q is no time: it is %s, and fewer than half of its values are dates or count from 1970", c.Name, c.Type)
		}
		s.time = c
		return nil
	}
	s.findMoment()
	for i := range s.p.Columns { // only ids tell the time
		if c := &s.p.Columns[i]; s.time == nil && c.Made != nil && c.Made.Granularity <= profile.Day && ofEachRow(s.p, c) {
			s.time = c
		}
	}
	return nil
}

// ofEachRow reports whether nearly each row has an id of its own in a column. Then the time in an id is
// that of its row. An id that many rows share was made before most of them.
func ofEachRow(p *profile.Profile, c *profile.Column) bool {
	return c.Values >= p.Rows*9/10 && c.Distinct.High >= 0.9*float64(p.Rows)
}

// findMoment chooses a column of times.
func (s *facts) findMoment() {
	best := 0.0
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		if c.Time == nil || c.Time.Granularity > profile.Day || c.Values < s.p.Rows*9/10 || c.Type.Kind == value.Timeuuid && !ofEachRow(s.p, c) || s.fixed[c.Name] > 0 {
			continue
		}
		// The finer of two columns tells more: birthdays and ends of validity are days, but a
		// program that writes rows knows the time.
		score := 0.75 * float64(profile.Day-c.Time.Granularity)
		if rises(c) {
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
}

// earlier reports whether a column's times are before those of the chosen one. If one of the two
// covers more than four times the other's time, the shorter one counts as the earlier.
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

// NoColumn is the error for an option that names a column that the data do not have.
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

// timeName returns the name of the event-time column, or "".
func (s *facts) timeName() string {
	if s.time == nil {
		return ""
	}
	return s.time.Name
}

// isTime reports whether a column holds points in time.
func (s *facts) isTime(column string) bool {
	c := s.p.Column(column)
	return c != nil && c.Time != nil
}

// givesTime reports whether a column's values are points in time, or ids that begin with one.
func (s *facts) givesTime(column string) bool {
	c := s.p.Column(column)
	return c != nil && c.Moments() != nil
}

// sorts reports whether a column's values sort by their meaning. Times such as 15.03.2024 do not,
// and a query cannot read a range of time from them.
func (s *facts) sorts(column string) bool {
	c := s.p.Column(column)
	return c == nil || c.Moments() == nil || c.Moments().Sorts
}

// keyable reports whether a column can be in a primary key: it has values, is not nested, and no
// query updates it.
func (s *facts) keyable(column string) bool {
	c := s.p.Column(column)
	return c != nil && !c.Nested && c.Values > 0 && s.fixed[column] == 0
}

// idLike reports whether a column is made to tell rows apart, by its type or its values.
func (s *facts) idLike(column string) bool {
	c := s.p.Column(column)
	if c == nil || c.Time != nil {
		return false
	}
	return c.Type.Kind == value.UUID || c.Type.Kind == value.Timeuuid || c.Order.Sequential
}

// byLuck reports whether it is luck if a column's values are all different. This is so for measured values,
// addresses, paths and sentences, because nobody makes them unique. A path or a sentence by which a query
// looks rows up, such as a title, is a name, and names are made to be unique.
func (s *facts) byLuck(c *profile.Column) bool {
	switch c.Type.Kind {
	case value.Inet:
		return true
	case value.Text, value.Ascii:
		ends := c.Min + c.Max
		return (strings.HasPrefix(c.Min, "/") || strings.Contains(ends, "://") || strings.ContainsAny(ends, " \t\n")) && !s.looksUp(c.Name)
	}
	return isFloat(c)
}

// looksUp reports whether a query finds rows by a value of a column.
func (s *facts) looksUp(column string) bool {
	return slices.ContainsFunc(s.qs, func(q queries.Query) bool {
		return q.Verb != queries.Insert && slices.ContainsFunc(q.Equal, func(e queries.Bound) bool { return e.Column == column })
	})
}

// span returns the time that the data's event time covers, in seconds; 0 if it is unknown.
func (s *facts) span() float64 {
	if s.time == nil {
		return 0
	}
	t := s.time.Moments()
	return math.Max(0, t.Last.Sub(t.First).Seconds())
}

// partNames returns the names of a partition key's columns in the table.
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
