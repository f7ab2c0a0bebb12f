// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// elements holds a column's cells while a statement changes them; those of a list in the order of
// their paths. A statement may address many places of a long list, one after the other. Finding
// or removing one takes a number of steps that is logarithmic in the list's length.
type elements struct {
	cells []storage.Cell // including those removed since
	left  int
	tree  []int32 // how many are left, by ranges of cells (a Fenwick tree); nil: all
	steps int     // total of all searches
}

func newElements(cells []storage.Cell) *elements {
	return &elements{cells: cells, left: len(cells)}
}

// at returns the index in cells of an element's index.
func (e *elements) at(index int) int {
	if e.tree == nil {
		return index
	}
	at := 0
	top := 1
	for top*2 <= len(e.cells) {
		top *= 2
	}
	for step := top; step > 0; step /= 2 {
		e.steps++
		if next := at + step; next <= len(e.cells) && int(e.tree[next]) <= index {
			at = next
			index -= int(e.tree[next])
		}
	}
	return at
}

// remove removes the element at an index of cells.
func (e *elements) remove(at int) {
	if e.tree == nil {
		e.tree = make([]int32, len(e.cells)+1)
		for i := 1; i < len(e.tree); i++ {
			e.tree[i] = int32(i & -i)
		}
	}
	for i := at + 1; i < len(e.tree); i += i & -i {
		e.steps++
		e.tree[i]--
	}
	e.left--
}

// all returns the elements that are left.
func (e *elements) all() []storage.Cell {
	if e.tree == nil {
		return e.cells
	}
	kept := make([]storage.Cell, 0, e.left)
	for i := range e.left {
		kept = append(kept, e.cells[e.at(i)])
	}
	return kept
}

// put adds cells.
func (e *elements) put(more []storage.Cell) *elements {
	cells := append(e.all(), more...)
	byPath := func(a, b storage.Cell) int { return value.Native(value.Timeuuid).Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(cells, byPath) {
		slices.SortStableFunc(cells, byPath)
	}
	return newElements(cells)
}
