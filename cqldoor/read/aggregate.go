// SPDX-License-Identifier: Apache-2.0

package read

import (
	"iter"
)

// combined writes the single row of an aggregation. Each shard aggregates its own rows.
func (x *reader) combined(out *output) error {
	var total [][]byte
	err := x.drain(x.aggregates(), func(cells [][]byte) error {
		if total == nil {
			total = append(total, cells...)
			return nil
		}
		for i, combine := range x.plan.Combine {
			total[i] = combine(total[i], cells[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if total == nil {
		// The door has asked no shard, because no row can match. The result is that of an aggregate
		// over no rows.
		group := x.plan.Logical.Selection.NewGroup()
		if total, err = group.Result(x.bound.Env, nil); err != nil {
			return err
		}
	}
	return out.cells(total)
}

// aggregates yields the reads in which every shard of the statement's segments aggregates its
// rows. It makes each read only when the caller needs it.
func (x *reader) aggregates() iter.Seq2[fetch, error] {
	return func(yield func(fetch, error) bool) {
		for s := range x.plan.Segments(x.bound, x.dir, 0, nil) {
			for _, g := range x.together(s.Key, s.Shards, x.group(shardGroup)) {
				fs, err := x.plan.Fetches(x.bound, s, g.Members, nil, nil, 0)
				if err != nil {
					yield(fetch{}, err)
					return
				}
				for _, f := range placed(g.Place, fs...) {
					if !yield(f, nil) {
						return
					}
				}
			}
		}
	}
}
