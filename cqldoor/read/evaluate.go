// SPDX-License-Identifier: Apache-2.0

package read

import (
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/result"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// shapedPage is a page of a result whose rows the door evaluates.
type shapedPage struct {
	*output
	page    int // largest number of rows; 0: no limit
	longest int // largest size in bytes
}

// Emit implements result.Output.
func (o *shapedPage) Emit(cells [][]byte) error {
	if err := o.cells(cells); err != nil {
		return err
	}
	if o.w.Size() > o.longest {
		return request.ErrLong
	}
	return nil
}

// Full implements result.Output.
func (o *shapedPage) Full() bool {
	return o.page > 0 && (o.w.Count() == o.page || o.w.Size() > o.longest/2)
}

// Room implements result.Output.
func (o *shapedPage) Room(bytes int) error {
	if bytes > o.longest {
		return request.ErrLong
	}
	return o.room(bytes)
}

// shaped writes a page of rows, or of groups, that the door evaluates. If page is 0, it writes all
// rows.
func (x *reader) shaped(out *output, c plan.Cursor, page int) error {
	limits := result.LimitsOf(x.bound)
	if c.Limit > 0 {
		limits.Left = c.Limit
	}
	if limits.Inside != result.Unbound {
		limits.Inside = c.PerKey
	}
	sel := x.plan.Logical
	hint := 0 // how many rows of one partition the page will probably need; 0: all
	if !sel.Selection.Aggregated && !sel.Grouped && len(sel.Sort) == 0 {
		if x.total = c.Limit; page > 0 { // one row more tells whether another page follows
			x.total = least(page+1, c.Limit)
		}
		hint = least(x.total, x.bound.PerPartitionLimit)
	}
	s := result.NewShaper(x.bound, limits, &shapedPage{out, page, x.reads.Longest})
	at := c // the position after the last row that the shaper has taken
	take := func(st step) (next result.Next, err error) {
		if st.at.KeyIndex != at.KeyIndex || string(st.at.Scan) != string(at.Scan) {
			if next, err = s.Partition(); err != nil || next != result.More {
				return next, err
			}
		}
		return s.Row(st.row)
	}
	var early pause
	if page > 0 && (sel.Grouped || !sel.Selection.Aggregated) && len(sel.Sort) == 0 {
		early = func(at plan.Cursor) error {
			if next, err := s.Partition(); err != nil || next == result.Reached {
				return err
			}
			at.Limit, at.PerKey = max(s.Rest().Left, 0), x.bound.PerPartitionLimit
			out.next(at)
			return nil
		}
	}
	err := x.each(c, hint, early, func(st step) (bool, error) {
		next, err := take(st)
		switch {
		case err != nil:
			return false, err
		case next == result.Reached:
			return false, nil
		case next == result.Full:
			rest := s.Rest()
			if rest.Inside == 0 && !x.bound.Scan && at.KeyIndex+1 == x.bound.Keys.Len() {
				return false, nil // PER PARTITION LIMIT leaves no row of the last partition
			}
			at.Limit, at.PerKey = max(rest.Left, 0), max(rest.Inside, 0)
			out.next(at)
			return false, nil
		}
		if at = st.at; next == result.Enough {
			return true, errEnough
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return s.End()
}

// least returns the smaller of two limits. 0 means no limit.
func least(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

var _ eval.Row = (*plan.Row)(nil)
