// SPDX-License-Identifier: Apache-2.0

package result

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
)

// Sorted keeps the rows of the result until all are read, because ORDER BY with IN on the partition
// key merges partitions.
type Sorted struct {
	sel  *analysis.Select
	rows []sortable
	size int
}

type sortable struct{ keys, cells [][]byte }

// Begin prepares s for the rows of a statement.
func (s *Sorted) Begin(sel *analysis.Select) { *s = Sorted{sel: sel} }

// On reports whether the statement's rows are sorted.
func (s *Sorted) On() bool { return len(s.sel.Sort) > 0 }

// Size returns the size of the kept cells in bytes.
func (s *Sorted) Size() int { return s.size }

// Keys returns a copy of a row's values for ORDER BY.
func (s *Sorted) Keys(row eval.Row) [][]byte {
	keys := make([][]byte, len(s.sel.Sort))
	for i, k := range s.sel.Sort {
		keys[i] = cloneCell(row.Cell(k.Cell))
	}
	return keys
}

// Keep keeps a copy of a result row. keys is the result of Keys for the row from which it was made,
// or for the first row of its group.
func (s *Sorted) Keep(keys, cells [][]byte) {
	row := sortable{keys, make([][]byte, len(cells))}
	for i, cell := range cells {
		row.cells[i] = cloneCell(cell)
		s.size += len(cell)
	}
	s.rows = append(s.rows, row)
}

// Rows sorts the kept rows and yields at most left of them; left may be Unbound. Equal rows stay in
// the order in which they were kept.
func (s *Sorted) Rows(left int) iter.Seq[[][]byte] {
	slices.SortStableFunc(s.rows, func(a, b sortable) int { return s.sel.CompareSorted(a.keys, b.keys) })
	return func(yield func([][]byte) bool) {
		for i, row := range s.rows {
			if i == left || !yield(row.cells) {
				return
			}
		}
	}
}
