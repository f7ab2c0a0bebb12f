// SPDX-License-Identifier: Apache-2.0

package read

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// ownerOf finds the owner of a logical partition, in a scan that follows the layout of a table.
type ownerOf struct {
	*reader
	by  *plan.Table
	key [][]byte
}

// askedFirst is how many shards find asks in its first round whether they have rows. If most shards of a
// partition have rows, find needs no second round.
const askedFirst = 2

// find returns the position of the owner: the first shard (plan.Table.Precedes) that has rows of the
// logical partition. The shard at the position at has rows.
func (x ownerOf) find(at plan.Position) (plan.Position, error) {
	all, err := x.by.Places(x.dir, x.key)
	if err != nil {
		return at, err
	}
	ranked, first := x.by.Rank(x.key, all), x.firstShown
	if !x.by.Hides() {
		first = x.first
		ranked = slices.DeleteFunc(ranked, func(r plan.Ranked) bool { return !x.by.Precedes(r.Position, at) })
	}
	for n := askedFirst; len(ranked) > 0; n *= 8 {
		some := ranked[:min(n, len(ranked))]
		switch owner, err := first(some); {
		case err != nil:
			return at, err
		case owner != nil:
			return *owner, nil
		}
		ranked = ranked[len(some):]
	}
	if x.by.Hides() {
		return plan.Position{}, nil // the partition has no row to show, so no position is the owner
	}
	return at, nil
}

// first returns the position of the first of some ranked shards that has rows, or nil.
func (x ownerOf) first(ranked []plan.Ranked) (owner *plan.Position, err error) {
	err = x.probe(ranked, 0, func(_ [][]byte, r *plan.Ranked) {
		if owner == nil || x.by.Precedes(r.Position, *owner) {
			owner = &r.Position
		}
	})
	return owner, err
}

// probedKeys is how many keys of a shard firstShown reads in its first round.
const probedKeys = 16

// firstShown is first for a table that hides rows. Rows that do not belong in a shard do not make the
// shard the owner. The mover deletes such rows, perhaps between two pages of the scan. Then the scan
// would show the partition twice.
func (x ownerOf) firstShown(ranked []plan.Ranked) (owner *plan.Position, err error) {
	for limit := probedKeys; len(ranked) > 0; limit *= 8 {
		keys := map[int]int{} // by shard
		err := x.probe(ranked, limit, func(clustering [][]byte, r *plan.Ranked) {
			keys[r.Shard]++
			if x.by.Belongs(x.key, clustering, r.Shard) && (owner == nil || x.by.Precedes(r.Position, *owner)) {
				owner = &r.Position
			}
		})
		if err != nil {
			return owner, err
		}
		ranked = slices.DeleteFunc(slices.Clone(ranked), func(r plan.Ranked) bool {
			return keys[r.Shard] < limit || owner != nil && !x.by.Precedes(r.Position, *owner)
		})
	}
	return owner, nil
}

// probe reads the first rows of some shards of a logical partition (plan.Select.Probe). It calls f for
// each row, with the row's shard.
func (x ownerOf) probe(ranked []plan.Ranked, limit int, f func(clustering [][]byte, r *plan.Ranked)) error {
	shards, of := make([]int, len(ranked)), make(map[int]*plan.Ranked, len(ranked))
	for i := range ranked {
		shards[i], of[ranked[i].Shard] = ranked[i].Shard, &ranked[i]
	}
	var fetches []fetch
	for _, g := range x.together(x.key, shards, x.group(presenceGroup)) {
		fetches = append(fetches, fetch{x.plan.Probe(x.by, x.bound, x.key, g.Members, limit), g.Place})
	}
	return x.drain(listed(fetches), func(cells [][]byte) error {
		last := len(cells) - 1
		shard, ok := shardValue(cells[last])
		r := of[shard]
		if !ok || r == nil {
			return fmt.Errorf("read: a probe of %s.%s brought no shard that was asked", x.plan.Table.Keyspace, x.plan.Table.Name)
		}
		f(cells[:last], r)
		return nil
	})
}
