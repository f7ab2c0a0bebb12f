// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"iter"
	"slices"

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
			segment.Shards, segment.Err = p.Table.shardsIn(dir, key, segment.Slice)
		}
		if segment.Err == nil && p.Old != nil {
			segment.Old, segment.Err = p.Old.Table.shardsIn(dir, key, segment.Slice)
		}
		if !yield(segment) || segment.Err != nil {
			return false
		}
	}
	return true
}

// Rowwise reports whether the result depends on each row alone, so that a scan can show the rows of a
// logical partition in any order.
func (p *Select) Rowwise() bool {
	a := p.Logical
	return p.seesApart() && !a.Distinct && !a.Grouped && a.PerPartitionLimit == nil && len(a.Sort) == 0
}

// ShardSegments yields the segments that have the rows which a table of strategy time puts in one shard
// of a logical partition. They can also have rows of the bucket's other shards.
func (p *Select) ShardSegments(b *analysis.BoundSelect, dir Directory, by *Table, key [][]byte, shard int, after [][]byte) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for s, after := range p.Table.resume(&b.Slices, after, p.Logical.Reversed) {
			s, ok := by.inBucket(s, by.BucketOf(shard))
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

// inBucket returns the part of a slice that is in a bucket. It returns false if there is none.
func (t *Table) inBucket(s analysis.Slice, bucket int64) (analysis.Slice, bool) {
	first, last := t.span(s)
	if bucket < first || bucket > last {
		return s, false
	}
	low, high := &s.Start, &s.End
	if t.Clustering[0].Desc {
		low, high = high, low
	}
	if bucket > first {
		*low = analysis.Bound{Prefix: [][]byte{t.timing.kind.First(t.timing.grid.Start(bucket))}, Inclusive: true}
	}
	if bucket < last {
		*high = analysis.Bound{Prefix: [][]byte{t.timing.kind.First(t.timing.grid.Start(bucket + 1))}}
	}
	return s, true
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
		found, err := t.bucketsIn(dir, key, s, down, n+1)
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

// span returns the first and the last bucket that can have rows of a slice. A slice that cut has made can
// end exactly where a bucket begins. Buckets then includes that bucket, and span does not. The first
// bucket of the grid also has all earlier rows, so span keeps it.
func (t *Table) span(s analysis.Slice) (first, last int64) {
	first, last = t.Buckets(s)
	high := s.End
	if t.Clustering[0].Desc {
		high = s.Start
	}
	if last > t.timing.grid.First() && !high.Inclusive && len(high.Prefix) == 1 && bytes.Equal(high.Prefix[0], t.timing.kind.First(t.timing.grid.Start(last))) {
		last--
	}
	return first, last
}

// bucketsIn returns at most limit buckets of a partition that can have rows of a slice: the first
// ones, or, if down is set, the last ones. It asks the directory only if the slice spans many.
func (t *Table) bucketsIn(dir Directory, key [][]byte, s analysis.Slice, down bool, limit int) (out []int64, err error) {
	first, last := t.span(s)
	if last-first >= timebucket.Few {
		return dir.Buckets(t, key, first, last, down, limit)
	}
	for b := first; b <= last; b++ {
		out = append(out, b)
	}
	if down {
		slices.Reverse(out)
	}
	return out[:min(limit, len(out))], nil
}

// shardsIn returns the shards of a partition that can have rows of a slice.
func (t *Table) shardsIn(dir Directory, key [][]byte, s analysis.Slice) ([]int, error) {
	if !t.Timed() {
		return t.shardsOf(key, s, t.Shards(key)), nil
	}
	if n, ok := t.rowShard(s); ok {
		return []int{n}, nil
	}
	for limit := timebucket.MostPlaces; ; limit *= 2 {
		found, err := t.bucketsIn(dir, key, s, false, limit)
		if err != nil || len(found) < limit {
			return t.places(found), err
		}
	}
}
