// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Options says what the data and the queries do not.
type Options struct {
	Target Target // Cassandra where it is ""
	Table  string // name or keyspace.name; "": that of the queries, else of the data

	// EventTime is the column that says when a row was written; "": the most likely
	// one, NoEventTime: none.
	EventTime string

	NodeWrites float64      // writes a second that a node bears; 0: the constant NodeWrites
	Prices     *prices.List // nil: no money
	LocalIndex bool         // DynamoDB: the table has a local secondary index, so that a key ends at 10 GB
}

// NoEventTime is the Options.EventTime of data without one.
const NoEventTime = "none"

// Study is one table's. It is for one goroutine.
type Study struct {
	o     Options
	p     *profile.Profile
	qs    []queries.Query
	time  *profile.Column // of writing; nil where it is unknown
	ids   [][]string      // sets of columns that may tell rows apart, best first
	tells [][]string      // those that do
	fixed map[string]int  // columns that are updated, and the line that does

	round    int
	asked    []ask
	measured map[string]*profile.Measured // by Design.id
	natural  []*Design                    // of the first round
	designs  []*Design                    // that are ranked
	listed   []*Design                    // of the last report, in its order
	bare     []*Design                    // as the queries have them, where they lose rows
	load     load
	pace     pace
	crowd    *profile.Busiest // of all rows together

	alone bool               // only some of the queries are looked at: no further tables
	best  map[string]*Design // for some of the queries
}

// ask is a candidate that Next gave, and what for.
type ask struct {
	design *Design
	ids    []string // not nil: whether these columns tell rows apart
}

// New prepares a study. The queries' columns must be those of the data
// (queries.Resolve).
func New(p *profile.Profile, qs []queries.Query, o Options) (*Study, error) {
	if o.Target == "" {
		o.Target = Cassandra
	}
	if o.NodeWrites == 0 {
		o.NodeWrites = NodeWrites
	}
	s := &Study{o: o, p: p, qs: qs, measured: make(map[string]*profile.Measured), fixed: make(map[string]int), best: make(map[string]*Design)}
	if p.Rows == 0 {
		return nil, fmt.Errorf("%s: has no rows to judge by, at the most the names of columns", p.Data)
	}
	if err := s.findTime(); err != nil {
		return nil, err
	}
	for i := range qs {
		if q := &qs[i]; q.Verb == queries.Update {
			for _, c := range q.Columns {
				if q.Bound(c) == nil && s.fixed[c] == 0 {
					s.fixed[c] = q.Line
				}
			}
		}
	}
	s.findLoad()
	s.ids = s.identities()
	return s, nil
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
func (s *Study) findTime() error {
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
func (s *Study) earlier(c *profile.Column) bool {
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

func (s *Study) columnNames() []string {
	var names []string
	for i := range s.p.Columns {
		names = append(names, s.p.Columns[i].Name)
	}
	return names
}

// timeName is the event-time column's, "" where there is none.
func (s *Study) timeName() string {
	if s.time == nil {
		return ""
	}
	return s.time.Name
}

// isTime says whether a column is a point in time.
func (s *Study) isTime(column string) bool {
	c := s.p.Column(column)
	return c != nil && c.Time != nil
}

// sorts says whether a column's values are in the order of what they mean: times that are
// written 15.03.2024 are not, and no range of time can be read from them.
func (s *Study) sorts(column string) bool {
	c := s.p.Column(column)
	return c == nil || c.Time == nil || c.Time.Sorts
}

// keyable says whether a column can be in a primary key: of a type that may, with
// values, and not updated.
func (s *Study) keyable(column string) bool {
	c := s.p.Column(column)
	return c != nil && !c.Nested && c.Values > 0 && s.fixed[column] == 0
}

// identities are sets of columns that may tell rows apart, to be measured: single
// ones first, then the columns with most values together.
func (s *Study) identities() [][]string {
	type scored struct {
		name string
		rank float64
	}
	rows := float64(s.p.Rows)
	var single, rest []scored
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		if !s.keyable(c.Name) || c.Nulls > 0 || c.MeanBytes > 512 {
			continue
		}
		rank := c.MeanBytes / 8
		switch {
		case s.idLike(c.Name):
			rank -= 8
		case c.Time != nil:
			rank += 4
		case isFloat(c):
			rank += 1000 // a measured value is unique by luck
		}
		if c.Distinct.High >= rows {
			single = append(single, scored{c.Name, rank})
		}
		rest = append(rest, scored{c.Name, -c.Distinct.Value*boolTo(!isFloat(c)) + rank/1e6})
	}
	by := func(a, b scored) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name)) }
	slices.SortFunc(single, by)
	slices.SortFunc(rest, by)
	var out [][]string
	for _, c := range single[:min(3, len(single))] {
		out = append(out, []string{c.name})
	}
	for i := range min(6, len(rest)) {
		for _, c := range rest[:i] {
			out = append(out, []string{c.name, rest[i].name})
		}
	}
	for n := 3; n <= len(rest) && n <= 12; n++ {
		var set []string
		for _, c := range rest[:n] {
			set = append(set, c.name)
		}
		if n <= 4 || n == len(rest) || n == 12 {
			out = append(out, set)
		}
	}
	return out
}

// idLike says whether a column is made to tell rows apart, by its type or its values.
func (s *Study) idLike(column string) bool {
	c := s.p.Column(column)
	if c == nil || c.Time != nil {
		return false
	}
	return c.Type.Kind == value.UUID || c.Type.Kind == value.Timeuuid || c.Order.Sequential
}

func boolTo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Next are the candidates to measure; none when it has all that it needs.
func (s *Study) Next() []profile.Candidate {
	s.asked = nil
	switch s.round {
	case 0:
		for _, set := range s.ids {
			s.asked = append(s.asked, ask{design: &Design{Partition: wholes(set[:1]), Clustering: set[1:], Shards: 1}, ids: set})
		}
		s.natural = s.naturals()
		for _, d := range s.natural {
			s.asked = append(s.asked, ask{design: d})
		}
	case 1:
		s.conclude()
		s.designs = s.refine()
		for _, d := range s.designs {
			if s.measured[d.id()] == nil {
				s.asked = append(s.asked, ask{design: d})
			}
		}
	}
	s.round++
	var out []profile.Candidate
	for _, a := range s.asked {
		c := a.design.candidate(s.timeName())
		c.LossAlone = a.ids != nil
		c.NoPeak = c.Shards > 1 || s.time == nil // heat is read off those without shards
		out = append(out, c)
	}
	if out == nil && s.round < 2 {
		return s.Next()
	}
	return out
}

// Take is told what was measured of the candidates that Next gave, in their order.
func (s *Study) Take(measured []*profile.Measured) {
	for i, m := range measured {
		a := s.asked[i]
		if a.ids != nil {
			if lost(m) == 0 && m.Unkeyed == 0 {
				s.tells = append(s.tells, a.ids)
			}
			continue
		}
		s.measured[a.design.id()] = m
	}
}

// conclude ends the first round: designs as the queries have them that lose rows
// are kept to be shown.
func (s *Study) conclude() {
	for _, d := range s.natural {
		if m := s.measured[d.id()]; m != nil && lost(m) > 0 {
			d.bare = true
			s.bare = append(s.bare, d)
		}
	}
	s.findPace()
	s.paceLoad()
}

// lost is how many rows a primary key loses: none where it is not certain that any
// is.
func lost(m *profile.Measured) float64 {
	if !m.Lost.Exact && m.Lost.Low <= 0 {
		return 0
	}
	return m.Lost.Value
}

// exactly is what was measured of a design.
func (s *Study) exactly(d *Design) *profile.Measured { return s.measured[d.id()] }

// of is what was measured of a design, or of one that differs from it in the
// clustering columns alone: its partitions are the same.
func (s *Study) of(d *Design) *profile.Measured {
	if m := s.exactly(d); m != nil {
		return m
	}
	want := partitionID(d.Partition)
	for _, other := range s.designs {
		if other.Shards == d.Shards && partitionID(other.Partition) == want && (d.Shards <= 1 || slices.Equal(other.By, d.By)) {
			if m := s.exactly(other); m != nil {
				return m
			}
		}
	}
	return nil
}

// ofPartition is what was measured of some design with that partition key and no
// shards.
func (s *Study) ofPartition(parts []profile.Part) *profile.Measured {
	want := partitionID(parts)
	for _, list := range [][]*Design{s.natural, s.designs} {
		for _, d := range list {
			if d.Shards <= 1 && partitionID(d.Partition) == want {
				if m := s.exactly(d); m != nil {
					return m
				}
			}
		}
	}
	return nil
}

func wholes(columns []string) []profile.Part {
	var out []profile.Part
	for _, c := range columns {
		out = append(out, profile.Part{Column: c})
	}
	return out
}

// span is how long the data's event time goes on, in seconds; 0 where it is unknown.
func (s *Study) span() float64 {
	if s.time == nil {
		return 0
	}
	return math.Max(0, s.time.Time.Last.Sub(s.time.Time.First).Seconds())
}
