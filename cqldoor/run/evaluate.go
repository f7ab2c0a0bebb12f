// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// limits holds what is left of LIMIT, PER PARTITION LIMIT and the page.
type limits struct {
	page   int // 0: none
	perKey int // 0: none
	left   plan.Cursor
}

// of begins a step. It returns false if the partition has had its share already.
func (l *limits) of(at plan.Cursor) bool {
	if at.KeyIndex != l.left.KeyIndex || string(at.Scan) != string(l.left.Scan) {
		l.left.PerKey = l.perKey
	}
	l.left.KeyIndex, l.left.Scan, l.left.Layout = at.KeyIndex, at.Scan, at.Layout
	return l.perKey == 0 || l.left.PerKey > 0
}

// spend counts a row of the result. It returns false for the last one.
func (l *limits) spend() bool {
	if l.perKey > 0 {
		l.left.PerKey--
	}
	if l.left.Limit > 0 {
		l.left.Limit--
		return l.left.Limit > 0
	}
	return true
}

// hint returns how many rows of one partition will probably be wanted.
func (l *limits) hint() int { return least(l.total(), l.perKey) }

// total returns how many rows will probably be wanted, 0 for all. One row more than the page
// tells whether another page follows.
func (l *limits) total() int {
	page := l.page
	if page > 0 {
		page++
	}
	return least(page, l.left.Limit)
}

// least returns the smaller of two limits. 0 means no limit.
func least(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// evaluated writes rows whose selection the door evaluates.
func (x *reader) evaluated(out *output, c plan.Cursor, page int) error {
	l := limits{page, x.bound.PerPartitionLimit, c}
	var scratch [][]byte
	x.total = l.total()
	return x.each(c, l.hint(), func(s step) (bool, error) {
		// The cursor is still that of the previous row.
		full := page > 0 && (out.w.Count() == page || out.w.Size() > x.r.longest/2)
		before := l.left
		if !l.of(s.at) {
			return true, errEnough
		}
		if full {
			out.next(before)
			return false, nil
		}
		var err error
		if scratch, err = x.plan.Logical.Selection.Row(x.bound.Env, s.row, scratch[:0]); err != nil {
			return false, err
		}
		if err := out.cells(scratch); err != nil {
			return false, err
		}
		if out.w.Size() > x.r.longest {
			return false, errLong
		}
		l.left.After, l.left.Done = s.at.After, s.at.Done
		if on := l.spend(); !on || l.perKey == 0 || l.left.PerKey > 0 {
			return on, nil
		}
		return true, errEnough
	})
}

// sorted writes the rows of several partitions in the order of ORDER BY.
func (x *reader) sorted(out *output, c plan.Cursor) error {
	var all []plan.Row
	size := 0
	l := limits{0, x.bound.PerPartitionLimit, c}
	err := x.each(c, 0, func(s step) (bool, error) {
		if l.of(s.at) {
			all = append(all, *s.row)
			for _, cell := range s.row.Cells {
				size += len(cell)
			}
			if size > x.r.longest {
				return false, errLong
			}
			if err := out.room(size); err != nil {
				return false, err
			}
			if l.perKey > 0 {
				l.left.PerKey--
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	sel := x.plan.Logical
	slices.SortStableFunc(all, func(a, b plan.Row) int { return sel.CompareSorted(&a, &b) })
	if c.Limit > 0 && c.Limit < len(all) {
		all = all[:c.Limit]
	}
	var cells [][]byte
	for i := range all {
		if cells, err = sel.Selection.Row(x.bound.Env, &all[i], cells[:0]); err != nil {
			return err
		}
		if err := out.cells(cells); err != nil {
			return err
		}
	}
	return nil
}

// groups writes one row for each group, or one for all rows if there is no GROUP BY.
func (x *reader) groups(out *output, c plan.Cursor, page int) error {
	sel := x.plan.Logical
	group := sel.Selection.NewGroup()
	l := limits{page, x.bound.PerPartitionLimit, c}
	var (
		current, fresh [][]byte
		cells          [][]byte
		at             = c        // position of the last row of the group
		first          plan.Row   // first row of the group
		sorted         []groupRow // rows of several partitions, if ORDER BY sorts them
		size           int
		done           bool
	)
	sorts := len(sel.Sort) > 0 && sel.Grouped
	if sorts {
		l.left.Limit = 0 // LIMIT applies to the sorted groups
	}
	flush := func() (on bool, err error) {
		if cells, err = group.Result(x.bound.Env, cells[:0]); err != nil {
			return false, err
		}
		if sorts {
			for _, cell := range cells {
				size += len(cell)
			}
			if size > x.r.longest {
				return false, errLong
			}
			if err := out.room(size); err != nil {
				return false, err
			}
			sorted = append(sorted, groupRow{first, slices.Clone(cells)})
		} else if err := out.cells(cells); err != nil {
			return false, err
		}
		return l.spend(), nil
	}
	err := x.each(c, 0, func(s step) (bool, error) {
		same := s.at.KeyIndex == at.KeyIndex && string(s.at.Scan) == string(at.Scan)
		if sel.Grouped {
			var err error
			if fresh, err = sel.GroupKey(x.bound.Env, s.row, fresh[:0]); err != nil {
				return false, err
			}
			if !group.Empty() && (!same || !sel.SameGroup(current, fresh)) {
				on, err := flush()
				if err != nil || !on {
					done = true
					return false, err
				}
				if page > 0 && out.w.Count() == page {
					at.Limit, at.PerKey = l.left.Limit, l.left.PerKey
					out.next(at)
					done = true
					return false, nil
				}
			}
			current, fresh = fresh, current
		}
		if !l.of(s.at) {
			return true, nil
		}
		if at = s.at; group.Empty() {
			first = *s.row
		}
		return true, group.Add(x.bound.Env, s.row)
	})
	if err != nil || done {
		return err
	}
	if !group.Empty() || !sel.Grouped {
		if _, err = flush(); err != nil {
			return err
		}
	}
	slices.SortStableFunc(sorted, func(a, b groupRow) int { return sel.CompareSorted(&a.first, &b.first) })
	if c.Limit > 0 && c.Limit < len(sorted) {
		sorted = sorted[:c.Limit]
	}
	for _, g := range sorted {
		if err := out.cells(g.cells); err != nil {
			return err
		}
	}
	return nil
}

// groupRow is the row of a group that waits to be sorted.
type groupRow struct {
	first plan.Row // first row of the group
	cells [][]byte
}

var _ eval.Row = (*plan.Row)(nil)
