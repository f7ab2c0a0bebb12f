// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// between returns the first and the last bucket that can have rows of a slice.
func (g *timing) between(s analysis.Slice) (first, last int64) {
	low, high := firstBounds(s, g.desc)
	return g.grid.Between(g.kind, low, high)
}

// span is between for a slice that a cut has made. Such a slice can end exactly where a bucket begins.
// between then includes that bucket, and span does not. The first bucket of the grid also has all
// earlier rows, so span keeps it.
func (g *timing) span(s analysis.Slice) (first, last int64) {
	first, last = g.between(s)
	high := s.End
	if g.desc {
		high = s.Start
	}
	if last > g.grid.First() && !high.Inclusive && len(high.Prefix) == 1 && bytes.Equal(high.Prefix[0], g.kind.First(g.grid.Start(last))) {
		last--
	}
	return first, last
}

// within returns the part of a slice that is in a bucket. It returns false if there is none.
func (g *timing) within(s analysis.Slice, bucket int64) (analysis.Slice, bool) {
	first, last := g.span(s)
	if bucket < first || bucket > last {
		return s, false
	}
	low, high := &s.Start, &s.End
	if g.desc {
		low, high = high, low
	}
	if bucket > first {
		*low = analysis.Bound{Prefix: [][]byte{g.kind.First(g.grid.Start(bucket))}, Inclusive: true}
	}
	if bucket < last {
		*high = analysis.Bound{Prefix: [][]byte{g.kind.First(g.grid.Start(bucket + 1))}}
	}
	return s, true
}

// near says whether a slice spans so few buckets that a deletion of it is sent to all of them, in the
// directory or not.
func (g *timing) near(s analysis.Slice) bool {
	first, last := g.between(s)
	return first > last || (last-first+1)*int64(g.width) <= timebucket.MostPlaces
}
