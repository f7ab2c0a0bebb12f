package run

import (
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// combined writes the one row of an aggregation that shards do.
func (x *reader) combined(out *output, segments []plan.Segment) error {
	cells, err := x.aggregate(segments)
	if err != nil {
		return err
	}
	if cells == nil {
		// Nothing was asked, because nothing can match: what an aggregate over no
		// rows gives.
		group := x.plan.Logical.Selection.NewGroup()
		if cells, err = group.Result(x.bound.Env, nil); err != nil {
			return err
		}
	}
	out.cells(cells)
	return nil
}

// aggregate has every shard of the segments aggregate its rows, and combines the
// results: one row of visible cells.
func (x *reader) aggregate(segments []plan.Segment) ([][]byte, error) {
	var fetches []plan.Fetch
	for _, s := range segments {
		for shards := s.Shards; len(shards) > 0; {
			n := min(x.group(shardGroup), len(shards))
			fs, err := x.plan.Fetches(x.bound, s, shards[:n], nil, nil, 0)
			if err != nil {
				return nil, err
			}
			fetches = append(fetches, fs...)
			shards = shards[n:]
		}
	}
	var total [][]byte
	err := x.drain(fetches, func(cells [][]byte) error {
		if total == nil {
			total = append(total, cells...)
			return nil
		}
		for i, combine := range x.plan.Combine {
			total[i] = combine(total[i], cells[i])
		}
		return nil
	})
	return total, err
}
