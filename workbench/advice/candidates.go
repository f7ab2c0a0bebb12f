// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// These are bounds of the designs to try.
const (
	maxNaturals = 14
	maxDesigns  = 40
	maxKeys     = 4  // the most columns of a proposed partition key
	mostForSize = 64 // the most shards to try for a partition that grows for ever
)

// proposer makes the designs to measure.
type proposer struct {
	heats
	ids [][]string // sets of columns that may tell rows apart, best first
}

// identities returns sets of columns that may tell rows apart, to be measured: first single
// columns, then the columns that have most values, together.
func (s *proposer) identities() [][]string {
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
		case s.byLuck(c):
			rank += 1000
		}
		if c.Distinct.High >= rows {
			single = append(single, scored{c.Name, rank})
		}
		rest = append(rest, scored{c.Name, -c.Distinct.Value*boolTo(!s.byLuck(c)) + rank/1e6})
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
	var names []string
	for _, c := range rest {
		names = append(names, c.name)
	}
	return append(out, s.oneMore(names)...)
}

// These are bounds of the sets that oneMore returns.
const (
	mostNamed = 2 // sets of columns that queries name
	mostMore  = 3 // columns for each
)

// oneMore returns the columns that queries bind together, the largest sets first, each with one of
// the other columns. names holds the columns that may tell rows apart, best first.
func (s *proposer) oneMore(names []string) (out [][]string) {
	var named [][]string
	for i := range s.qs {
		var set []string
		for _, e := range s.qs[i].Equal {
			if slices.Contains(names, e.Column) && !slices.Contains(set, e.Column) {
				set = append(set, e.Column)
			}
		}
		slices.Sort(set)
		if s.qs[i].Verb != queries.Insert && len(set) > 1 && len(set) <= maxKeys && !slices.ContainsFunc(named, func(n []string) bool { return slices.Equal(n, set) }) {
			named = append(named, set)
		}
	}
	slices.SortStableFunc(named, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	for _, set := range named[:min(mostNamed, len(named))] {
		more := 0
		for _, c := range names {
			if more < mostMore && !slices.Contains(set, c) && !s.isTime(c) && !s.byLuck(s.p.Column(c)) {
				out = append(out, append(slices.Clone(set), c))
				more++
			}
		}
	}
	return out
}

// naturals returns the primary keys that the queries suggest, without buckets and shards: the
// columns that the queries bind by equality, and parts of these sets. Without queries it returns
// the columns that could be keys. It also returns single columns that look like ids.
func (s *proposer) naturals() []*Design {
	type weighed struct {
		parts  []profile.Part
		weight float64
	}
	var all []weighed
	add := func(parts []profile.Part, weight float64) {
		if len(parts) == 0 || len(parts) > maxKeys {
			return
		}
		for _, p := range parts {
			if !s.keyable(p.Column) {
				return
			}
		}
		for i := range all {
			if partitionID(all[i].parts) == partitionID(parts) {
				all[i].weight += weight
				return
			}
		}
		all = append(all, weighed{parts, weight})
	}
	// A key that contains a time is compared with the same key without the time. The key without
	// the time shows how the load is spread at any moment.
	both := func(columns []string, weight float64) {
		add(wholes(columns), weight)
		timeless := slices.DeleteFunc(slices.Clone(columns), s.isTime)
		if len(timeless) < len(columns) {
			add(wholes(timeless), weight/100)
		}
	}
	if !s.reads() {
		s.guesses(both)
	}
	for i := range s.qs {
		q := &s.qs[i]
		if q.Verb == queries.Insert {
			continue
		}
		weight := rateOf(q)
		var equal []string
		for _, e := range q.Equal {
			if s.keyable(e.Column) && !slices.Contains(equal, e.Column) {
				equal = append(equal, e.Column)
			}
		}
		both(equal, weight)
		for i, c := range equal {
			both([]string{c}, weight/2)
			if len(equal) > 2 {
				rest := slices.Delete(slices.Clone(equal), i, i+1)
				both(rest, weight/2)
			}
		}
		if len(equal) == 0 {
			for _, r := range q.Ranges {
				if c := s.p.Column(r.Column); c != nil && c.Moments() != nil {
					if c.Moments().Granularity >= profile.Day {
						both([]string{r.Column}, weight/2)
					} else {
						add([]profile.Part{{Column: r.Column, Bucket: profile.Day}}, weight/2)
						add([]profile.Part{{Column: r.Column, Bucket: profile.Hour}}, weight/2)
					}
				}
			}
		}
	}
	s.fenceKeys(both)
	// Add the keys that some users would choose without a query that names them: ids.
	for _, set := range s.ids {
		if len(set) == 1 {
			add(wholes(set), 1e-9)
		}
	}
	for i := range s.p.Columns {
		if c := &s.p.Columns[i]; c.Order.Sequential {
			add(wholes([]string{c.Name}), 1e-9)
		}
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	if len(all) > maxNaturals {
		all = all[:maxNaturals]
	}
	var out []*Design
	for _, w := range all {
		d := &Design{Partition: w.parts, Shards: 1}
		s.cluster(d)
		out = append(out, d)
	}
	return out
}

// reads reports whether any query looks rows up, or names the rows that it changes.
func (s *facts) reads() bool {
	return slices.ContainsFunc(s.qs, func(q queries.Query) bool { return q.Verb != queries.Insert })
}

// guesses adds keys for data without queries: each column that could be a key. A column that is
// nearly unique counts half.
func (s *proposer) guesses(add func(columns []string, weight float64)) {
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		if isFloat(c) || c.Distinct.Value < 2 || c.MeanBytes > 128 || float64(c.Nulls) > 0.01*float64(s.p.Rows) {
			continue
		}
		weight := 1.0
		if c.Distinct.Value > 0.9*float64(s.p.Rows) {
			weight = 0.5
		}
		add([]string{c.Name}, weight)
	}
}

// cluster chooses the clustering columns: columns that the queries bind, bound or order behind the
// partition key, in the order that serves most of the queries. It leaves out columns that serve no
// query.
func (s *proposer) cluster(d *Design) {
	var wanted []string
	want := func(c string) {
		if !slices.Contains(wanted, c) && s.keyable(c) && !slices.ContainsFunc(d.Partition, func(p profile.Part) bool { return p.Column == c && p.Bucket == profile.Whole }) {
			wanted = append(wanted, c)
		}
	}
	served := func(q *queries.Query) bool {
		return q.Verb != queries.Insert && s.serve(d, q).Kind != FullScan
	}
	for i := range s.qs {
		if q := &s.qs[i]; served(q) {
			for _, e := range q.Equal {
				want(e.Column)
			}
		}
	}
	for i := range s.qs {
		if q := &s.qs[i]; served(q) {
			for _, o := range q.Order {
				if o.Column != "" {
					want(o.Column)
				}
			}
			for _, r := range q.Ranges {
				want(r.Column)
			}
		}
	}
	if !s.reads() && s.time != nil {
		want(s.time.Name)
	}
	if len(wanted) > 5 {
		wanted = wanted[:5]
	}
	best, bestCost := []string(nil), math.Inf(1)
	permute(wanted, func(order []string) {
		for n := 0; n <= len(order); n++ {
			d.Clustering = order[:n]
			if !s.reads() && n < len(order) {
				continue
			}
			cost := float64(n) * 1e-6
			for i := range s.qs {
				if q := &s.qs[i]; q.Verb != queries.Insert {
					switch s.serve(d, q).Kind {
					case Filtered:
						cost += rateOf(q)
					case FullScan:
						cost += 2 * rateOf(q)
					}
				}
			}
			if cost < bestCost-1e-12 {
				best, bestCost = slices.Clone(d.Clustering), cost
			}
		}
	})
	d.Clustering = best
	d.Desc = s.directions(best)
}

// directions returns the direction in which the queries read each clustering column (true is
// descending): the one that most of them ask for. It is ascending if no query names one.
func (s *proposer) directions(clustering []string) []bool {
	out := make([]bool, len(clustering))
	for i, c := range clustering {
		weight := 0.0
		for j := range s.qs {
			for _, o := range s.qs[j].Order {
				if o.Column == c || o.Column == "" && i == 0 {
					if o.Desc {
						weight += rateOf(&s.qs[j])
					} else {
						weight -= rateOf(&s.qs[j])
					}
				}
			}
		}
		out[i] = weight > 0
	}
	return out
}

// permute visits all orders of a few names.
func permute(names []string, visit func([]string)) {
	var walk func(int)
	order := slices.Clone(names)
	walk = func(at int) {
		if at == len(order) {
			visit(order)
			return
		}
		for i := at; i < len(order); i++ {
			order[at], order[i] = order[i], order[at]
			walk(at + 1)
			order[at], order[i] = order[i], order[at]
		}
	}
	walk(0)
}

// refine makes the designs of the second round: the naturals with columns added that tell rows
// apart, the same with time buckets, and variants with shards if heat or size needs them.
func (s *proposer) refine() []*Design {
	var out []*Design
	seen := make(map[string]bool)
	add := func(d *Design) {
		if len(out) < maxDesigns && !seen[d.id()] {
			seen[d.id()] = true
			out = append(out, d)
		}
	}
	base := slices.Clone(s.natural)
	for _, d := range s.natural {
		base = append(base, s.bucketed(d)...)
	}
	// The naturals come first: the other designs must be better than they are.
	for _, d := range base {
		whole := &Design{Partition: d.Partition, Clustering: slices.Clone(d.Clustering), Desc: slices.Clone(d.Desc), Shards: 1}
		s.identify(whole)
		add(whole)
	}
	for _, d := range slices.Clone(out) {
		for _, sharded := range s.sharded(d) {
			add(sharded)
		}
	}
	return out
}

// bucketed returns a variant of a design with a time bucket if its partitions get too large. The
// bucket is the coarsest that keeps them within the limits, or the finest that exists. If the
// queries give no time, each reads all buckets of its key: then there are no buckets finer than
// months that would be empty for most keys.
func (s *proposer) bucketed(d *Design) []*Design {
	if slices.ContainsFunc(d.Partition, func(p profile.Part) bool { return p.Bucket != profile.Whole || s.isTime(p.Column) }) {
		return nil
	}
	t := s.bucketColumn(d)
	if t == "" || s.of(d) == nil || s.within100MB(d) {
		return nil
	}
	fine := s.p.Column(t).Moments().Granularity
	var last *Design
	asked := s.askedTime(d) != "" || !s.reads()
	for _, unit := range []profile.Granularity{profile.Year, profile.Month, profile.Day, profile.Hour} {
		if unit < fine {
			break
		}
		if !asked && unit < profile.Month && s.of(d).RowSizes.P50.Value < s.span()/seconds(unit) {
			return nil
		}
		last = &Design{Shards: 1, Partition: append(slices.Clone(d.Partition), profile.Part{Column: t, Bucket: unit})}
		if _, bytes, _ := s.fills(last, seconds(unit)); bytes <= keptPart*MaxBytes {
			break
		}
	}
	if last == nil {
		return nil
	}
	s.cluster(last)
	ranges := slices.ContainsFunc(s.qs, func(q queries.Query) bool { return q.Range(t) != nil })
	if last.bucket().Bucket == fine && !(ranges && s.timed(last)) {
		// Each value of the column is one such period. A range of them would take a statement for each.
		last = &Design{Shards: 1, Partition: append(slices.Clone(d.Partition), profile.Part{Column: t, Bucket: profile.Whole})}
		s.cluster(last)
	}
	return []*Design{last}
}

// within100MB reports whether a design's partitions are, and stay, within the size limit.
func (s *sizes) within100MB(d *Design) bool {
	if !s.o.Target.nodes() {
		return true
	}
	g := s.growthOf(d)
	for i, h := range g.Hits {
		if i > 0 && (h.Exceeded || h.Predictable && h.After <= horizon) {
			return false
		}
	}
	if g.soon() || s.ofPartition(d.Partition).ByteSizes.Max.High > MaxBytes {
		return false
	}
	return s.projected(d).bytes <= keptPart*MaxBytes
}

// bucketColumn returns the column that gives a bucket its time: a column whose time the queries
// give, else the event time.
func (s *proposer) bucketColumn(d *Design) string {
	if c := s.askedTime(d); c != "" {
		return c
	}
	if s.time != nil && s.keyable(s.time.Name) {
		return s.time.Name
	}
	return ""
}

// askedTime returns the column whose time the queries give: one that they bound or order by after
// the partition key; else an id with a time that they give; "": they give no time.
func (s *proposer) askedTime(d *Design) string {
	for i := range s.qs {
		q := &s.qs[i]
		if q.Verb == queries.Insert || s.serve(d, q).Kind == FullScan {
			continue
		}
		for _, r := range q.Ranges {
			if s.givesTime(r.Column) && s.keyable(r.Column) {
				return r.Column
			}
		}
		for _, o := range q.Order {
			if o.Column != "" && s.givesTime(o.Column) && s.keyable(o.Column) {
				return o.Column
			}
		}
	}
	for i := range s.qs {
		q := &s.qs[i]
		if q.Verb == queries.Insert || s.serve(d, q).Kind == FullScan {
			continue
		}
		for _, e := range q.Equal {
			if !slices.Contains(d.columns(), e.Column) && s.keyable(e.Column) && (typeOf(s.p.Column(e.Column)) == "timeuuid" || s.p.Column(e.Column).Made != nil) {
				return e.Column
			}
		}
	}
	return ""
}

// sharded returns the variants of a design with shards: as many as its heat needs, and as many as
// its size needs.
func (s *proposer) sharded(d *Design) []*Design {
	if len(d.Clustering) == 0 && !d.AddID {
		return nil // a partition holds one row
	}
	var ns []int
	add := func(n float64) {
		if k := int(math.Ceil(n)); k > 1 && !slices.Contains(ns, k) {
			ns = append(ns, min(k, shard.MaxShards))
		}
	}
	heat := 0.0
	for _, indexed := range []float64{0, s.possibleIndexBytes(d)} {
		hot := s.heatOf(d, indexed)
		heat = s.shardsFor(hot.Writes, hot.Share, hot.each)
		add(heat)
	}
	if s.o.Target.nodes() {
		// A hash does not fill shards evenly: leave 30% free. A partition that is within the limit gets no
		// shards for its size, however far it is from the ideal: each query would read all of them.
		if size := s.projected(d).bytes; size > keptPart*MaxBytes {
			add(math.Max(heat, size/(MaxBytes*0.7)))
		}
	}
	if g := s.growthOf(d); s.o.Target.nodes() && g.Unbounded && g.bytesPerSecond*horizon > MaxBytes {
		if n := math.Ceil(g.bytesPerSecond * horizon / (MaxBytes * 0.7)); n <= mostForSize {
			add(math.Max(heat, n))
		}
	}
	var out []*Design
	for _, n := range ns {
		for _, by := range s.bys(d) {
			out = append(out, &Design{Partition: d.Partition, Clustering: d.Clustering, Desc: d.Desc, AddID: d.AddID, Shards: n, By: by})
		}
	}
	return out
}

// bys returns the columns to hash: all clustering columns (nil), and also those that a query binds,
// because then the query finds one shard.
func (s *proposer) bys(d *Design) [][]string {
	out := [][]string{nil}
	if len(d.Clustering) == 0 {
		return out
	}
	for i := range s.qs {
		q := &s.qs[i]
		if by := s.sharedBy(d, q); len(by) > 0 && !slices.ContainsFunc(out, func(have []string) bool { return slices.Equal(have, by) }) && varied(s.p, by) {
			out = append(out, by)
		}
		if q.Verb == queries.Insert || s.serve(d, q).Kind == FullScan {
			continue
		}
		var by []string
		for _, c := range d.Clustering {
			if q.Bound(c) != nil {
				by = append(by, c)
			}
		}
		if len(by) == 0 || len(by) == len(d.Clustering) && !d.AddID || len(out) >= 3 {
			continue
		}
		if !slices.ContainsFunc(out, func(have []string) bool { return slices.Equal(have, by) }) && varied(s.p, by) {
			out = append(out, by)
		}
	}
	return out
}

// varied reports whether columns have enough values to spread over shards.
func varied(p *profile.Profile, columns []string) bool {
	values := 1.0
	for _, c := range columns {
		values *= p.Column(c).Distinct.Value
	}
	return values >= 100
}
