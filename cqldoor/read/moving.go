// SPDX-License-Identifier: Apache-2.0

package read

import (
	"errors"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// resolved does the work of page for a table whose reads use both places. If the two places of a row
// differ, it makes them equal before it returns the row.
//
// resolved leaves out a row that is in neither place at the first read, even if a client writes the
// row meanwhile: that write was not acknowledged when the read began. So a page ends even if clients
// write its rows all the time.
func (x *merger) resolved(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	old := *x
	old.plan, old.width = x.plan.Old, nil
	next, err := x.held(s, after, want)
	if err != nil {
		return nil, err
	}
	was, err := old.held(s.InOld(), after, want)
	if err != nil {
		return nil, err
	}
	// bound is the position up to which both places have been read.
	var bound *row
	if next.more && next.ends {
		bound = &next.end
	}
	if was.more && was.ends {
		last := next.adopt(was, &was.end)
		if bound == nil || next.compare(&last, bound) < 0 {
			bound = &last
		}
	}
	beyond := func(r *row) bool { return bound != nil && next.compare(r, bound) > 0 }
	var rows []row
	i := 0
	for j := range was.rows {
		o := next.adopt(was, &was.rows[j])
		if beyond(&o) {
			break
		}
		for ; i < len(next.rows) && next.compare(&next.rows[i], &o) < 0; i++ {
			if rows, err = x.settle(s, next, rows, next.rows[i]); err != nil {
				return nil, err
			}
		}
		if i < len(next.rows) && next.compare(&next.rows[i], &o) == 0 {
			n := next.rows[i]
			i++
			if x.plan.Same(next.visibleCells(&n), next.visibleCells(&o)) {
				rows = append(rows, n)
				continue
			}
		}
		if rows, err = x.settle(s, next, rows, o); err != nil {
			return nil, err
		}
	}
	for ; i < len(next.rows) && !beyond(&next.rows[i]); i++ {
		if rows, err = x.settle(s, next, rows, next.rows[i]); err != nil {
			return nil, err
		}
	}
	if bound != nil {
		next.end, next.ends = *bound, true
	} else if was.ends {
		next.end, next.ends = next.adopt(was, &was.end), true
	}
	was.held.Close() // next has adopted only few of its rows
	next.rows, next.more = rows, bound != nil
	if len(rows) > want {
		next.rows, next.more = rows[:want], true
		next.end, next.ends = rows[want-1], true
	}
	return next, nil
}

// held reads the first want rows of a segment after a clustering key. It reads fewer if the rows are
// larger than the memory for one page.
func (x *merger) held(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	if s.Err == nil && len(s.Shards) == 0 { // the layout has no bucket in the segment's time
		return &rowset{plan: x.plan, layout: layoutOf(x.plan, false)}, nil
	}
	for limit := x.reads.Held; ; {
		if want == 1 {
			limit = 0
		}
		rows, err := x.merge(extent{Segment: s, after: after, want: want, limit: limit, group: x.grouped(want/len(s.Shards) + 2)})
		if !errors.Is(err, errWide) {
			return rows, err
		}
		want = max(1, want/2)
	}
}

// maxResolve is how often settle reads a row that clients write all the time.
const maxResolve = 20

// settle makes the places of a row equal, and appends the row as it is then. It does not append a
// deleted row.
func (x *merger) settle(s plan.Segment, in *rowset, rows []row, r row) ([]row, error) {
	key := in.ownKey(&r)
	if !rule.On(rule.ReadsResolve) {
		return append(rows, r), nil
	}
	old := *x
	old.plan, old.width = x.plan.Old, nil
	for range maxResolve {
		deleted, err := x.reads.Resolver.resolve(x.ctx, x.plan.Change, x.plan.Change.Moved(s.Key, key), x.params.Consistency)
		if err != nil {
			return nil, err
		}
		if deleted {
			return rows, nil
		}
		was, err := old.held(old.plan.Row(s, key), nil, 1)
		if err != nil {
			return nil, err
		}
		next, err := x.held(x.plan.Row(s, key), nil, 1)
		was.held.Close()
		if err != nil {
			return nil, err
		}
		next.held.Close()
		switch {
		case len(next.rows) != len(was.rows):
		case len(next.rows) == 0:
			return rows, nil
		case x.plan.Same(next.visibleCells(&next.rows[0]), was.visibleCells(&was.rows[0])):
			return append(rows, in.adopt(next, &next.rows[0])), nil
		}
	}
	return nil, &wire.Error{Code: wire.CodeOverloaded, Message: "write_sharding: a row is written faster than its two places can be read while the layout of the table is being changed; try again"}
}
