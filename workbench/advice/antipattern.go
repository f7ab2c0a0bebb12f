// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Antipattern is a fault of a key, by its usual name, that the data or the queries show.
type Antipattern struct {
	// Name is low cardinality, hot, load varies, burst, unpredictable, too granular, null,
	// sequence ids, unbounded, skew, collision or too large.
	Name     string   `json:"name"`
	Columns  []string `json:"columns"`
	Severity int      `json:"severity"` // Whatever, InTheKey, Asked or Tempting
	Evidence string   `json:"evidence"`
	Mended   string   `json:"mended,omitempty"` // how the design that is advised mends it: "where 3 shards share its load"
	Loss     *Loss    `json:"loss,omitempty"`   // only of a collision, at the stated rate
}

// Severities of antipatterns say which keys they concern. Reports list the highest first.
const (
	InTheKey = 3 // all its columns are in the verdict's key
	Asked    = 2 // queries name all its columns
	Tempting = 1 // no query names all its columns
	Whatever = 4 // it concerns the rows under any key
)

// HotKey is a value of columns that has far more rows than others.
type HotKey struct {
	Columns []string `json:"columns"`
	Value   string   `json:"value"`
	Values  []string `json:"values"`
	Share   float64  `json:"share"` // of the rows
	Low     float64  `json:"share_low"`
	High    float64  `json:"share_high"`
}

// hotKey returns the HotKey of a value with that many of the rows.
func hotKey(columns, values []string, rows profile.Estimate, of float64) HotKey {
	e := times(rows, 1/math.Max(1, of))
	return HotKey{Columns: columns, Value: strings.Join(values, ", "), Values: values, Share: e.Value, Low: e.Low, High: e.High}
}

// critic names the antipatterns of the keys that queries ask for, and of tempting columns.
type critic struct{ *sizes }

// asksFor reports whether a query binds exactly the columns of a partition key. With timeless, it
// also accepts a query that binds these columns and a time. It also accepts the key of the best
// design. Without queries it reports true for every key.
func (s critic) asksFor(parts []profile.Part, best *Design, timeless bool) bool {
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

// bound reports whether any query binds a column by equality.
func (s critic) bound(column string) bool {
	return slices.ContainsFunc(s.qs, func(q queries.Query) bool { return q.Bound(column) != nil })
}

func isHot(share, partitions float64) bool {
	times := share * partitions
	return share >= hotShare && times >= hotTimes || share >= 3*hotShare && times >= hotTimes/2.0
}

// isSkewed reports whether the largest partition has far more rows than the median, and enough of
// all rows to matter.
func isSkewed(m *profile.Measured) bool {
	times := m.RowSizes.Max.Value / math.Max(1, m.RowSizes.P50.Value)
	return times >= skewed && m.Largest[0].Share >= 0.05 || times >= 10*skewed && m.RowSizes.Max.Value >= 1000
}

// mended says how the best design, which has the columns of an antipattern in its key, mends it; "" if
// it does not. kept says that the design keeps all limits.
func (s critic) mended(best *Design, name string, kept bool) string {
	switch name {
	case "collision":
		if best.AddID {
			return "where " + idColumn + " tells rows apart"
		}
		if s.byItself(best) {
			return "where further columns tell rows apart"
		}
	case "unbounded":
		if best.bucket() != nil {
			return "where buckets of time end its partitions"
		}
	case "hot", "skew", "load varies", "low cardinality", "burst", "unpredictable":
		switch {
		case best.Shards > 1:
			return fmt.Sprintf("where %d shards share its load", best.Shards)
		case kept:
			return "where it is within the limits"
		}
	}
	return ""
}

// antipatterns returns the antipatterns of the keys that the queries ask for, before refine changes
// these keys, and of each column that could tempt; the worst first.
func (s critic) antipatterns(best *Design, kept bool) []Antipattern {
	out := []Antipattern{}
	var key []string
	if best != nil {
		key = append(best.columns(), best.clusteringNames()...)
	}
	put := func(a Antipattern) {
		if slices.ContainsFunc(out, func(b Antipattern) bool {
			return a.Name == b.Name && slices.Equal(slices.Sorted(slices.Values(a.Columns)), slices.Sorted(slices.Values(b.Columns)))
		}) {
			return
		}
		if a.Severity == Whatever {
			out = append(out, a)
			return
		}
		a.Severity = Tempting
		if !slices.ContainsFunc(a.Columns, func(c string) bool { return !s.askedFor(c) }) {
			a.Severity = Asked
			if !slices.ContainsFunc(a.Columns, func(c string) bool { return !slices.Contains(key, c) }) {
				a.Severity, a.Mended = InTheKey, s.mended(best, a.Name, kept)
			}
		}
		out = append(out, a)
	}
	add := func(name string, columns []string, format string, args ...any) {
		put(Antipattern{Name: name, Columns: columns, Evidence: fmt.Sprintf(format, args...)})
	}
	for _, d := range s.natural {
		m := s.of(d)
		if m == nil || m.Partitions.Value < 1 {
			continue
		}
		columns := d.columns()
		_, timed := s.period(d)
		if !timed && !s.implied(d) {
			s.varies(d, m, add)
		}
		if !s.asksFor(d.Partition, best, true) {
			continue
		}
		n := m.Partitions.Value
		if len(m.Largest) > 0 && !timed && !s.implied(d) {
			top := m.Largest[0]
			if s.low(d) {
				add("low cardinality", columns, "%s for %s", estimatedCount(m.Partitions, "value"), countOf(float64(m.Rows), "row"))
			}
			if isHot(top.Share, n) {
				add("hot", columns, "%s", hotText(top.Values, top.Rows, m.Partitions, float64(m.Rows), "keys"))
			}
			if n >= 3 && isSkewed(m) {
				add("skew", columns, "the largest partition has %s, half of the partitions %s or fewer", estimatedCount(m.RowSizes.Max, "row"), estimated(m.RowSizes.P50, whole))
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
		if s.byItself(d) {
			d = s.untilTime(d) // the key that tempts: without the columns behind the time that tell rows apart
		}
		if l := s.lossOf(d); l != nil && l.PerDay >= leastLoss && !s.byItself(d) && len(d.Partition)+len(d.Clustering) > 1 {
			put(Antipattern{Name: "collision", Columns: append(d.columns(), d.Clustering...), Loss: l, Evidence: s.lossText(d, l)})
		}
	}
	s.rangedTime(add)
	if s.pace.burst > 1 {
		add("burst", []string{s.time.Name}, "%s of the %ss have all rows: %s times the mean rate in those that do", percent(s.pace.busy), s.pace.unit, number(s.pace.burst))
	}
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		s.column(c, add)
		if store := s.o.Target.store(); s.o.Target.units() && c.MaxBytes > store.MaxItem() {
			put(Antipattern{Name: "too large", Columns: []string{c.Name}, Severity: Whatever, Evidence: fmt.Sprintf("its largest value has %s bytes, and %s refuses %ss of more than %s bytes: keep large values elsewhere, such as in an object store, or part them",
				number(float64(c.MaxBytes)), store.Name(), store.Item(), number(float64(store.MaxItem())))})
		}
	}
	if best != nil {
		s.collision(best, put)
	}
	slices.SortStableFunc(out, func(a, b Antipattern) int { return cmp.Compare(b.Severity, a.Severity) })
	return out
}

// askedFor reports whether a query that is no INSERT names a column.
func (s critic) askedFor(column string) bool {
	return slices.ContainsFunc(s.qs, func(q queries.Query) bool {
		return q.Verb != queries.Insert && (q.Bound(column) != nil || q.Range(column) != nil || slices.ContainsFunc(q.Order, func(o queries.Order) bool { return o.Column == column }))
	})
}

// column looks for the antipatterns of a column that could tempt as a key by itself.
func (s critic) column(c *profile.Column, add func(string, []string, string, ...any)) {
	rows, name := float64(s.p.Rows), []string{c.Name}
	alone := slices.ContainsFunc(s.qs, func(q queries.Query) bool {
		return q.Verb != queries.Insert && len(q.Equal) == 1 && q.Equal[0].Column == c.Name
	})
	if c.Order.Sequential && !alone && c.Distinct.High >= 0.99*rows {
		why := "no query names it: as partition key it would serve none"
		switch {
		case s.bound(c.Name):
			why = "no query names it alone: as partition key it would serve those alone that name it with others"
		case !s.reads():
			why = "as partition key it serves only queries that know it"
		}
		add("sequence ids", name, "integers that go up one after the other; %s", why)
	}
	if c.Nested || isFloat(c) || c.MeanBytes > 128 {
		return
	}
	asked := slices.ContainsFunc(s.qs, func(q queries.Query) bool { return q.Verb != queries.Insert && q.Bound(c.Name) != nil })
	if missing := float64(c.Nulls + c.Empty); missing > 0 && asked {
		add("null", name, "%s of %s have no value in it: a key has one, so the application writes a stand-in for these, or keeps them elsewhere; a further table by it does without them", number(missing), countOf(rows, "row"))
	}
	if c.Time != nil || len(c.Top) == 0 || c.Distinct.Value < 2 || s.fixed[c.Name] > 0 {
		return
	}
	n, top := c.Distinct.Value, c.Top[0]
	if n < lowCardinality && rows/n >= lowCardinalityRows {
		add("low cardinality", name, "%s for %s%s", estimatedCount(c.Distinct, "value"), countOf(rows, "row"), unasked(asked))
	}
	if n <= rows/2 && isHot(top.Share, n) {
		add("hot", name, "%s%s", hotText([]string{top.Text}, top.Rows, c.Distinct, float64(c.Values), "values"), unasked(asked))
	}
}

// hotText says which share of the rows a key has, and compares it with the share that each of the
// keys would have if all had the same.
func hotText(values []string, rows, keys profile.Estimate, of float64, what string) string {
	share := times(rows, 1/math.Max(1, of))
	most := profile.Estimate{Value: share.Value * keys.Value, Low: share.Low * keys.Low, High: share.High * keys.High}
	return fmt.Sprintf("%s has %s of the rows, %s times what each of %s %s would have", valueText(values), estimated(share, percent), estimated(most, number), estimated(keys, whole), what)
}

func unasked(asked bool) string {
	if asked {
		return ""
	}
	return "; no query asks by it"
}

// variesTimes is the factor by which a key's busiest time must exceed its mean rate.
const variesTimes = 3

// varies looks for a key whose load differs from time to time.
func (s critic) varies(d *Design, m *profile.Measured, add func(string, []string, string, ...any)) {
	b := m.Busiest
	if b == nil || b.Parts == timeParts || b.All == 0 {
		return
	}
	mean := 0.0
	for i := range m.Largest {
		if slices.Equal(m.Largest[i].Values, b.Values) {
			mean = m.Largest[i].Rows.Value / s.span()
		}
	}
	now := b.Rows.Value / b.Length.Seconds()
	if mean == 0 || now < variesTimes*mean || b.Rows.Value/float64(b.All) < hotShare {
		return
	}
	share := times(b.Rows, 1/float64(b.All))
	share.High = math.Min(1, share.High)
	name := namerOf(b.Length)
	add("load varies", d.columns(), "from %s to %s %s has %s of the rows, at %s times its mean rate", name(b.Start), name(b.Start.Add(b.Length)), valueText(b.Values),
		estimated(share, percent), estimated(times(b.Rows, now/mean/b.Rows.Value), number))
}

// lossText says how many rows a key would lose.
func (s critic) lossText(d *Design, l *Loss) string {
	how := ""
	switch m := s.exactly(d); {
	case m == nil:
	case lost(m) == 0:
		how = "no two rows of the data agree in these, but "
	default:
		how = fmt.Sprintf("%s of %s would be overwritten, and ", estimated(m.Lost, whole), countOf(float64(s.p.Rows), "row")+" of the data")
	}
	return fmt.Sprintf("%sat %s rows/s and steps of %s, %s would overwrite another without a word", how, number(s.load.insert), stepText(resolution(s.p.Column(s.timeIn(d)))), l.text())
}

func stepText(seconds float64) string {
	for _, u := range []struct {
		name   string
		length float64
	}{{"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}} {
		if n := seconds / u.length; seconds < 1 && math.Round(n) >= 1 {
			return fmt.Sprintf("%.0f %s", n, u.name)
		}
	}
	return capacity.Duration(seconds)
}

// implied reports whether a key is only a part of a longer key and should not be judged by itself:
// without queries, every key of several columns.
func (s critic) implied(d *Design) bool {
	if !s.reads() {
		return len(d.Partition) > 1
	}
	return false
}

// worthNaming reports whether a partition that grows for ever becomes too large within a century.
func (s critic) worthNaming(d *Design, g *Growth) bool {
	if !s.o.sizeLimits() {
		return false
	}
	if m := s.of(d); m != nil && m.ByteSizes.Max.Value > IdealBytes {
		return true
	}
	const lifetime = 100 * 365.25 * 86400
	return g.bytesPerSecond*lifetime > IdealBytes || s.load.from == Unknown
}

// timedKey judges a partition key that consists only of time.
func (s critic) timedKey(d *Design, m *profile.Measured, add func(string, []string, string, ...any)) {
	columns := d.columns()
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			columns = append(columns, p.Column)
		}
	}
	unit, _ := s.period(d)
	add("unpredictable", columns, "at any moment all writes go to one key, the present %s; the largest has %s, half of them %s or fewer",
		unitName(unit), estimatedCount(m.RowSizes.Max, "row"), estimated(m.RowSizes.P50, whole))
	if unit <= profile.Minute {
		s.burst(columns[0], add)
	}
}

// burst judges a key of seconds or minutes.
func (s critic) burst(column string, add func(string, []string, string, ...any)) {
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
			evidence = fmt.Sprintf("%s of the %ss have any row", percent(busy), h.Granularity)
			if inBursts(c, &h) {
				evidence = fmt.Sprintf("rows come in bursts: %s of the %ss have any, the fullest %s", percent(busy), h.Granularity, number(h.Rows.Value))
			}
		}
		add("too granular", []string{column}, "%s; a range needs a key for each %s", evidence, h.Granularity)
		return
	}
}

// inBursts reports whether the units of time that have any rows have several.
func inBursts(c *profile.Column, h *profile.Period) bool {
	return h.Rows.Low >= 10 && float64(c.Values)/float64(max(1, h.Busy)) >= 5
}

// rangedTime judges queries that restrict only a range of time.
func (s critic) rangedTime(add func(string, []string, string, ...any)) {
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
			// Bursts make a key of seconds bad, whatever the queries ask for.
			for _, h := range c.Time.Hot {
				all := c.Time.Last.Sub(c.Time.First).Seconds()/seconds(h.Granularity) + 1
				if h.Granularity <= profile.Minute && float64(h.Busy) < 0.5*all && inBursts(c, &h) {
					s.burst(r.Column, add)
					break
				}
			}
		}
	}
}

// collision says how many rows a key of only the queries' own columns would lose.
func (s critic) collision(best *Design, put func(Antipattern)) {
	if best.AddID {
		repeated := ""
		if s.p.Repeated.Value > 0 {
			repeated = fmt.Sprintf(": %s the same as another in every column", estimatedAre(s.p.Repeated, "row"))
		}
		put(Antipattern{Name: "collision", Columns: []string{}, Evidence: fmt.Sprintf("no columns tell rows apart for certain%s; a key of them would overwrite rows without a word", repeated)})
		return
	}
	for _, d := range s.bare {
		// A key of one column obviously needs another column behind it.
		if partitionID(d.Partition) == partitionID(best.Partition) && len(d.Partition)+len(d.Clustering) > 1 {
			put(Antipattern{Name: "collision", Columns: append(d.columns(), d.Clustering...), Evidence: fmt.Sprintf("PRIMARY KEY %s, which is all that the queries name, would overwrite %s of %s rows without a word",
				d.Key(), estimated(s.of(d).Lost, whole), number(float64(s.p.Rows)))})
		}
	}
}

// valueText formats a key's value for people.
func valueText(values []string) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%.60q", v))
	}
	return strings.Join(out, ", ")
}

// hotKeys returns the values of keys that queries ask for, and of tempting columns, that have far
// more rows than others.
func (s critic) hotKeys(best *Design) []HotKey {
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
			out = append(out, hotKey(d.columns(), p.Values, p.Rows, float64(m.Rows)))
		}
	}
	for i := range s.p.Columns { // also those of tempting columns
		c := &s.p.Columns[i]
		if c.Time != nil || c.Nested || isFloat(c) || c.MeanBytes > 128 || len(c.Top) == 0 || slices.ContainsFunc(out, func(h HotKey) bool { return slices.Equal(h.Columns, []string{c.Name}) }) {
			continue
		}
		if n, top := c.Distinct.Value, c.Top[0]; n >= 2 && n <= float64(s.p.Rows)/2 && isHot(top.Share, n) && s.reads() {
			out = append(out, hotKey([]string{c.Name}, []string{top.Text}, top.Rows, float64(c.Values)))
		}
	}
	return out
}
