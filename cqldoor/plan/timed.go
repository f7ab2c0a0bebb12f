// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Directory lists which buckets of a logical partition can have rows, on a table of strategy
// time. A bucket is added to the directory before its first row is sent. A bucket in the
// directory may have no rows.
type Directory interface {
	// Buckets returns at most limit buckets of a partition, from bucket from up to bucket to,
	// both included. It returns the first ones in ascending order, or, if down is set, the last
	// ones in descending order. If it returns fewer than limit, there are no more.
	Buckets(t *Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error)
}

// Paced is a Directory for a read that can estimate how many more buckets it needs.
type Paced interface {
	Directory
	// More returns the estimate after the read of a number of buckets. 0 means that there is no
	// estimate.
	More(read int) int
}

// timing describes the layout of a table of strategy time.
type timing struct {
	grid timebucket.Grid
	kind timebucket.Kind
}

// Timed says that the table's physical partitions are buckets of time.
func (t *placement) Timed() bool { return t.timing != nil }

// timedShard returns the shard of a row. by are the values of the columns that decide the shard.
func (t *placement) timedShard(by [][]byte) int {
	bucket := t.timing.grid.OfValue(t.timing.kind, by[0])
	if t.Layout.N == 1 {
		return t.Layout.InBucket(bucket)
	}
	var canonical [8][]byte
	values := canonical[:0]
	for i, at := range t.by {
		values = append(values, t.canonical(at, by[i]))
	}
	return t.Layout.InBucket(bucket, values...)
}

// BucketOf returns the bucket that a shard belongs to.
func (t *placement) BucketOf(shard int) int64 { return t.timing.grid.Bucket(shard) }

// Buckets returns the first and the last bucket that can have rows of a slice.
func (t *placement) Buckets(s analysis.Slice) (first, last int64) {
	end := func(b analysis.Bound) []byte {
		if len(b.Prefix) == 0 {
			return nil
		}
		return b.Prefix[0]
	}
	low, high := end(s.Start), end(s.End)
	if t.Clustering[0].Desc {
		low, high = high, low
	}
	return t.timing.grid.Between(t.timing.kind, low, high)
}

// buckets yields the buckets of a partition that can have rows of a slice, in reading order,
// grouped by segment.
func (t *Table) buckets(dir Directory, key [][]byte, s analysis.Slice, reversed bool) iter.Seq2[timebucket.Run, error] {
	first, last := t.Buckets(s)
	var least func(read int) int
	if p, ok := dir.(Paced); ok {
		least = p.More
	}
	return t.timing.grid.Runs(first, last, t.Clustering[0].Desc != reversed, func(from, to int64, down bool, limit int) ([]int64, error) {
		return dir.Buckets(t, key, from, to, down, limit)
	}, least)
}

// places returns the shards of buckets.
func (t *Table) places(buckets []int64) []int { return t.timing.grid.PlacesOf(buckets) }

// Places returns the shards of a logical partition that can have rows: those that the layout
// lists or, for strategy time, those in the directory.
func (t *Table) Places(dir Directory, key [][]byte) (out []int, err error) {
	if !t.Timed() {
		return t.Shards(key), nil
	}
	for run, err := range t.buckets(dir, key, analysis.All(), t.Clustering[0].Desc) {
		if err != nil {
			return nil, err
		}
		out = append(out, t.places(run.Buckets)...)
	}
	return out, nil
}

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
			for run, err := range t.buckets(dir, key, Within(s, after, nil, p.Logical.Reversed), p.Logical.Reversed) {
				if !put(Segment{KeyIndex: index, Key: key, Slice: s, After: after, Shards: t.places(run.Buckets), Last: only && run.Last, Err: err}) {
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

// rowShard returns the shard of all rows of a slice, if the slice binds the columns that decide
// the shard.
func (t *placement) rowShard(s analysis.Slice) (int, bool) {
	p := t.common(s)
	by := make([][]byte, len(t.by))
	for i, at := range t.by {
		if at >= p {
			return 0, false
		}
		by[i] = s.Start.Prefix[at]
	}
	return t.ShardOf(nil, by), true
}

// bucketText formats the beginning of a shard's bucket.
func (t *placement) bucketText(shard int) string {
	at := t.timing.grid.Start(t.BucketOf(shard))
	if at < leastShown || at > mostShown {
		return "the buckets at an end of time" // no text has their years
	}
	return time.UnixMilli(at).UTC().Format(time.RFC3339)
}

// RFC 3339 can express the instants from year 0 to year 9999.
const (
	leastShown = -62_167_219_200_000
	mostShown  = 253_402_300_799_999
)

// Wide returns the slices of a deletion that span more buckets than can be deleted from one by
// one. Buckets that are added to the directory later must get that deletion too.
func (p *Write) Wide(b *analysis.BoundWrite) []analysis.Slice {
	if p.slices == nil || !p.Table.Timed() {
		return nil
	}
	var out []analysis.Slice
	all := p.deleted(b)
	for s := range all.All() {
		if !p.Table.near(s) {
			out = append(out, s)
		}
	}
	return out
}

// deleted returns the slices that a deletion deletes.
func (p *Write) deleted(b *analysis.BoundWrite) analysis.Slices {
	if b.Scope == analysis.ScopeDeletePartition {
		return analysis.AllSlices()
	}
	return b.Slices
}

// near says whether a slice spans so few buckets that the deletion is sent to all of them, in the
// directory or not.
func (t *placement) near(s analysis.Slice) bool {
	first, last := t.Buckets(s)
	return first > last || (last-first+1)*int64(t.Layout.N) <= timebucket.MostPlaces
}

// timedRanges yields the deletions of slices in partitions of strategy time. If a slice is not
// near, it is deleted in the buckets that the directory lists: see Wide.
func (p *Write) timedRanges(b *analysis.BoundWrite, dir Directory) iter.Seq2[Mutation, error] {
	t := p.Table
	all := p.deleted(b)
	return func(yield func(Mutation, error) bool) {
		for _, key := range b.Keys.All() {
			for s := range all.All() {
				if n, ok := t.rowShard(s); ok {
					if !p.deleteIn(b.Env, Target{Key: key}, s, []int{n}, yield) {
						return
					}
					continue
				}
				if t.near(s) {
					var buckets []int64
					for first, last := t.Buckets(s); first <= last; first++ {
						buckets = append(buckets, first)
					}
					if !p.deleteIn(b.Env, Target{Key: key}, s, t.places(buckets), yield) {
						return
					}
					continue
				}
				for run, err := range t.buckets(dir, key, s, false) {
					if err != nil {
						yield(Mutation{}, err)
						return
					}
					if !p.deleteIn(b.Env, Target{Key: key}, s, t.places(run.Buckets), yield) {
						return
					}
				}
			}
		}
	}
}

// deleteIn yields the deletion of a slice of a partition in some shards. It sets Cluster and Shard of
// the target. It returns false if the consumer wants no more.
func (p *Write) deleteIn(env *eval.Env, target Target, s analysis.Slice, shards []int, yield func(Mutation, error) bool) bool {
	t := p.Table
	for _, piece := range t.pieces(s) {
		sh := t.shapeOf(piece)
		st, err := p.slices(sh)
		if err != nil {
			yield(Mutation{}, err)
			return false
		}
		target.Cluster = sh.values(piece)
		for _, target.Shard = range shards {
			if !yield(p.mutation(st, env, target), nil) {
				return false
			}
		}
	}
	return true
}
