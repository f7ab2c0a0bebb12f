// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
)

// Split is the read of several shards as one of each; a read that is of one shard, or
// not of named ones, is itself.
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
