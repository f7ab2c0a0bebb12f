// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Growth describes how the largest partition of a design grows.
type Growth struct {
	Unbounded bool   `json:"unbounded"` // nothing ends its growth
	Why       string `json:"why"`
	Source    Source `json:"source"`
	Hits      []Hit  `json:"limits,omitempty"` // of an unbounded partition

	rowsPerSecond  float64 // of the largest partition
	bytesPerSecond float64
	low, high      float64 // bounds of that rate, as factors
}

// Hit says when a partition reaches a limit.
type Hit struct {
	Limit string `json:"limit"`
	// Exceeded says that the data exceed it already.
	Exceeded    bool `json:"exceeded"`
	Predictable bool `json:"predictable"`
	// After counts seconds from the end of the data. The bounds are a 95% interval, from the rate
	// of growth in the data.
	After     float64 `json:"after_seconds,omitempty"`
	AfterLow  float64 `json:"after_seconds_low,omitempty"`
	AfterHigh float64 `json:"after_seconds_high,omitempty"`
	// These are the dates of After and its bounds, if the data have a time.
	Date     string `json:"date,omitempty"`
	DateLow  string `json:"date_low,omitempty"`
	DateHigh string `json:"date_high,omitempty"`
}

// centuries is the furthest time that a date can show: a thousand years, in seconds.
const centuries = 1000 * 365.25 * 86400

// Text formats the hit for people.
func (h *Hit) Text() string {
	switch {
	case h.Exceeded:
		return h.Limit + ": exceeded already"
	case !h.Predictable:
		return h.Limit + ": not predictable"
	case h.After > centuries:
		return h.Limit + ": not within 1,000 years"
	case h.Date != "" && h.AfterLow > 30*86400:
		if h.DateLow == h.DateHigh {
			return h.Limit + ": about " + h.Date
		}
		return fmt.Sprintf("%s: about %s (%s to %s)", h.Limit, h.Date, h.DateLow, h.DateHigh)
	}
	return h.Limit + ": after about " + ranged(h.After, h.AfterLow, h.AfterHigh, capacity.Duration)
}

// sizes predicts how large partitions become.
type sizes struct{ serving }

// sizeLimits reports whether the target limits a partition's size.
func (o *Options) sizeLimits() bool {
	return o.Target.nodes() || o.Target == DynamoDB && o.LocalIndex
}

// period returns the finest unit of time in a partition key. has is false if the key has no time.
func (s *facts) period(d *Design) (g profile.Granularity, has bool) {
	for _, p := range d.Partition {
		unit := p.Bucket
		if unit == profile.Whole {
			if !s.isTime(p.Column) {
				continue
			}
			unit = s.p.Column(p.Column).Time.Granularity
		}
		if !has || unit < g {
			g, has = unit, true
		}
	}
	return g, has
}

// timeless returns the partition key without its time.
func (s *facts) timeless(d *Design) []profile.Part {
	return slices.DeleteFunc(slices.Clone(d.Partition), func(p profile.Part) bool {
		return p.Bucket != profile.Whole || s.isTime(p.Column)
	})
}

// share returns the share of all writes in the data that goes to the hottest key at any moment. Keys
// that differ only in their time do not share the load.
func (s *traffic) share(d *Design) float64 {
	share, _ := s.dataShare(d)
	return share.Value
}

// futureShare is the share that is to be expected for later rows, with its interval.
func (s *traffic) futureShare(d *Design) profile.Estimate {
	share, m := s.dataShare(d)
	if m == nil {
		return share
	}
	rows := math.Max(1, float64(m.Rows))
	return times(expected(m, times(share, rows)), 1/rows)
}

// dataShare returns the share of the hottest key in the data, with its interval, and the measured
// keys; nil: all rows have one key.
func (s *traffic) dataShare(d *Design) (profile.Estimate, *profile.Measured) {
	one := profile.Estimate{Value: 1, Low: 1, High: 1, Exact: true}
	parts := s.timeless(d)
	if len(parts) == 0 {
		return one, nil
	}
	m := s.ofPartition(parts)
	switch {
	case m == nil || len(m.Largest) == 0:
		return one, nil
	case m.RowSizes.Max.Exact:
		return times(m.RowSizes.Max, 1/math.Max(1, float64(m.Rows))), m
	}
	return times(m.Largest[0].Rows, 1/math.Max(1, float64(m.Rows))), m
}

// expected returns how many rows the largest partition would have without chance. If all keys get
// equally many writes, the largest of many has more rows than the mean, by chance alone. The rows of
// a key follow a Poisson distribution, and the rates of the other keys a gamma distribution with
// their mean and variance. If the largest partition has more rows than the largest of so many would
// have, it has a rate of its own, which follows from its rows.
func expected(m *profile.Measured, largest profile.Estimate) profile.Estimate {
	n := largest.Value
	if m.Partitions.Value < 2 {
		return largest
	}
	mean, own := ownRate(m, n)
	value := mean + own*(n-mean)
	half := 2.576 * math.Sqrt(own*value)
	return profile.Estimate{Value: value, Low: math.Min(largest.Low, math.Max(mean, value-half)), High: math.Max(largest.High, value+half)}
}

// ownRate returns the mean rows of the other partitions than one with n rows, and which part of its
// difference from them is no chance.
func ownRate(m *profile.Measured, n float64) (mean, own float64) {
	others := m.Partitions.Value - 1
	if others < 1 {
		return n, 1
	}
	mean = (float64(m.Rows) - n) / others
	variance := math.Max(0, (m.Squares.Value-n*n)/others-mean*mean)
	own = math.Max(0, variance-mean) / math.Max(variance, 1e-12) // the part of the variance that is not chance
	if n > mean+math.Sqrt(variance+mean)*(1+math.Sqrt(2*math.Log(others+1))) {
		own = 1
	}
	return mean, own
}

// shardPart returns the part of a key's rows that its fullest shard gets. If a hash of all clustering columns
// places rows, all shards get as many. If it is a hash of some of them, all rows with the same values of
// these are in one shard. Then the hottest of these values decides, or the fullest of the measured shards.
func (s *traffic) shardPart(d *Design) float64 {
	part := 1 / float64(max(1, d.Shards))
	if d.Shards <= 1 || len(d.By) == 0 {
		return part
	}
	if !slices.ContainsFunc(d.By, s.isTime) {
		by := &Design{Partition: append(s.timeless(d), wholes(d.By)...)}
		if s.ofPartition(by.Partition) != nil {
			return math.Min(1, math.Max(part, s.futureShare(by).Value/s.futureShare(d).Value))
		}
	}
	m, whole := s.exactly(d), s.ofPartition(d.Partition)
	if m == nil || whole == nil || whole.RowSizes.Max.Value < 1 {
		return part
	}
	return math.Min(1, math.Max(part, expected(m, m.RowSizes.Max).Value/whole.RowSizes.Max.Value))
}

// idBytes is the number of bytes that an added id adds to a row.
const idBytes = 18

// rowBytes returns the size of a row as Cassandra serializes it.
func (s *sizes) rowBytes(d *Design) float64 {
	for _, m := range []*profile.Measured{s.of(d), s.ofPartition(d.Partition), s.ofPartition(s.timeless(d))} {
		if m != nil && m.RowBytes > 0 {
			if d.AddID && m.Added == 0 {
				return m.RowBytes + idBytes
			}
			return m.RowBytes
		}
	}
	total := 0.0
	for i := range s.p.Columns {
		total += s.p.Columns[i].MeanBytes + 2
	}
	return total
}

// Package profile divides the time into windows parts for Partition.Over. A partition must have
// enoughRows rows to show that it keeps growing: if keys have fewer rows, it is unknown how many
// more keys will come. If queries ask for a key's rows by time, the key continues, and fewRows are
// enough.
const (
	windows    = 16
	enoughRows = 100
	fewRows    = 3
)

// keepsComing reports whether the largest partitions get rows until the end of the data, and over
// most of its time, or again and again. Then they never end.
func (s *sizes) keepsComing(d *Design, m *profile.Measured) bool {
	rows, late, busy, even, count, long := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	least := float64(enoughRows)
	if s.byTimeBehind(d) {
		least = fewRows
	}
	for i := range m.Largest {
		p := &m.Largest[i]
		if i == 20 || p.Rows.Value < least || len(p.Over) != windows {
			break
		}
		own, first, last := 0.0, windows, 0
		for w, n := range p.Over {
			own += float64(n)
			if n > 0 {
				busy++
				first, last = min(first, w), w
			}
			if w >= windows-windows/4 {
				late += float64(n)
			}
		}
		// Compare with the number of windows that as many rows would fill by chance.
		even += windows * (1 - math.Pow(1-1.0/windows, own))
		rows += own
		count++
		if last-first >= windows/2 {
			long++
		}
	}
	return rows >= enoughRows/2 && (busy >= 0.6*even || long >= 0.7*count) && late >= rows/16
}

// partsKeepComing reports whether rows keep coming to the values of each column of a key, if
// queries ask for a key's rows by time. Then rows keep coming to the whole keys, too, even if each
// has few rows in the data, or most of them from one busy time.
func (s *sizes) partsKeepComing(d *Design) bool {
	if len(d.Partition) < 2 || !s.byTimeBehind(d) {
		return false
	}
	return !slices.ContainsFunc(d.Partition, func(p profile.Part) bool {
		m := s.ofPartition([]profile.Part{p})
		return m == nil || !s.keepsComing(d, m)
	})
}

// byTimeBehind reports whether a query asks for the rows of a partition by their time.
func (s *serving) byTimeBehind(d *Design) bool {
	return slices.ContainsFunc(s.qs, func(q queries.Query) bool {
		return q.Verb == queries.Read && s.serve(d, &q).Kind != FullScan && (slices.ContainsFunc(q.Ranges, func(r queries.Range) bool { return s.givesTime(r.Column) }) ||
			slices.ContainsFunc(q.Order, func(o queries.Order) bool { return s.givesTime(o.Column) }))
	})
}

// growthOf says whether the partitions of a design grow for ever, and when they reach each limit.
func (s *sizes) growthOf(d *Design) Growth {
	g := Growth{Source: s.load.from}
	if unit, has := s.period(d); has {
		g.Why = fmt.Sprintf("a partition ends with its %s", unitName(unit))
		return g
	}
	m := s.ofPartition(d.Partition)
	if m == nil || len(m.Largest) == 0 {
		g.Why, g.Source = "not measured", Unknown
		return g
	}
	// The order of rows in a file says little about later rows. But if few values have many rows
	// each, they will get more.
	fixed := s.time == nil && s.load.insert > 0 && s.low(d)
	if !fixed && !s.keepsComing(d, m) && !s.partsKeepComing(d) {
		g.Why = "the largest partitions do not keep growing through the data"
		if m.RowSizes.Max.Value < enoughRows {
			g.Why = fmt.Sprintf("no partition has more than %s, and they do not keep coming", countOf(m.RowSizes.Max.High, "row"))
		}
		return g
	}
	by := "in the order of the data"
	if s.time != nil {
		by = "over the whole time of " + s.time.Name
	}
	if s.load.from == Unknown {
		// Rows in any order look the same: without a time, and without writes in the queries,
		// nothing says that there will be more.
		g.Why = fmt.Sprintf("rows of its largest partitions come %s; whether more come, the data do not say", by)
		g.Source = Unknown
		g.Unbounded = s.time != nil
		s.hits(&g, d, m)
		return g
	}
	g.Unbounded = true
	part := s.shardPart(d)
	g.rowsPerSecond = s.load.insert * s.futureShare(d).Value * part
	g.bytesPerSecond = s.load.insert * s.bytesPerInsert(d) * part
	g.low, g.high = spread(course(m))
	if fixed {
		by = fmt.Sprintf("to the %s values there are", estimated(m.Partitions, whole))
		g.low, g.high = 0.5, 2
	}
	g.Why = fmt.Sprintf("rows of its largest partitions keep coming %s, %s a second to the largest: no column of the key ends it", by, estimated(times(s.futureShare(d), s.load.insert*part), number))
	if s.load.ttl > 0 {
		g.Unbounded = false
		g.Why = fmt.Sprintf("rows expire after %s: the largest partition stays at %s", capacity.Duration(s.load.ttl), estimated(times(s.futureShare(d), g.bytesPerSecond/s.futureShare(d).Value*s.load.ttl), sizeText))
		return g
	}
	s.hits(&g, d, m)
	return g
}

// course returns the rows that come to the largest partition in each part of the time. If it has too
// few rows to show a course, the other large partitions, which are then like it, are added.
func course(m *profile.Measured) []int64 {
	top := &m.Largest[0]
	if top.Rows.Value >= enoughRows || len(top.Over) != windows {
		return top.Over
	}
	sum := make([]int64, windows)
	for i := range m.Largest[:min(20, len(m.Largest))] {
		for w, n := range m.Largest[i].Over {
			sum[w] += n
		}
	}
	return sum
}

// soon reports whether a partition that grows for ever passes the limit of its size so soon, at its
// mean rate, that the uncertainty of that rate does not matter.
func (g *Growth) soon() bool {
	return g.Unbounded && g.bytesPerSecond*horizon > 10*MaxBytes
}

// spread returns the interval of a rate that was seen in windows, as factors: the interval of the
// mean, by Student's t for 95% and fifteen degrees of freedom, widened by a trend.
func spread(over []int64) (low, high float64) {
	n := float64(len(over))
	if n == 0 {
		return 0, 0
	}
	mean := 0.0
	for _, c := range over {
		mean += float64(c) / n
	}
	if mean == 0 {
		return 0, 0
	}
	variance, late := 0.0, 0.0
	for i, c := range over {
		d := float64(c) - mean
		variance += d * d / (n - 1)
		if i >= len(over)*3/4 {
			late += float64(c) * 4 / n
		}
	}
	const t15 = 2.131
	half := t15 * math.Sqrt(variance/n) / mean
	trend := late/mean - 1 // the last quarter, compared with the whole
	return math.Max(0, 1-half+math.Min(0, trend)), 1 + half + math.Max(0, trend)
}

// hits computes when each limit is reached.
func (s *sizes) hits(g *Growth, d *Design, m *profile.Measured) {
	if !g.Unbounded {
		return
	}
	part := s.shardPart(d)
	size, rows := m.ByteSizes.Max.Value*part, m.RowSizes.Max.Value*part
	cells := math.Max(1, float64(len(s.p.Columns)-len(d.Partition)-len(d.Clustering)))
	add := func(name string, limit, now, rate float64) {
		h := Hit{Limit: name, Exceeded: now > limit}
		if !h.Exceeded && rate > 0 && g.low > 0 {
			h.Predictable = true
			h.After = (limit - now) / rate
			h.AfterLow, h.AfterHigh = h.After/g.high, h.After/g.low
			if s.time != nil {
				h.Date, h.DateLow, h.DateHigh = s.date(h.After), s.date(h.AfterLow), s.date(h.AfterHigh)
			}
		}
		g.Hits = append(g.Hits, h)
	}
	switch {
	case s.o.Target.nodes():
		add("10 MB", IdealBytes, size, g.bytesPerSecond)
		add("100 MB", MaxBytes, size, g.bytesPerSecond)
		add("2 billion cells", MaxCells, rows*cells, g.rowsPerSecond*cells)
	case s.o.Target == DynamoDB && s.o.LocalIndex:
		item := s.itemBytes()
		add("10 GB of an item collection", capacity.CollectionBytes, rows*item, g.rowsPerSecond*item)
	}
}

// date formats the date that many seconds after the end of the data.
func (s *sizes) date(after float64) string {
	after = math.Min(after, centuries)
	at := s.time.Moments().Last.Add(time.Duration(after * float64(time.Second) / 4)) // a Duration holds at most 292 years
	for range 3 {
		at = at.Add(time.Duration(after * float64(time.Second) / 4))
	}
	return at.UTC().Format(time.DateOnly)
}

// size is the predicted size of the largest partition.
type size struct {
	bytes, rows float64
	low, high   float64 // bounds of both, as factors
	why         string  // "": the size was measured
}

// text formats the bytes with their interval.
func (z *size) text() string { return ranged(z.bytes, z.bytes*z.low, z.bytes*z.high, sizeText) }

// projected returns the size of a design's largest partition. It returns the measured size, unless
// the key contains a time (or rows expire) and the queries have a rate: if a period (or a row's
// life) at that rate fills a partition further, it returns that size.
func (s *sizes) projected(d *Design) size {
	out := size{low: 1, high: 1}
	bounds := func(e profile.Estimate) (low, high float64) {
		return e.Low / math.Max(1e-12, e.Value), e.High / math.Max(1e-12, e.Value)
	}
	if m := s.of(d); m != nil {
		out.bytes, out.rows = m.ByteSizes.Max.Value, m.RowSizes.Max.Value
		out.low, out.high = bounds(m.ByteSizes.Max)
	} else if m := s.ofPartition(d.Partition); m != nil {
		part := s.shardPart(d)
		out.bytes, out.rows = m.ByteSizes.Max.Value*part, m.RowSizes.Max.Value*part
		out.low, out.high = bounds(m.ByteSizes.Max)
	}
	low, high := bounds(s.futureShare(d))
	unit, has := s.period(d)
	switch {
	case s.load.insert == 0:
		return out
	case !has && s.load.ttl > 0 && s.load.from == FromQueries:
		if rows, bytes, why := s.fills(d, s.load.ttl); rows > out.rows && s.growthOf(d).rowsPerSecond > 0 {
			return size{bytes, rows, low, high, fmt.Sprintf("%s writes/s that live %s%s", number(s.load.insert), capacity.Duration(s.load.ttl), why)}
		}
	case has && (s.load.from == FromQueries || out.rows == 0):
		if rows, bytes, why := s.fills(d, seconds(unit)); rows > out.rows {
			return size{bytes, rows, low, high, fmt.Sprintf("%s writes/s all the %s long%s", number(s.load.insert), unitName(unit), why)}
		}
	}
	return out
}

// fills returns what the largest partition of a design gets in a period, or in a row's life if that
// is shorter: at its share of the rate, or in its busiest time, whichever is more.
func (s *sizes) fills(d *Design, period float64) (rows, bytes float64, why string) {
	if s.load.ttl > 0 {
		period = math.Min(period, s.load.ttl)
	}
	part := s.shardPart(d)
	rows = s.load.insert * s.futureShare(d).Value * period * part
	if mo := s.moment(d); mo.span > 0 && s.load.writes > 0 {
		busy := math.Min(period, mo.span)
		if most := mo.Writes * s.load.insert / s.load.writes / s.pace.burst * busy * part; most > rows {
			rows, why = most, " and the hottest key's share of them in its busiest time"
		}
	}
	if rows > 1 && d.Shards > 1 {
		rows *= 1 + 3/math.Sqrt(rows) // a hash does not fill shards evenly
	}
	return rows, math.Max(rows*s.rowBytes(d), s.load.insert*s.bytesPerInsert(d)*period*part), why
}

// bytesPerInsert returns how many bytes of each inserted row, on average, go to the partition that
// gets most: its share of the rows, at the size of its own rows.
func (s *sizes) bytesPerInsert(d *Design) float64 {
	most := s.futureShare(d).Value * s.rowBytes(d)
	parts := s.timeless(d)
	m := s.ofPartition(parts)
	if len(parts) == 0 || m == nil || m.Rows == 0 {
		return most
	}
	head := math.Max(0, m.ByteSizes.Mean-m.RowSizes.Mean*m.RowBytes) // of a partition, without its rows
	added := s.rowBytes(d) - m.RowBytes                              // an id, or a bucket in another place
	of := func(rows, bytes float64) float64 {
		if rows < 1 {
			return 0
		}
		mean, own := ownRate(m, rows)
		// Few rows may be larger than others by chance: each row that they lack to enoughItems counts
		// with the mean of all rows.
		lack := math.Max(0, enoughItems-rows)
		row := (bytes - head + lack*m.RowBytes) / (rows + lack)
		return (mean + own*(rows-mean)) * (row + added) / float64(m.Rows)
	}
	for i := range m.Largest {
		p := &m.Largest[i]
		most = math.Max(most, of(p.Rows.Value, p.Bytes.Value))
	}
	return math.Max(most, of(m.Heaviest, m.ByteSizes.Max.Value))
}
