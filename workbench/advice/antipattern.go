package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Antipattern is a bad key by its usual name, where the data or the queries show it.
type Antipattern struct {
	Name     string   `json:"name"` // low cardinality, hot, unpredictable, too granular, sequence ids, unbounded, skew, collision
	Columns  []string `json:"columns"`
	Evidence string   `json:"evidence"`
}

// HotKey is a value of columns that has far more rows than others.
type HotKey struct {
	Columns []string `json:"columns"`
	Value   string   `json:"value"`
	Values  []string `json:"values"`
	Share   float64  `json:"share"` // of the rows
}

// asksFor says whether a query binds just the columns of a partition key, or just
// these and, with timeless, a time; or whether the best design has them. Without queries all are
// asked for.
func (s *Study) asksFor(parts []profile.Part, best *Design, timeless bool) bool {
	if !s.reads() {
		return true
	}
	want := partitionID(parts)
	for i := range s.qs {
		var equal []string
		for _, e := range s.qs[i].Equal {
			if s.keyable(e.Column) && !slices.Contains(equal, e.Column) {
				equal = append(equal, e.Column)
			}
		}
		if s.qs[i].Verb == queries.Insert || len(equal) == 0 {
			continue
		}
		if partitionID(wholes(equal)) == want || timeless && partitionID(wholes(slices.DeleteFunc(equal, s.isTime))) == want {
			return true
		}
	}
	return best != nil && partitionID(wholes(best.columns())) == want
}

// bound says whether any query binds a column by equality.
func (s *Study) bound(column string) bool {
	return slices.ContainsFunc(s.qs, func(q queries.Query) bool { return q.Bound(column) != nil })
}

func isHot(share, partitions float64) bool {
	times := share * partitions
	return share >= hotShare && times >= hotTimes || share >= 3*hotShare && times >= hotTimes/2.0
}

// isSkewed says whether the largest partition has far more rows than most, and
// enough of all that it matters.
func isSkewed(m *profile.Measured) bool {
	times := m.RowSizes.Max.Value / math.Max(1, m.RowSizes.P50.Value)
	return times >= skewed && m.Largest[0].Share >= 0.05 || times >= 10*skewed && m.RowSizes.Max.Value >= 1000
}

// antipatterns looks at the keys that the queries ask for, before they are mended.
func (s *Study) antipatterns(best *Design) []Antipattern {
	out := []Antipattern{}
	add := func(name string, columns []string, format string, args ...any) {
		if !slices.ContainsFunc(out, func(a Antipattern) bool { return a.Name == name && slices.Equal(a.Columns, columns) }) {
			out = append(out, Antipattern{name, columns, fmt.Sprintf(format, args...)})
		}
	}
	for _, d := range s.natural {
		m := s.of(d)
		if m == nil || !s.asksFor(d.Partition, best, true) || m.Partitions.Value < 1 {
			continue
		}
		columns := d.columns()
		_, timed := s.period(d)
		n := m.Partitions.Value
		if len(m.Largest) > 0 && !timed && !s.implied(d) {
			top := m.Largest[0]
			if s.low(d) {
				add("low cardinality", columns, "%s values for %s rows", number(n), number(float64(m.Rows)))
			}
			if isHot(top.Share, n) {
				add("hot", columns, "%s has %s of the rows, %s times what each of %s keys would have", valueText(top.Values), percent(top.Share), number(top.Share*n), number(n))
			}
			if p50 := math.Max(1, m.RowSizes.P50.Value); n >= 3 && isSkewed(m) {
				add("skew", columns, "the largest partition has %s rows, half of the partitions %s or fewer", number(m.RowSizes.Max.Value), number(p50))
			}
		}
		if g := s.growthOf(d); g.Unbounded && !timed && s.asksFor(d.Partition, best, false) && s.worthNaming(d, &g) {
			when := ""
			for _, h := range g.Hits {
				when += "; " + h.Text()
			}
			add("unbounded", columns, "%s%s", g.Why, when)
		}
		if timed && len(s.timeless(d)) == 0 {
			s.timedKey(d, m, add)
		}
	}
	s.rangedTime(add)
	for i := range s.p.Columns {
		if c := &s.p.Columns[i]; c.Order.Sequential && !s.bound(c.Name) && c.Distinct.High >= 0.99*float64(s.p.Rows) {
			why := "no query names it: as partition key it would serve none"
			if !s.reads() {
				why = "as partition key it serves only queries that know it"
			}
			add("sequence ids", []string{c.Name}, "integers that go up one after the other; %s", why)
		}
	}
	if best != nil {
		s.collision(best, add)
	}
	return out
}

// implied says whether a key is part of one that the queries always bind whole: its
// faults are not the queries' key's.
func (s *Study) implied(d *Design) bool {
	if !s.reads() {
		return len(d.Partition) > 1
	}
	return false
}

// worthNaming says whether a partition that grows for ever matters in a lifetime.
func (s *Study) worthNaming(d *Design, g *Growth) bool {
	if !s.sizeLimits() {
		return false
	}
	if m := s.of(d); m != nil && m.ByteSizes.Max.Value > IdealBytes {
		return true
	}
	const lifetime = 100 * 365.25 * 86400
	return g.bytesPerSecond*lifetime > IdealBytes || s.load.from == Unknown
}

// timedKey judges a key of nothing but time.
func (s *Study) timedKey(d *Design, m *profile.Measured, add func(string, []string, string, ...any)) {
	columns := d.columns()
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			columns = append(columns, p.Column)
		}
	}
	unit, _ := s.period(d)
	add("unpredictable", columns, "at any moment all writes go to one key, the present %s; the largest has %s, half of them %s or fewer",
		unitName(unit), countOf(m.RowSizes.Max.Value, "row"), number(m.RowSizes.P50.Value))
	if unit <= profile.Minute {
		s.burst(columns[0], add)
	}
}

// burst looks at a key of seconds or minutes.
func (s *Study) burst(column string, add func(string, []string, string, ...any)) {
	c := s.p.Column(column)
	if c == nil || c.Time == nil || c.Time.Granularity > profile.Minute {
		return
	}
	for _, h := range c.Time.Hot {
		if h.Granularity != max(c.Time.Granularity, profile.Second) {
			continue
		}
		all := c.Time.Last.Sub(c.Time.First).Seconds()/seconds(h.Granularity) + 1
		evidence := fmt.Sprintf("%s keys for %s rows", number(float64(h.Busy)), number(float64(c.Values)))
		if busy := float64(h.Busy) / all; busy < 0.5 {
			evidence = fmt.Sprintf("rows come in bursts: %s of the %ss have any, the fullest %s", percent(busy), h.Granularity, number(h.Rows.Value))
		}
		add("too granular", []string{column}, "%s; a range needs a key for each %s", evidence, h.Granularity)
		return
	}
}

// rangedTime judges queries that name nothing but a range of time.
func (s *Study) rangedTime(add func(string, []string, string, ...any)) {
	for i := range s.qs {
		q := &s.qs[i]
		if q.Verb != queries.Read || len(q.Equal) > 0 {
			continue
		}
		for _, r := range q.Ranges {
			c := s.p.Column(r.Column)
			if c == nil || c.Time == nil || c.Time.Granularity > profile.Day {
				continue
			}
			add("unpredictable", []string{r.Column}, "line %d asks by time alone: whatever period of it is the key, at any moment all writes go to the present one", q.Line)
			// Bursts make a key of seconds bad, whatever asks for it.
			for _, h := range c.Time.Hot {
				all := c.Time.Last.Sub(c.Time.First).Seconds()/seconds(h.Granularity) + 1
				if h.Granularity <= profile.Minute && float64(h.Busy) < 0.5*all && h.Rows.Low >= 10 && float64(c.Values)/float64(max(1, h.Busy)) >= 5 {
					s.burst(r.Column, add)
					break
				}
			}
		}
	}
}

// collision says what the queries' own columns lose.
func (s *Study) collision(best *Design, add func(string, []string, string, ...any)) {
	if best.AddID {
		repeated := ""
		if s.p.Repeated.Value > 0 {
			repeated = fmt.Sprintf(": %s rows are the same as another in every column", number(s.p.Repeated.Value))
		}
		add("collision", []string{}, "no columns tell rows apart%s; a key of them would overwrite rows without a word", repeated)
		return
	}
	for _, d := range s.bare {
		// That a key of one column needs another behind it surprises nobody.
		if partitionID(d.Partition) == partitionID(best.Partition) && len(d.Partition)+len(d.Clustering) > 1 {
			add("collision", append(d.columns(), d.Clustering...), "PRIMARY KEY %s, which is all that the queries name, would overwrite %s of %s rows without a word",
				d.Key(), number(lost(s.of(d))), number(float64(s.p.Rows)))
		}
	}
}

// valueText is a key's value for people.
func valueText(values []string) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%.60q", v))
	}
	return strings.Join(out, ", ")
}

// hotKeys are the values of asked keys that have far more rows than others.
func (s *Study) hotKeys(best *Design) []HotKey {
	out := []HotKey{}
	for _, d := range s.natural {
		m := s.of(d)
		if _, timed := s.period(d); timed || m == nil || !s.asksFor(d.Partition, best, true) || s.implied(d) {
			continue
		}
		n := m.Partitions.Value
		for i := range m.Largest {
			p := &m.Largest[i]
			if i == 5 || !isHot(p.Share, n) && !(p.Share >= 0.05 && isSkewed(m) && n >= 3) {
				break
			}
			out = append(out, HotKey{Columns: d.columns(), Value: strings.Join(p.Values, ", "), Values: p.Values, Share: p.Share})
		}
	}
	return out
}
