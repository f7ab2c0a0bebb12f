// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
)

// Split splits a read of several shards into one read for each. A read of one shard, or without
// named shards, is returned unchanged.
func (f *Fetch) Split() []Fetch {
	at := slices.IndexFunc(f.Statement.Slots, func(s Slot) bool { return s.Kind == ShardList })
	if at < 0 || len(f.Shards) < 2 {
		return []Fetch{*f}
	}
	all := make([]Fetch, len(f.Shards))
	for i, shard := range f.Shards {
		values := slices.Clone(f.Values)
		values[at] = eval.Value{Bytes: ListValue([]int{shard})}
		all[i] = Fetch{f.Statement, values, []int{shard}}
	}
	return all
}
