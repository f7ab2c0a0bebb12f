// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// elements holds a column's cells while a statement changes them; those of a list in the order of
// their paths. A statement may address many places of a long list, one after the other, and a
// batch may have many such statements. Finding, removing or adding one element takes a number of
// steps that is logarithmic in the list's length; only the first of them takes more.
//
// Elements are known by their places: those of before have the places from 0, those added at the
// end follow, and those added at the start have negative places.
type elements struct {
	*before
	front   []storage.Cell // the last one is the first of the list
	back    []storage.Cell
	values  map[int][]byte // by place: values that were replaced
	removed removals
	own     map[string][]int // places of values that the statement has written; nil: not in use
	steps   int              // total of all searches
}

// before holds the cells that all statements of a batch begin with. Nothing in it changes but the
// index.
type before struct {
	cells  []storage.Cell
	asked  bool             // for values
	places map[string][]int // of values, by their canonical form; nil: not in use
	uses   int              // how many statements will still ask for the cells
	read   bool             // the cells are known
	size   int              // of the cells, in bytes
}

func newElements(cells []storage.Cell) *elements { return (&before{cells: cells}).elements() }

// elements returns the cells for another statement.
func (b *before) elements() *elements { return &elements{before: b} }

func (e *elements) first() int { return -len(e.front) }
func (e *elements) end() int   { return len(e.cells) + len(e.back) }
func (e *elements) left() int  { return e.end() - e.first() - len(e.removed.places) }

// cell returns the cell at a place.
func (e *elements) cell(place int) *storage.Cell {
	switch {
	case place < 0:
		return &e.front[-place-1]
	case place < len(e.cells):
		return &e.cells[place]
	}
	return &e.back[place-len(e.cells)]
}

// value returns the value at a place.
func (e *elements) value(place int) []byte {
	if v, ok := e.values[place]; ok {
		return v
	}
	return e.cell(place).Value
}

// replace replaces the value at a place.
func (e *elements) replace(place int, v []byte, elem *value.Type) {
	if e.values == nil {
		e.values = map[int][]byte{}
	}
	e.values[place] = v
	e.noteOwn(place, elem)
}

// at returns the place of the element with an index.
func (e *elements) at(index int) int {
	if len(e.removed.places) == 0 {
		return e.first() + index
	}
	return e.removed.find(e.first(), e.end(), index, &e.steps)
}

// remove removes the element at a place.
func (e *elements) remove(place int) { e.removed.add(place) }

// discard removes all elements that have one of some values, which are sorted. It calls f with
// the path of each, until f returns false.
func (e *elements) discard(values [][]byte, elem *value.Type, f func(path []byte) bool) {
	if !e.asked {
		e.asked = true
		for place := e.first(); place < e.end(); place++ {
			e.steps++
			if _, found := slices.BinarySearchFunc(values, e.value(place), elem.Compare); found && !e.take(place, f) {
				return
			}
		}
		return
	}
	e.index(elem)
	var name []byte
	for i, v := range values {
		if i > 0 && elem.Compare(values[i-1], v) == 0 {
			continue
		}
		name = elem.Canonical(name[:0], v)
		for _, places := range [][]int{e.places[string(name)], e.own[string(name)]} {
			for _, place := range places {
				e.steps++
				if elem.Compare(e.value(place), v) == 0 && !e.take(place, f) {
					return
				}
			}
		}
	}
}

// take removes an element, unless it is removed already.
func (e *elements) take(place int, f func(path []byte) bool) bool {
	if e.removed.places[place] {
		return true
	}
	e.remove(place)
	return f(e.cell(place).Path)
}

// index makes what discard looks values up in.
func (e *elements) index(elem *value.Type) {
	var name []byte
	if e.places == nil {
		e.places = map[string][]int{}
		for i := range e.cells {
			e.steps++
			name = elem.Canonical(name[:0], e.cells[i].Value)
			e.places[string(name)] = append(e.places[string(name)], i)
		}
	}
	if e.own != nil {
		return
	}
	e.own = map[string][]int{}
	for place := e.first(); place < 0; place++ {
		e.noteOwn(place, elem)
	}
	for i := range e.back {
		e.noteOwn(len(e.cells)+i, elem)
	}
	for place := range e.values {
		e.noteOwn(place, elem)
	}
}

// noteOwn notes the value at a place that the statement has written, if the index is in use.
func (e *elements) noteOwn(place int, elem *value.Type) {
	if e.own == nil {
		return
	}
	e.steps++
	name := string(elem.Canonical(nil, e.value(place)))
	e.own[name] = append(e.own[name], place)
}

var timeuuid = value.Native(value.Timeuuid)

// put adds elements and returns all of them.
func (e *elements) put(more []storage.Cell, elem *value.Type) *elements {
	byPath := func(a, b storage.Cell) int { return timeuuid.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(more, byPath) {
		slices.SortStableFunc(more, byPath)
	}
	if len(more) == 0 {
		return e
	}
	e.steps += len(more)
	switch {
	case e.first() == e.end() || byPath(*e.cell(e.end() - 1), more[0]) < 0:
		for _, c := range more {
			e.back = append(e.back, c)
			e.noteOwn(e.end()-1, elem)
		}
		return e
	case byPath(more[len(more)-1], *e.cell(e.first())) < 0:
		for _, c := range slices.Backward(more) {
			e.front = append(e.front, c)
			e.noteOwn(e.first(), elem)
		}
		return e
	}
	// The paths of what is added come from the clock. So they are first or last, unless the
	// clock went back.
	all := make([]storage.Cell, 0, e.left()+len(more))
	for place := e.first(); place < e.end(); place++ {
		e.steps++
		if !e.removed.places[place] {
			c := *e.cell(place)
			c.Value = e.value(place)
			all = append(all, c)
		}
	}
	all = append(all, more...)
	slices.SortStableFunc(all, byPath)
	kept := newElements(all)
	kept.steps = e.steps
	return kept
}

// removals are places that have been removed. A Fenwick tree over 2^32 places counts them by ranges
// of places. It keeps only ranges with a count, so the memory depends only on the number of
// removals.
type removals struct {
	places map[int]bool
	fresh  []int // not in counts yet
	counts map[uint64]int
}

// middle is the place 0 within the tree.
const middle = 1 << 31

func (r *removals) add(place int) {
	if r.places == nil {
		r.places, r.counts = map[int]bool{}, map[uint64]int{}
	}
	r.places[place] = true
	r.fresh = append(r.fresh, place)
}

// count counts the places that are removed since.
func (r *removals) count(steps *int) {
	for _, place := range r.fresh {
		for i := uint64(place + middle + 1); i <= 1<<32; i += i & -i {
			*steps++
			r.counts[i]++
		}
	}
	r.fresh = r.fresh[:0]
}

// find returns the place of the element with an index among those from first to end that are not
// removed.
func (r *removals) find(first, end, index int, steps *int) int {
	r.count(steps)
	low, high := uint64(first+middle), uint64(end+middle)
	at := uint64(0)
	for step := uint64(1) << 31; step > 0; step /= 2 {
		*steps++
		next := at + step
		left := int(max(min(next, high), low)-max(min(at, high), low)) - r.counts[next]
		if left <= index {
			at = next
			index -= left
		}
	}
	return int(at) - middle
}
