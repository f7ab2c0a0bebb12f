// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// During a change, a read can use the old and the new places of rows. It compares what both have of one
// slice. If a layout has buckets of time, each segment is a slice of time with only a few buckets of
// either layout. The slices leave no gap: a row can be in only one of its places, so both are read whole.
//
// A scan of a table of strategy time shows the rows of each physical partition where it meets that
// partition. It does not show a logical partition as a whole at the bucket that owns it. Buckets get
// rows and become empty all the time, so the owner would change during the scan, and the scan would
// show rows twice or not at all. The scan can use the order of the old places while the new places
// answer.

// bothSegments yields the segments of one logical partition for a read that uses both places of rows.
func (p *Select) bothSegments(b *analysis.BoundSelect, dir Directory, index int, key, after [][]byte) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		var next Segment
		put := func(s Segment) bool {
			before := next
			next = s
			return before.Key == nil || yield(before)
		}
		for s, after := range p.Table.resume(&b.Slices, after, p.Logical.Reversed) {
			if !p.cuts(dir, index, key, Within(s, after, nil, p.Logical.Reversed), put) {
				return
			}
		}
		if next.Last = true; next.Key != nil {
			yield(next)
		}
	}
}

// cuts yields the segments of one slice of a logical partition. It returns false if the consumer wants
// no more.
func (p *Select) cuts(dir Directory, index int, key [][]byte, s analysis.Slice, yield func(Segment) bool) bool {
	for n, more := 1, true; more; n = min(2*n, timebucket.MostPlaces) {
		segment := Segment{KeyIndex: index, Key: key}
		segment.Slice, s, more, segment.Err = p.cut(dir, key, s, n)
		if segment.Err == nil {
			segment.Shards, segment.Err = listing{p.Table, dir, key}.shards(segment.Slice)
		}
		if segment.Err == nil && p.Old != nil {
			segment.Old, segment.Err = listing{p.Old.Table, dir, key}.shards(segment.Slice)
		}
		if !yield(segment) || segment.Err != nil {
			return false
		}
	}
	return true
}

// Rowwise reports whether the result depends on each row alone, so that a scan by a table of strategy time
// can show the rows of a logical partition in any order. It is the same in all steps of a change: the next
// page of a scan, which another step may answer, must go on in the same way.
func (p *Select) Rowwise() bool {
	a := p.Logical
	return !a.Distinct && !a.Grouped && a.PerPartitionLimit == nil && len(a.Sort) == 0
}

// ShardSegments yields the segments that have the rows which a table of strategy time puts in one shard
// of a logical partition. They can also have rows of the bucket's other shards.
func (p *Select) ShardSegments(b *analysis.BoundSelect, dir Directory, by *Table, key [][]byte, shard int, after [][]byte) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for s, after := range p.Table.resume(&b.Slices, after, p.Logical.Reversed) {
			s, ok := by.timing.within(s, by.BucketOf(shard))
			switch {
			case !ok:
			case by == p.Table && p.Old == nil:
				if !yield(Segment{Key: key, Slice: s, After: after, Shards: []int{shard}}) {
					return
				}
			case !p.cuts(dir, 0, key, Within(s, after, nil, p.Logical.Reversed), yield):
				return
			}
		}
	}
}

// cut cuts a slice, in reading order, after at most n buckets of either layout. It returns the two
// parts, and whether there is a second one.
func (p *Select) cut(dir Directory, key [][]byte, s analysis.Slice, n int) (first, rest analysis.Slice, more bool, err error) {
	down := p.Table.Clustering[0].Desc != p.Logical.Reversed
	var at int64 // milliseconds
	for _, t := range p.tables() {
		if !t.Timed() {
			continue
		}
		n := min(n, max(1, timebucket.MostPlaces/t.Layout.N))
		found, err := listing{t, dir, key}.buckets(s, down, n+1)
		if err != nil {
			return s, s, false, err
		}
		if len(found) <= n {
			continue
		}
		edge := t.timing.grid.Start(found[n-1])
		if !down {
			edge = t.timing.grid.Start(found[n-1] + 1)
		}
		if !more || down == (edge > at) {
			at = edge
		}
		more = true
	}
	if !more {
		return s, s, false, nil
	}
	// The later part of the time begins with the value at the edge.
	end := analysis.Bound{Prefix: [][]byte{timeKind(p.Table.Clustering[0].Type).First(at)}, Inclusive: down}
	begin := analysis.Bound{Prefix: end.Prefix, Inclusive: !down}
	first, rest = s, s
	if p.Logical.Reversed {
		first.Start, rest.End = end, begin
	} else {
		first.End, rest.Start = end, begin
	}
	return first, rest, true, nil
}

// tables returns the tables whose places the read uses.
func (p *Select) tables() []*Table {
	if p.Old == nil {
		return []*Table{p.Table}
	}
	return []*Table{p.Table, p.Old.Table}
}
