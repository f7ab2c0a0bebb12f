// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"bytes"
	"slices"
	"sort"
)

// cooled returns the time without refusals after which a partition is no longer hot.
func (l *Limits) cooled() nano {
	return max(5*second, l.SplitAfter.Nanoseconds()/10)
}

// sample notes the place of a request to a hot partition.
func (m *Model) sample(p *partition, k Key, now nano) {
	if p.hotSince == 0 || m.limits.SplitAfter < 0 {
		return
	}
	half := &p.early
	if now-p.hotSince > m.limits.SplitAfter.Nanoseconds()/2 {
		half = &p.late
	}
	half.offer(k, m.draw())
}

// heat notes that partition i refuses a request. It splits the partition if that has been so for
// long enough.
func (m *Model) heat(i int, now nano) {
	p := m.partitions[i]
	if p.hotSince == 0 || now-p.hotLast > m.limits.cooled() {
		p.hotSince = now
		p.early, p.late = samples{keys: p.early.keys[:0]}, samples{keys: p.late.keys[:0]}
	}
	p.hotLast = now
	if m.limits.SplitAfter < 0 || now-p.hotSince < m.limits.SplitAfter.Nanoseconds() {
		return
	}
	p.hotSince = 0
	if at := m.heatPoint(i); at != nil {
		m.split(i, at, now)
	}
}

const (
	// leastSamples is the number of requests, early and late, that are needed to judge a split.
	leastSamples = 16
	// mostOneSided is the largest part of the requests that the busier side of a split may have.
	// Above it, the split does not help.
	mostOneSided = 0.9
)

// heatPoint returns the position at which to split a hot partition, or nil if a split would not
// help. It is the position that divides the early requests best, if it also divides the later
// requests. If sort keys only increase, all later requests are on one side.
func (m *Model) heatPoint(i int) []byte {
	p := m.partitions[i]
	if len(p.early.keys) < leastSamples || len(p.late.keys) < leastSamples {
		return nil
	}
	at := m.middle(i, p.early.keys)
	if at == nil || oneSided(p.late.keys, at) > mostOneSided {
		return nil
	}
	return at
}

// middle returns the boundary in partition i that divides keys best, or nil if none divides them.
func (m *Model) middle(i int, keys []Key) []byte {
	from, to := m.partitions[i].from, []byte(nil)
	if i+1 < len(m.partitions) {
		to = m.partitions[i+1].from
	}
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, func(a, b Key) int { return bytes.Compare(a.Position, b.Position) })
	var best []byte
	least := 1.0
	try := func(at []byte) {
		if bytes.Compare(at, from) <= 0 || to != nil && bytes.Compare(at, to) >= 0 {
			return
		}
		before := sort.Search(len(sorted), func(i int) bool { return bytes.Compare(sorted[i].Position, at) >= 0 })
		if s := side(before, len(sorted)); s < least {
			best, least = at, s
		}
	}
	for _, k := range sorted {
		if m.settings.Whole {
			try(k.collection())
			try(after(k.collection()))
			continue
		}
		try(k.Position)
		try(append(slices.Clip(k.Position), 0))
	}
	return bytes.Clone(best)
}

// side returns the part of the larger side.
func side(before, all int) float64 { return float64(max(before, all-before)) / float64(all) }

func oneSided(keys []Key, at []byte) float64 {
	before := 0
	for _, k := range keys {
		if bytes.Compare(k.Position, at) < 0 {
			before++
		}
	}
	return side(before, len(keys))
}

// after returns the first position after all that begin with p; nil: there is none.
func after(p []byte) []byte {
	p = bytes.Clone(p)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i]++; p[i] != 0 {
			return p[:i+1]
		}
	}
	return nil // all bytes were ff
}

// splitForSize splits a partition at the position that halves its bytes.
func (m *Model) splitForSize(i int, now nano) {
	if at := m.middle(i, m.partitions[i].placed.keys); at != nil {
		m.split(i, at, now)
	}
}

// split divides a partition. From now on each half has the limits of a whole partition.
func (m *Model) split(i int, at []byte, now nano) {
	if len(m.partitions) >= MaxPartitions {
		return
	}
	p, q := m.partitions[i], m.newPartition(now)
	q.from = at
	rest := samples{}
	for _, k := range p.placed.keys {
		if bytes.Compare(k.Position, at) >= 0 {
			q.placed.keys = append(q.placed.keys, k)
		} else {
			rest.keys = append(rest.keys, k)
		}
	}
	if all := len(p.placed.keys); all > 0 {
		right := len(q.placed.keys)
		q.bytes = p.bytes * int64(right) / int64(all)
		q.placed.seen = p.placed.seen * uint64(right) / uint64(all)
		rest.seen = p.placed.seen - q.placed.seen
	}
	p.bytes -= q.bytes
	p.placed, p.early, p.late = rest, samples{}, samples{}
	p.keys = keys{}
	p.born, p.hotSince = now, 0
	for op := range ops {
		b := &p.use[op].bucket
		b.fill(now)
		q.use[op].bucket.tokens = b.tokens // debt, too: a split does not cancel it
	}
	m.partitions = slices.Insert(m.partitions, i+1, q)
}

// grow splits the partitions with the most hashes until there are n.
func (m *Model) grow(n int, now nano) {
	for len(m.partitions) < min(n, MaxPartitions) {
		widest, width := -1, uint64(1)
		for i := range m.partitions {
			if from, to := m.hashes(i); to > from && to-from > width {
				widest, width = i, to-from
			}
		}
		if widest < 0 {
			return
		}
		from, _ := m.hashes(widest)
		m.split(widest, boundary(from+width/2), now)
	}
}

// peakWindow is the time over which a table's throughput is averaged.
const peakWindow = 10 * second

// growth follows the peak of an on-demand table.
type growth struct {
	since nano // the beginning of the window
	units [ops]float64
	peak  Rate
	at    nano // the time at which the table grows; 0: it is large enough
}

// peak counts the units that a table takes. An on-demand table grows to bear twice its peak.
func (m *Model) peak(op Op, units float64, now nano) {
	if !m.settings.OnDemand {
		return
	}
	g := &m.growth
	if g.since == 0 || now-g.since >= 2*peakWindow {
		*g = growth{since: now, peak: g.peak, at: g.at}
	} else if now-g.since >= peakWindow {
		seconds := float64(now-g.since) / float64(second)
		g.peak.Read = max(g.peak.Read, g.units[Read]/seconds)
		g.peak.Write = max(g.peak.Write, g.units[Write]/seconds)
		g.since, g.units = now, [ops]float64{}
		enough := len(m.partitions) >= m.limits.needed(g.twice())
		switch {
		case enough || m.limits.SplitAfter < 0:
			g.at = 0
		case g.at == 0:
			g.at = now + m.limits.SplitAfter.Nanoseconds()
		case now >= g.at:
			g.at = 0
			m.grow(m.limits.needed(g.twice()), now)
		}
	}
	g.units[op] += units
}

func (g *growth) twice() Rate {
	return Rate{Read: 2 * g.peak.Read, Write: 2 * g.peak.Write}
}

// Peak returns the greatest throughput of an on-demand table so far, averaged over ten seconds.
func (m *Model) Peak() Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.growth.peak
}
