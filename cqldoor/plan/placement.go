// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/shard"
)

// placement tells in which shards a table's rows are.
type placement struct {
	clustering
	Layout *shard.Layout // resolved for the table's key

	by     []int   // the columns that name a row's shard, in Clustering: those that are hashed, then the first, if the shard depends on it beside
	hashed int     // how many of by are hashed: those of Layout.By
	hides  bool    // rows can be in shards where the layout does not put them
	timing *timing // nil: the strategy is not time
	first  int     // index in by of the first clustering column, which decides the epoch of a row; -1: there are no row epochs
}

// Shards returns the shards of a logical partition if the layout lists them; see Places.
func (t *placement) Shards(key [][]byte) []int {
	if t.Timed() {
		panic("plan: the directory lists the shards of a table of strategy time")
	}
	s := t.Layout.Spread(AppendKey(nil, key))
	return s.Places()
}

// ShardOf returns the shard of a row. by are the values of the columns that decide the shard.
func (t *placement) ShardOf(key [][]byte, by [][]byte) int {
	if t.Timed() {
		return t.timedShard(by)
	}
	var (
		keyBuf    [256]byte
		canonical [8][]byte
	)
	spread := t.Layout.Spread(AppendKey(keyBuf[:0], key))
	r := spread.Range
	if t.first >= 0 && rule.On(rule.EpochsOfRows) {
		if v := by[t.first]; v != nil {
			r = spread.Of(v, t.Clustering[0].Type.Compare)
		}
	}
	values := canonical[:0]
	for i, at := range t.by[:t.hashed] {
		values = append(values, t.canonical(at, by[i]))
	}
	return t.Layout.Place(r, values...)
}

// canonical returns the form of a clustering value that is hashed.
func (t *placement) canonical(at int, v []byte) []byte {
	if typ := t.Clustering[at].Type; !typ.CanonicalIsSame() && rule.On(rule.CanonicalForm) {
		return typ.Canonical(nil, v)
	}
	return v
}

// ShardOfRow returns the shard of the row with this clustering key.
func (t *placement) ShardOfRow(key, clustering [][]byte) int {
	by := make([][]byte, len(t.by))
	for i, at := range t.by {
		by[i] = clustering[at]
	}
	return t.ShardOf(key, by)
}

// Hides says that a fetch of several shards can return rows that must not be shown: see Belongs.
func (t *placement) Hides() bool { return t.hides && rule.On(rule.ShownWhereItBelongs) }

// Belongs says whether a row is in the shard where the layout puts it. Rows elsewhere are
// skipped: those that an earlier layout left behind, copies, and late arrivals.
func (t *placement) Belongs(key, clustering [][]byte, shard int) bool {
	return t.ShardOfRow(key, clustering) == shard
}

// Home returns the shard of a logical partition's static columns.
func (t *placement) Home(key [][]byte) int {
	var buf [256]byte
	k := AppendKey(buf[:0], key)
	return t.Layout.Home(k)
}

// PlaceOf returns the shard of the row with this clustering key: AnyShard if any shard can have cells
// of it.
func (t *placement) PlaceOf(key, clustering [][]byte) int {
	if t.Layout.Strategy.Anywhere() {
		return AnyShard
	}
	return t.ShardOfRow(key, clustering)
}

// Plain reports whether the physical table has no shards: all rows are in shard.PlainPlace.
func (t *placement) Plain() bool { return t.Layout.Plain() }

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
