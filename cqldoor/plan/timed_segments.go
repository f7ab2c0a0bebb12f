// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
)

// timedSegments yields the segments of one logical partition of strategy time. Each has the
// shards of one bucket or of several consecutive buckets.
func (p *Select) timedSegments(b *analysis.BoundSelect, dir Directory, index int, key, after [][]byte) iter.Seq[Segment] {
	t := p.Table
	return func(yield func(Segment) bool) {
		// A segment is the last one if no other follows. So put keeps each segment back until it has the next
		// one. If there is only one slice, the directory says which run of buckets is the last. Then put
		// yields each segment at once, and the read has its rows before the size of the next run is chosen.
		only := b.Slices.Len() == 1
		var next Segment
		put := func(s Segment) bool {
			if only {
				return yield(s)
			}
			before := next
			next = s
			return before.Key == nil || yield(before)
		}
		for s, after := range t.resume(&b.Slices, after, p.Logical.Reversed) {
			if n, ok := t.rowShard(s); ok {
				if !put(Segment{KeyIndex: index, Key: key, Slice: s, After: after, Shards: []int{n}, Last: only}) {
					return
				}
				continue
			}
			for run, err := range (listing{t, dir, key}).runs(Within(s, after, nil, p.Logical.Reversed), p.Logical.Reversed) {
				if !put(Segment{KeyIndex: index, Key: key, Slice: s, After: after, Shards: t.timing.places(run.Buckets), Last: only && run.Last, Err: err}) {
					return
				}
				after = nil
			}
		}
		if next.Last = true; next.Key != nil {
			yield(next)
		}
	}
}

// Buckets returns how many buckets a segment has, or 0 if the table has none.
func (p *Select) Buckets(s Segment) int {
	if !p.Table.Timed() {
		return 0
	}
	return (len(s.Shards) + p.Table.timing.width - 1) / p.Table.timing.width
}

// BucketsTo returns a number of buckets. A read visits the buckets of a segment in order. It visits so many of them until it
// reaches the bucket of a shard, and this bucket counts.
func (p *Select) BucketsTo(s Segment, shard int) int {
	t := p.Table.timing
	at, _ := slices.BinarySearch(s.Shards, shard)
	if at /= t.width; t.desc != p.Logical.Reversed {
		return p.Buckets(s) - at
	}
	return at + 1
}
