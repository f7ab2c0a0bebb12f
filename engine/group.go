// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
)

// grouping makes one row of the result from each group of rows: the groups of GROUP BY, or all
// rows of an aggregation without it.
type grouping struct {
	on     bool
	open   bool // the group has rows
	rows   *eval.Group
	by     [][]byte // the open group's values of GROUP BY
	sort   [][]byte // its values of ORDER BY, if groups are sorted
	key    []byte   // the partition of the last row
	after  [][]byte // the clustering of the last row
	values [][]byte
	cells  [][]byte // of the row being added, see stableRow
}

func (g *grouping) begin(p *selectPlan) {
	g.on = p.Selection.Aggregated || p.Grouped
	if g.on {
		g.rows = p.Selection.NewGroup()
	}
}

// partition ends the open group at the beginning of a partition, because no group spans several.
// It returns whether the page is full.
func (g *grouping) partition(r *read) (bool, error) {
	if !g.on || !g.open || !r.plan.Grouped {
		return false, nil
	}
	if err := g.emit(r); err != nil {
		return false, err
	}
	r.countTotal()
	if r.left == 0 || r.page == 0 || r.sets < r.page {
		return false, nil
	}
	r.setPagingState(&position{left: r.left, inPartition: unbound, key: g.key})
	return true, nil
}

// add adds the loaded row to its group, or begins another group with it. It returns whether the
// page is full without the row.
func (g *grouping) add(r *read) (bool, error) {
	if g.open && r.plan.Grouped {
		same, err := g.same(r)
		if err != nil {
			return false, err
		}
		if !same {
			if err := g.emit(r); err != nil {
				return false, err
			}
			r.count()
			switch {
			case r.left == 0:
				return false, nil
			case r.page > 0 && r.sets == r.page && r.inside == 0:
				return r.pageEnd(), nil
			case r.page > 0 && r.sets == r.page:
				r.setPagingState(&position{inside: true, left: r.left, inPartition: r.inside, key: g.key, after: g.after})
				return true, nil
			case r.inside == 0:
				return false, nil
			}
		}
	}
	if !g.open {
		if err := g.start(r); err != nil {
			return false, err
		}
	}
	if r.plan.Grouped && r.page > 0 {
		g.remember(r)
	}
	g.cells = append(g.cells[:0], make([][]byte, len(r.view.cells))...)
	return false, g.rows.Add(&r.c.env, stableRow{&r.view, g.cells})
}

func (g *grouping) start(r *read) error {
	g.open = true
	g.by = g.by[:0]
	g.sort = r.sortKeys()
	for _, e := range r.plan.GroupBy {
		v, err := eval.Eval(e, &r.c.env, &r.view)
		if err != nil {
			return err
		}
		g.by = append(g.by, slices.Clone(v))
	}
	return nil
}

// same says whether the loaded row belongs to the open group.
func (g *grouping) same(r *read) (bool, error) {
	for i, e := range r.plan.GroupBy {
		v, err := eval.Eval(e, &r.c.env, &r.view)
		if err != nil {
			return false, err
		}
		if e.Type().Compare(v, g.by[i]) != 0 {
			return false, nil
		}
	}
	return true, nil
}

// remember notes the position of the row.
func (g *grouping) remember(r *read) {
	g.key = append(g.key[:0], r.raw...)
	g.after = g.after[:0]
	if !r.view.exists {
		return
	}
	for _, v := range r.source.Row().Clustering {
		g.after = append(g.after, slices.Clone(v))
	}
}

// emit writes the open group's row.
func (g *grouping) emit(r *read) error {
	var err error
	if g.values, err = g.rows.Result(&r.c.env, g.values[:0]); err != nil {
		return err
	}
	g.open = false
	if len(r.plan.Sort) > 0 {
		return r.keepRow(g.sort, g.values)
	}
	return r.write(g.values)
}

// end writes the last group. An aggregation without GROUP BY always has one.
func (g *grouping) end(r *read) error {
	if !g.on || !g.open && r.plan.Grouped {
		return nil
	}
	if r.left == 0 && r.plan.Grouped {
		return nil
	}
	if err := g.emit(r); err != nil {
		return err
	}
	r.countTotal()
	if r.plan.Grouped && r.left != 0 && r.page > 0 && r.sets == r.page {
		r.setPagingState(&position{left: r.left, inPartition: unbound, key: g.key})
	}
	return nil
}

// stableRow is a row whose cells remain valid after the row, as a group needs them. Each cell is
// copied once, however many aggregates use it.
type stableRow struct {
	*rowView
	copies [][]byte // copies of the cells used so far
}

// Cell implements eval.Row.
func (s stableRow) Cell(i int) []byte {
	if s.copies[i] == nil {
		s.copies[i] = slices.Clone(s.cells[i])
	}
	return s.copies[i]
}
