// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
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

// listing is a logical partition whose buckets a directory lists.
type listing struct {
	t   *Table
	dir Directory
	key [][]byte
}

// Places returns the shards of a logical partition that can have rows: those that the layout
// lists or, for strategy time, those in the directory.
func (t *Table) Places(dir Directory, key [][]byte) (out []int, err error) {
	if !t.Timed() {
		return t.Shards(key), nil
	}
	for run, err := range (listing{t, dir, key}).runs(analysis.All(), t.timing.desc) {
		if err != nil {
			return nil, err
		}
		out = append(out, t.timing.places(run.Buckets)...)
	}
	return out, nil
}

// runs yields the buckets that can have rows of a slice, in reading order, grouped by segment.
func (l listing) runs(s analysis.Slice, reversed bool) iter.Seq2[timebucket.Run, error] {
	g := l.t.timing
	first, last := g.between(s)
	var least func(read int) int
	if p, ok := l.dir.(Paced); ok {
		least = p.More
	}
	return g.grid.Runs(first, last, g.desc != reversed, func(from, to int64, down bool, limit int) ([]int64, error) {
		return l.dir.Buckets(l.t, l.key, from, to, down, limit)
	}, least)
}

// buckets returns at most limit buckets that can have rows of a slice: the first ones, or, if down is
// set, the last ones. It asks the directory only if the slice spans many.
func (l listing) buckets(s analysis.Slice, down bool, limit int) (out []int64, err error) {
	first, last := l.t.timing.span(s)
	if !timebucket.Few(first, last) {
		return l.dir.Buckets(l.t, l.key, first, last, down, limit)
	}
	for b := first; b <= last; b++ {
		out = append(out, b)
	}
	if down {
		slices.Reverse(out)
	}
	return out[:min(limit, len(out))], nil
}

// shards returns the shards that can have rows of a slice.
func (l listing) shards(s analysis.Slice) ([]int, error) {
	t := l.t
	if !t.Timed() {
		return t.shardsOf(l.key, s, t.Shards(l.key)), nil
	}
	if n, ok := t.rowShard(s); ok {
		return []int{n}, nil
	}
	for limit := timebucket.MostPlaces; ; limit *= 2 {
		found, err := l.buckets(s, false, limit)
		if err != nil || len(found) < limit {
			return t.timing.places(found), err
		}
	}
}
