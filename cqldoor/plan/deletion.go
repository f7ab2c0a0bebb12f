// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
)

// ranges yields the deletions of slices or of whole partitions, in every shard that can have rows
// of them.
func (p *Write) ranges(b *analysis.BoundWrite) iter.Seq2[Mutation, error] {
	t := p.Table
	slices := p.deleted(b)
	return func(yield func(Mutation, error) bool) {
		for _, key := range b.Keys.All() {
			all := t.Shards(key)
			for s := range slices.All() {
				for _, piece := range t.pieces(s) {
					sh := t.shapeOf(piece)
					st, err := p.slices(sh)
					if err != nil {
						yield(Mutation{}, err)
						return
					}
					target := Target{Key: key, Cluster: sh.values(piece)}
					for _, target.Shard = range t.shardsOf(key, piece, all) {
						if !yield(p.mutation(st, b.Env, target), nil) {
							return
						}
					}
				}
			}
		}
	}
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
