// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"

	"github.com/evenkeel/evenkeel/cql/analysis"
)

// Segment is a slice of one logical partition, with the shards that can have rows of it. Segments
// are read one after the other.
type Segment struct {
	KeyIndex int
	Key      [][]byte
	Slice    analysis.Slice
	Points   [][][]byte // the clustering keys, or the equally long prefixes of them, that a segment consists of, in reading order; nil: all of Slice
	Of       []int      // the shard of each point; nil: any of Shards
	After    [][]byte   // clustering key after which reading starts; nil: the start of the slice
	Shards   []int
	Old      []int // the shards under the old layout; only for a read that uses both places
	Last     bool  // the last segment of its partition
	Err      error // if it is not nil, the door could not find out which segments follow: this one has no other fields

	bytes int // of Points
}

// Segments yields the segments that a bound statement reads, in reading order. It starts in the partition key with
// index from, after a clustering key; nil: at the start. It computes each segment only when the caller needs it,
// because there can be as many segments as partition keys times slices.
func (p *Select) Segments(b *analysis.BoundSelect, dir Directory, from int, after [][]byte) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		if b.Empty() {
			return
		}
		for i, key := range b.Keys.From(from) {
			for s := range p.PartitionSegments(b, dir, i, key, after) {
				if !yield(s) {
					return
				}
			}
			after = nil
		}
	}
}

// PartitionSegments yields the segments of one logical partition.
func (p *Select) PartitionSegments(b *analysis.BoundSelect, dir Directory, index int, key, after [][]byte) iter.Seq[Segment] {
	switch {
	case p.Old != nil && (p.Table.Timed() || p.Old.Table.Timed()):
		return p.bothSegments(b, dir, index, key, after)
	case p.Table.Timed():
		return p.timedSegments(b, dir, index, key, after)
	}
	return func(yield func(Segment) bool) {
		// A segment is known to be the last one only when there is no next one.
		var next Segment
		all := p.Table.Shards(key)
		for s, after := range p.Table.resume(&b.Slices, after, p.Logical.Reversed) {
			shards := p.Table.shardsOf(key, s, all)
			if p.joins(&next, s, shards) {
				continue
			}
			if next.Key != nil && !yield(next) {
				return
			}
			next = Segment{KeyIndex: index, Key: key, Slice: s, After: after, Shards: shards}
			if p.Old != nil {
				next.Old = p.Old.Table.shardsOf(key, s, p.Old.Table.Shards(key))
			}
		}
		if next.Last = true; next.Key != nil {
			yield(next)
		}
	}
}

// InOld returns a segment with the shards of the old layout.
func (s Segment) InOld() Segment {
	s.Shards = s.Old
	return s
}

// Row returns the part of a segment that is one of its rows, with its shard under this plan's own
// layout.
func (p *Select) Row(s Segment, clustering [][]byte) Segment {
	b := analysis.Bound{Prefix: clustering, Inclusive: true}
	s.Slice, s.Points, s.Of, s.After, s.Old = analysis.Slice{Start: b, End: b}, nil, nil, nil, nil
	if n := p.Table.PlaceOf(s.Key, clustering); n != AnyShard {
		s.Shards = []int{n}
	} else {
		s.Shards = p.Table.Shards(s.Key)
	}
	return s
}
