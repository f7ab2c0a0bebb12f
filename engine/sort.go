package engine

import (
	"slices"
)

// sortable is a row of the result that waits to be put in order: ORDER BY with
// IN on the partition key merges partitions.
type sortable struct {
	keys  [][]byte
	cells [][]byte
}

// keepSorted keeps the loaded row.
func (r *read) keepSorted() error {
	var err error
	if r.out, err = r.plan.Selection.Row(&r.c.env, &r.view, r.out[:0]); err != nil {
		return err
	}
	row := sortable{keys: make([][]byte, len(r.plan.Sort)), cells: make([][]byte, len(r.out))}
	for i, s := range r.plan.Sort {
		row.keys[i] = slices.Clone(r.view.cells[s.Cell])
	}
	for i, cell := range r.out {
		if cell != nil {
			row.cells[i] = append([]byte{}, cell...)
		}
	}
	r.sorted = append(r.sorted, row)
	return nil
}

// emitSorted writes the rows that were kept, in order.
func (r *read) emitSorted() error {
	p := r.plan
	if len(p.Sort) == 0 || r.group.on {
		return nil
	}
	slices.SortStableFunc(r.sorted, func(a, b sortable) int {
		for i, s := range p.Sort {
			c := p.Fetch[s.Cell].Column.Type.Compare(a.keys[i], b.keys[i])
			if s.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	n := len(r.sorted)
	if r.left != unbound {
		n = min(n, r.left)
	}
	for _, row := range r.sorted[:n] {
		r.write(row.cells)
	}
	return nil
}
