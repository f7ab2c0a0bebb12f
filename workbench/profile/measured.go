// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// measured returns the result of a candidate.
func (m *measurer) measured(i, top int) *Measured {
	d, t := m.candidates[i], m.tallies[i]
	out := &Measured{Candidate: d.Candidate, Rows: t.rows, Unkeyed: t.unkeyed}
	total := float64(t.rows)
	if d.LossAlone {
		out.Lost = m.lost(d.primary).capped(total)
		return out
	}
	out.Partitions = estimate(t.sample.Distinct()).capped(total)
	out.Lost = m.lost(d.primary).capped(total)

	list := t.top.List(1 << 30)
	absent := float64(t.top.Absent())
	size := func(s *partitionSeen) float64 { return float64(s.rows) }
	bytes := func(s *partitionSeen) float64 { return float64(s.bytes) }
	out.RowSizes.quantiles(t.sample.Quantiles(size, 0.5, 0.9, 0.99))
	out.ByteSizes.quantiles(t.sample.Quantiles(bytes, 0.5, 0.9, 0.99))
	out.RowSizes.Mean = ratio(total, out.Partitions.Value)

	var most, mostBytes, sumBytes, sumRows, sumHeads float64 // of the sample
	for _, s := range t.sample.All() {
		if most = max(most, size(s)); bytes(s) > mostBytes {
			mostBytes, out.Heaviest = bytes(s), size(s)
		}
		sumBytes += bytes(s)
		sumRows += size(s)
		sumHeads += float64(s.head)
	}
	out.RowBytes = ratio(sumBytes-sumHeads, sumRows)
	perRow := ratio(sumBytes, sumRows)
	out.ByteSizes.Mean = out.RowSizes.Mean * perRow

	// For the largest partition, the sample has exact counts and the frequent ones have bounds.
	largest := Estimate{Value: most, Low: most, High: most}
	maxBytes := Estimate{Value: mostBytes, Low: mostBytes, High: mostBytes}
	if !t.sample.Exact() {
		largest.High, maxBytes.High = max(most, absent), max(mostBytes, absent*perRow)
		for _, f := range list {
			r := between(f.Low, f.High)
			largest.Low, largest.High, largest.Value = max(largest.Low, r.Low), max(largest.High, r.High), max(largest.Value, r.Value)
			b := f.Of.size(r)
			if b.Value > maxBytes.Value {
				out.Heaviest = r.Value
			}
			maxBytes.Low, maxBytes.High, maxBytes.Value = max(maxBytes.Low, b.Low), max(maxBytes.High, b.High), max(maxBytes.Value, b.Value)
		}
	}
	if m.single(d) {
		out.Partitions, out.RowSizes.Mean = exactly(total), 1
		for _, e := range []*Estimate{&out.RowSizes.P50, &out.RowSizes.P90, &out.RowSizes.P99, &largest} {
			*e = exactly(1)
		}
		maxBytes.Value = maxBytes.Low
	}
	largest.Exact, maxBytes.Exact = largest.Low == largest.High, maxBytes.Low == maxBytes.High
	out.RowSizes.Max, out.ByteSizes.Max = largest, maxBytes
	out.RowSizes.cap(largest.High)
	out.ByteSizes.cap(maxBytes.High)

	for i := range list { // partitions that are also in the sample were counted from their first row on
		if s := t.sample.Find(list[i].Hash); s != nil {
			list[i].Low, list[i].High = s.rows, s.rows
		}
	}
	slices.SortStableFunc(list, func(a, b sketch.Frequent[partitionTop]) int { return cmp.Compare(b.High, a.High) })
	for _, f := range list[:min(top, len(list))] {
		p := Partition{Values: f.Of.id.values(), Shard: f.Of.id.shard, Token: f.Of.id.token, Rows: between(f.Low, f.High), Over: f.Of.sixteenths(), ItemSizes: f.Of.sizes}
		p.Share = ratio(p.Rows.Value, total)
		p.Bytes = f.Of.size(p.Rows)
		if s := t.sample.Find(f.Hash); s != nil {
			p.Bytes = exactly(float64(s.bytes))
		}
		out.Largest = append(out.Largest, p)
	}
	if d.time >= 0 && d.shards() == 1 {
		out.Course = slices.Clone(t.course[:])
		out.Busiest = m.busiest(d, t, list)
		out.Since = since(list, absent)
	}
	out.Squares = estimate(t.sample.Sum(func(s *partitionSeen) float64 { return float64(s.rows) * float64(s.rows) }))
	out.Growth = growth(t.sample, m.batches, func(s *partitionSeen) uint32 { return s.first })
	out.Peak = m.peak(d, t)
	out.tokens(t, total)
	if d.Detail {
		out.Detail = t.detail()
	}
	return out
}

// size estimates the bytes of a partition with that many rows. It uses the mean bytes of the rows
// that came since the partition became one of the frequent ones.
func (p *partitionTop) size(rows Estimate) Estimate {
	head := float64(p.head)
	b := rows.times(ratio(float64(p.bytes)-head, float64(p.rows)))
	return Estimate{b.Value + head, b.Low + head, b.High + head, b.Exact}
}

// single reports whether each partition has one row, because columns of the partition key tell all
// rows apart.
func (m *measurer) single(d *design) bool {
	for i, set := range m.primary {
		if within(set, m.keys[d.key]) && (m.unique[i] || m.whole[i].Exact() && m.repeats(i).Value == 0) && m.complete(set) {
			return true
		}
	}
	return false
}

// lost returns how many rows repeat a primary key.
func (m *measurer) lost(primary int) Estimate {
	for i, set := range m.primary {
		// If some columns tell all rows apart, they still do so with more columns.
		if within(set, m.primary[primary]) && (m.unique[i] || m.whole[i].Exact() && m.repeats(i).Value == 0) && m.complete(set) {
			return exactly(0)
		}
	}
	return m.repeats(primary)
}

func (m *measurer) repeats(primary int) Estimate {
	return estimate(m.whole[primary].Sum(func(n *uint32) float64 { return float64(*n - 1) }))
}

// within reports whether all of a are in b.
func within(a, b []int) bool {
	for _, v := range a {
		if !slices.Contains(b, v) {
			return false
		}
	}
	return true
}

// complete reports whether no component is null, so that a set has counted all rows.
func (m *measurer) complete(set []int) bool {
	for _, i := range set {
		if i < 0 {
			i = m.buckets[^i].column
		}
		if c := m.profile.Column(m.columns[i]); c.Nulls > 0 || c.Empty > 0 {
			return false
		}
	}
	return true
}

func (m *measurer) peak(d *design, t *tally) *Peak {
	if t.peak == nil {
		return nil
	}
	list := t.peak.List(1 << 30)
	if len(list) == 0 {
		return nil
	}
	best := list[0]
	for _, f := range list {
		if f.Low > best.Low {
			best = f
		}
	}
	p := &Peak{Granularity: d.unit, Rows: between(best.Low, max(best.High, list[0].High)), Values: best.Of.id.values(), Shard: best.Of.id.shard, Start: time.UnixMilli(best.Of.start).UTC()}
	for _, h := range m.profile.Column(d.Time).Moments().Hot {
		if h.Granularity == d.unit {
			p.Total = h.Rows
		}
	}
	return p
}

func (s *Sizes) quantiles(q []sketch.Interval) {
	s.P50, s.P90, s.P99 = estimate(q[0]), estimate(q[1]), estimate(q[2])
}

func (s *Sizes) cap(most float64) {
	s.P50, s.P90, s.P99 = s.P50.capped(most), s.P90.capped(most), s.P99.capped(most)
}

// tokenRanges is the number of equal ranges of Measured.Tokens.
const tokenRanges = 4096

// tokens computes where the rows are on the ring. It knows all partitions, or those that are large
// enough to matter: many small ones even out, but one with a large share of the rows does not.
func (m *Measured) tokens(t *tally, total float64) {
	known := 0.0
	if t.sample.Exact() {
		m.known = make([]tokenRows, 0, t.sample.Len())
		for _, s := range t.sample.All() {
			m.known = append(m.known, tokenRows{s.token, float64(s.rows)})
			known += float64(s.rows)
		}
	} else {
		for _, f := range t.top.List(1 << 30) {
			r := between(f.Low, f.High)
			m.known = append(m.known, tokenRows{f.Of.id.token, r.Value})
			known += r.Value
		}
	}
	m.rest = max(0, total-known)
	m.Tokens = make([]float64, tokenRanges)
	for i := range m.Tokens {
		m.Tokens[i] = m.rest / tokenRanges
	}
	for _, k := range m.known {
		m.Tokens[(uint64(k.token)^1<<63)>>52] += k.rows
	}
	slices.SortFunc(m.known, func(a, b tokenRows) int { return cmp.Compare(a.token, b.token) })
}

// Nodes spreads the rows over a ring. tokens holds the nodes' tokens, ascending. owners holds, by
// token, the numbers of the nodes that keep the range which ends at that token; the first range
// also includes the tokens above the last. Nodes returns the rows of each node.
func (m *Measured) Nodes(nodes int, tokens []int64, owners [][]int) []float64 {
	load := make([]float64, nodes)
	put := func(at int, rows float64) {
		for _, n := range owners[at] {
			load[n] += rows
		}
	}
	for i, t := range tokens {
		before := tokens[(i+len(tokens)-1)%len(tokens)]
		width := float64(uint64(t)-uint64(before)) / (1 << 64) // also right over the ring's start
		if len(tokens) == 1 {
			width = 1
		}
		put(i, m.rest*width)
	}
	for _, k := range m.known {
		at, _ := slices.BinarySearch(tokens, k.token)
		put(at%len(tokens), k.rows)
	}
	return load
}
