// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// HeatTimes and HeatRanges are the numbers of time slices and token ranges of Detail.Heat.
const (
	HeatTimes  = timeParts / 2
	HeatRanges = 32
)

// Detail is what plots show of a candidate.
type Detail struct {
	// Sizes holds partitions by size, the smallest first: each entry stands for Count of them.
	// There are at most some hundred entries. If the partitions were sampled, the entries are a
	// sample, too, except for the largest.
	Sizes []Bulk

	// Heat counts the rows in each slice of time, from the first to the last value of
	// Candidate.Time, and in each of HeatRanges equal ranges of tokens: Heat[time][range]. It is
	// nil without a time.
	Heat [][]int64
}

// Bulk is a number of partitions of about the same size.
type Bulk = sketch.Bulk

// bulks is the approximate number of Bulks in a Detail.
const bulks = 400

// heat counts the rows for Detail.Heat.
type heat struct {
	cells  [HeatTimes][HeatRanges]int64
	recent []placed // tokens of partitions, by hash: rows of one partition often come close together
}

type placed struct {
	hash  uint64
	token int64
}

const recentTokens = 1 << 12

func newHeat() *heat { return &heat{recent: make([]placed, recentTokens)} }

// heated counts a batch's rows by their time and token.
func (m *measurer) heated(b *rows.Batch, d *design, h *heat, skip []bool) {
	hashes := m.key[d.key]
	if d.shards() > 1 {
		hashes = m.sharded(d, hashes)
	}
	times, span := m.lanes[d.time].time, m.spans[d.times]
	for i, hash := range hashes {
		ms := times[i]
		if hash == nullHash || ms == noTime || skip != nil && skip[i] {
			continue
		}
		p := &h.recent[hash%recentTokens]
		if p.hash != hash {
			*p = placed{hash, m.token(d, i)}
		}
		at := min(max((ms-span[0])/span[1]*HeatTimes/timeParts, 0), HeatTimes-1)
		h.cells[at][(uint64(p.token)^1<<63)/(math.MaxUint64/HeatRanges+1)]++
	}
}

func (h *heat) merge(o *heat) {
	for i := range h.cells {
		for j, n := range o.cells[i] {
			h.cells[i][j] += n
		}
	}
}

// detail returns a candidate's Detail.
func (t *tally) detail() *Detail {
	d := &Detail{Sizes: t.bulks()}
	if t.heat != nil {
		for i := range t.heat.cells {
			d.Heat = append(d.Heat, slices.Clone(t.heat.cells[i][:]))
		}
	}
	return d
}

// bulks returns the partitions by size.
func (t *tally) bulks() []Bulk {
	return sketch.Bulks(t.sample, t.top,
		func(s *partitionSeen) (rows, bytes float64) { return float64(s.rows), float64(s.bytes) },
		func(s *partitionTop) (rows, bytes float64) { return float64(s.rows), float64(s.bytes) }, bulks)
}
