// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// ownerOf finds the owner of a logical partition in a scan by the layout of a table.
type ownerOf struct {
	*reader
	by  *plan.Table
	key [][]byte
}

// find returns the position of the first shard (plan.Table.Precedes) that has rows of a logical
// partition. The shard at the given position has some.
func (x ownerOf) find(at plan.Position) (plan.Position, error) {
	all, err := x.by.Places(x.dir, x.key)
	if err != nil {
		return at, err
	}
	if x.by.Hides() {
		return x.findShown(all)
	}
	owner := at
	lower := x.by.Before(x.key, at, all)
	if len(lower) == 0 {
		return owner, nil
	}
	err = x.probe(lower, 0, func(_ [][]byte, shard int) {
		if q := x.by.Position(x.key, shard); x.by.Precedes(q, owner) {
			owner = q
		}
	})
	return owner, err
}

// probedKeys is how many keys of a shard a scan reads first to find one that is shown.
const probedKeys = 16

// findShown is find for a table that hides rows. Rows that do not belong in a shard do not make it
// the owner: the mover deletes them, perhaps between two pages of the scan, which would then show
// the partition twice. If no row of the partition is shown, no position is the owner.
func (x ownerOf) findShown(all []int) (owner plan.Position, err error) {
	found := false
	for limit := probedKeys; len(all) > 0; limit *= 8 {
		keys := map[int]int{} // by shard
		err := x.probe(all, limit, func(clustering [][]byte, shard int) {
			keys[shard]++
			if !x.by.Belongs(x.key, clustering, shard) {
				return
			}
			if q := x.by.Position(x.key, shard); !found || x.by.Precedes(q, owner) {
				owner, found = q, true
			}
		})
		if err != nil {
			return owner, err
		}
		all = slices.DeleteFunc(slices.Clone(all), func(shard int) bool {
			return keys[shard] < limit || found && !x.by.Precedes(x.by.Position(x.key, shard), owner)
		})
	}
	return owner, nil
}

// probe reads the first rows of some shards of a logical partition (plan.Select.Probe). It calls f for
// each row.
func (x ownerOf) probe(shards []int, limit int, f func(clustering [][]byte, shard int)) error {
	var fetches []fetch
	for _, g := range x.together(x.key, shards, x.group(presenceGroup)) {
		fetches = append(fetches, fetch{x.plan.Probe(x.by, x.bound, x.key, g.Members, limit), g.Place})
	}
	return x.drain(listed(fetches), func(cells [][]byte) error {
		last := len(cells) - 1
		shard, ok := shardValue(cells[last])
		if !ok {
			return fmt.Errorf("run: a probe of %s.%s brought no shard", x.plan.Table.Keyspace, x.plan.Table.Name)
		}
		f(cells[:last], shard)
		return nil
	})
}
