// SPDX-License-Identifier: Apache-2.0

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

// sortKeys are the loaded row's values of ORDER BY, nil where the result is in order.
func (r *read) sortKeys() [][]byte {
	var keys [][]byte
	for _, s := range r.plan.Sort {
		keys = append(keys, slices.Clone(r.view.cells[s.Cell]))
	}
	return keys
}

// keepSorted keeps the loaded row.
func (r *read) keepSorted() error {
	var err error
	if r.out, err = r.plan.Selection.Row(&r.c.env, &r.view, r.out[:0]); err != nil {
		return err
	}
	return r.keepRow(r.sortKeys(), r.out)
}

// keepRow keeps a row of the result.
func (r *read) keepRow(keys, cells [][]byte) error {
	row := sortable{keys: keys, cells: make([][]byte, len(cells))}
	for i, cell := range cells {
		if r.sortedBytes += len(cell); r.sortedBytes > maxResult {
			return errLong
		}
		if err := r.c.room(r.sortedBytes); err != nil {
			return err
		}
		row.cells[i] = cloneCell(cell)
	}
	r.sorted = append(r.sorted, row)
	return nil
}

// emitSorted writes the rows that were kept, in order.
func (r *read) emitSorted() error {
	p := r.plan
	if len(p.Sort) == 0 {
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
		if err := r.write(row.cells); err != nil {
			return err
		}
	}
	return nil
}
