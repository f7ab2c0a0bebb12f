// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
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

// BucketsTo returns how many buckets of a segment a read in order visits to get to a row of a shard.
func (p *Select) BucketsTo(s Segment, shard int) int {
	t := p.Table.timing
	at, _ := slices.BinarySearch(s.Shards, shard)
	if at /= t.width; t.desc != p.Logical.Reversed {
		return p.Buckets(s) - at
	}
	return at + 1
}

// Wide returns the slices of a deletion that span more buckets than can be deleted from one by
// one. Buckets that are added to the directory later must get that deletion too.
func (p *Write) Wide(b *analysis.BoundWrite) []analysis.Slice {
	if p.slices == nil || !p.Table.Timed() {
		return nil
	}
	var out []analysis.Slice
	all := p.deleted(b)
	for s := range all.All() {
		if !p.Table.timing.near(s) {
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
				if t.timing.near(s) {
					var buckets []int64
					for first, last := t.timing.between(s); first <= last; first++ {
						buckets = append(buckets, first)
					}
					if !p.deleteIn(b.Env, Target{Key: key}, s, t.timing.places(buckets), yield) {
						return
					}
					continue
				}
				for run, err := range (listing{t, dir, key}).runs(s, false) {
					if err != nil {
						yield(Mutation{}, err)
						return
					}
					if !p.deleteIn(b.Env, Target{Key: key}, s, t.timing.places(run.Buckets), yield) {
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
