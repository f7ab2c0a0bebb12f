// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/shard"
)

// shardsOf returns the shards that can have rows of the slice. That is one shard if the slice
// binds all columns that decide the shard, and the shards of some epochs of rows if the slice
// bounds the first clustering column.
func (t *placement) shardsOf(key [][]byte, s analysis.Slice, all []int) []int {
	if t.Layout.Strategy.Anywhere() || len(all) == 1 {
		return all
	}
	p := t.common(s)
	by := make([][]byte, len(t.by))
	for i, at := range t.by {
		if at >= p {
			return t.ofEpochs(key, s, all)
		}
		by[i] = s.Start.Prefix[at]
	}
	return []int{t.ShardOf(key, by)}
}

// ofEpochs returns the shards of the row epochs that can have rows of the slice.
func (t *placement) ofEpochs(key [][]byte, s analysis.Slice, all []int) []int {
	spread := t.Layout.Spread(AppendKey(nil, key))
	if t.first < 0 || len(spread.Rows) == 0 {
		return all
	}
	low, high := firstBounds(s, t.Clustering[0].Desc)
	return shard.AppendPlaces(nil, spread.Between(low, high, t.Clustering[0].Type.Compare)...)
}

// firstBounds returns the lower and the upper bound of a slice on the first clustering column. nil means that there is no
// bound. desc reports whether the column is in descending order.
func firstBounds(s analysis.Slice, desc bool) (low, high []byte) {
	end := func(b analysis.Bound) []byte {
		if len(b.Prefix) == 0 {
			return nil
		}
		return b.Prefix[0]
	}
	if low, high = end(s.Start), end(s.End); desc {
		low, high = high, low
	}
	return low, high
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
