// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// UsedByHand is the highest shard number that a table may have used before it was adopted. Its
// application may have had more shards once. Tombstones that are left there would hide rows that a
// change of layout copies, so new places of adopted tables have higher numbers.
const UsedByHand = shard.MaxShards

// ToKey returns the layout in which a key has its own number of shards. key is serialized. As with
// To, rows move only to places that the key never had.
func ToKey(from *shard.Layout, key []byte, n int) (*shard.Layout, error) {
	if len(from.Epochs) > 0 {
		return nil, errors.New("a table with epochs of keys cannot give one key a number of shards of its own yet")
	}
	was := from.Spread(key)
	r := shard.Range{N: n, Base: was.Base}
	if n < was.N || from.Hash != shard.Murmur3 || len(was.Rows) > 0 || from.Last() > was.Last() {
		r.Base = from.Last()
	}
	switch _, own := from.Keys.Of(key); {
	case n < 1 || n > shard.MaxShards:
		return nil, fmt.Errorf("it cannot have %d shards, but 1 to %d", n, shard.MaxShards)
	case n == was.N && len(was.Rows) == 0:
		return nil, fmt.Errorf("it has %d shards already", n)
	case !own && from.Keys.Len() >= shard.MaxKeys:
		return nil, fmt.Errorf("%d keys of the table have numbers of shards of their own, which is as many as there may be", shard.MaxKeys)
	}
	to := *from
	to.Keys = from.Keys.With(1, map[string]shard.Spread{string(key): {Range: r}})
	to.Generation = 0
	return &to, nil
}

// To returns the layout that a table gets if the client asks for asked. A place to which a row may
// move was never used before. used is the highest shard number of any earlier layout of the table,
// including layouts of changes that were taken back.
//
// Under the jump hash, a row that moves when N grows gets a new number. So To keeps the base only
// if N grows, and only if the new numbers were never used.
func To(from, asked *shard.Layout, used int) *shard.Layout {
	to := *asked
	if plan.Apart(from, asked) {
		to.Generation = 0
		if from.Strategy == shard.Time && asked.Strategy == shard.Time && from.Floor != 0 && asked.Keep > 0 {
			to.Floor = asked.Grid().Of(from.Grid().Start(from.Floor))
		}
		return &to // a new table, in which no place was ever used
	}
	top := from.Base + from.N
	grows := asked.N >= from.N && asked.Hash == shard.Murmur3 && from.Hash == shard.Murmur3 && sameBy(from, asked)
	to.Base = from.Base
	if !grows || used > top {
		to.Base = max(used, top)
	}
	to.Generation = 0
	return &to
}

func sameBy(a, b *shard.Layout) bool {
	if len(a.By) != len(b.By) {
		return false
	}
	for i := range a.By {
		if a.By[i] != b.By[i] {
			return false
		}
	}
	return true
}
