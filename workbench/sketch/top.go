// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"cmp"
	"slices"
)

// cellsPerKey is the number of the filter's cells for each kept key. More cells let fewer rare keys
// through.
const cellsPerKey = 32

// slack raises the floor above the dropped counts, by one part in slack. Without it, if no key is
// frequent, keys would come and go all the time.
const slack = 16

// Top counts the most frequent keys. T is what the caller keeps for each.
type Top[T any] struct {
	keep    int
	entries []entry[T] // of slot i+1
	index   index
	cells   []uint32 // an upper bound of the rows of every key that is not in entries
	mask    uint64
	floor   uint32 // a key comes in when its cell has more rows than that
	rows    int64
}

type entry[T any] struct {
	hash  uint64
	high  int64 // the most rows that the key can have
	error int64 // how many of these may belong to other keys
	of    T
}

// NewTop makes a Top of that many keys.
func NewTop[T any](keep int) *Top[T] {
	cells := 1
	for cells < keep*cellsPerKey {
		cells *= 2
	}
	t := &Top[T]{keep: keep, cells: make([]uint32, cells), mask: uint64(cells - 1), index: newIndex(2 * keep)}
	t.entries = make([]entry[T], 0, 2*keep)
	return t
}

// Add counts n rows of a key, n > 0. It returns what is kept for the key; nil: nothing. fresh
// reports whether the key has just come in. Then of may hold what another key left, which the
// caller overwrites. It is valid until the next Add.
func (t *Top[T]) Add(hash uint64, n int) (of *T, fresh bool) {
	t.rows += int64(n)
	if e := t.find(hash); e != nil {
		e.high += int64(n)
		return &e.of, false
	}
	cell := &t.cells[hash>>32&t.mask]
	if uint64(*cell)+uint64(n) <= uint64(t.floor) {
		*cell += uint32(n)
		return nil, false
	}
	return t.enter(hash, int64(n), int64(*cell)), true
}

// Clone returns a copy, which shares what a T points to.
func (t *Top[T]) Clone() *Top[T] {
	out := *t
	out.entries = append(make([]entry[T], 0, cap(t.entries)), t.entries...)
	out.index.places, out.cells = slices.Clone(t.index.places), slices.Clone(t.cells)
	return &out
}

func (t *Top[T]) enter(hash uint64, n, error int64) *T {
	if len(t.entries) == cap(t.entries) {
		t.drop()
	}
	t.entries = t.entries[:len(t.entries)+1]
	e := &t.entries[len(t.entries)-1]
	e.hash, e.high, e.error = hash, n+error, error
	t.index.put(hash, len(t.entries))
	return &e.of
}

// drop keeps the keys with the most rows, and moves the rows of the others into their cells.
func (t *Top[T]) drop() {
	if len(t.entries) <= t.keep {
		return
	}
	t.part(0, len(t.entries))
	for _, e := range t.entries[t.keep:] {
		high := uint32(min(e.high, 1<<31))
		cell := &t.cells[e.hash>>32&t.mask]
		*cell = max(*cell, high)
		t.floor = max(t.floor, high+high/slack)
	}
	t.entries = t.entries[:t.keep]
	t.index.clear()
	for i := range t.entries {
		t.index.put(t.entries[i].hash, i+1)
	}
}

// part moves the keep entries with the most rows to the front of [from, to) (quickselect). It
// exchanges entries with what is kept for them, so that no two entries share it.
func (t *Top[T]) part(from, to int) {
	for to-from > 1 {
		pivot := t.entries[from+(to-from)/2].high
		i, j := from, to-1
		for i <= j {
			for t.entries[i].high > pivot {
				i++
			}
			for t.entries[j].high < pivot {
				j--
			}
			if i <= j {
				t.entries[i], t.entries[j] = t.entries[j], t.entries[i]
				i++
				j--
			}
		}
		switch {
		case t.keep <= j:
			to = j + 1
		case t.keep >= i:
			from = i
		default:
			return
		}
	}
}

// Merge adds the counts of another Top, of other rows. join adds what the other keeps for a key to
// what is kept here, if both have the key. The other must not be used afterwards.
func (t *Top[T]) Merge(other *Top[T], join func(into, from *T)) {
	t.shrink(len(other.cells))
	other.shrink(len(t.cells))
	t.rows += other.rows
	merged := make([]entry[T], 0, len(t.entries)+len(other.entries))
	for _, e := range t.entries {
		if o := other.find(e.hash); o != nil {
			e.high += o.high
			e.error += o.error
			join(&e.of, &o.of)
		} else {
			more := int64(other.cells[e.hash>>32&other.mask])
			e.high += more
			e.error += more
		}
		merged = append(merged, e)
	}
	for _, e := range other.entries {
		if t.find(e.hash) == nil {
			more := int64(t.cells[e.hash>>32&t.mask])
			e.high += more
			e.error += more
			merged = append(merged, e)
		}
	}
	for i, c := range other.cells {
		t.cells[i] = uint32(min(uint64(t.cells[i])+uint64(c), 1<<32-1))
	}
	t.floor = max(t.floor, other.floor)
	slices.SortFunc(merged, func(a, b entry[T]) int { return cmp.Or(cmp.Compare(b.high, a.high), cmp.Compare(a.hash, b.hash)) })
	for _, e := range merged[min(t.keep, len(merged)):] {
		high := uint32(min(e.high, 1<<31))
		cell := &t.cells[e.hash>>32&t.mask]
		*cell = max(*cell, high)
		t.floor = max(t.floor, high)
	}
	t.entries = append(make([]entry[T], 0, 2*t.keep), merged[:min(t.keep, len(merged))]...)
	t.index.clear()
	for i := range t.entries {
		t.index.put(t.entries[i].hash, i+1)
	}
}

// shrink reduces the cells to at most that many. If several cells become one, it takes the largest
// of their bounds, which holds for all their keys.
func (t *Top[T]) shrink(cells int) {
	if len(t.cells) <= cells {
		return
	}
	t.mask = uint64(cells - 1)
	for i, c := range t.cells[cells:] {
		into := &t.cells[uint64(i)&t.mask]
		*into = max(*into, c)
	}
	t.cells = t.cells[:cells]
}

func (t *Top[T]) find(hash uint64) *entry[T] {
	tag := tagOf(hash)
	for i := hash & t.index.mask; ; i = (i + 1) & t.index.mask {
		s := t.index.places[i]
		if s == 0 {
			return nil
		}
		if s&^maxSlot != tag {
			continue
		}
		if e := &t.entries[s&maxSlot-1]; e.hash == hash {
			return e
		}
	}
}

// Frequent is a key with bounds of its rows.
type Frequent[T any] struct {
	Hash      uint64
	Low, High int64
	Of        *T
}

// List returns up to n of the kept keys, those with the most rows (by their upper bounds) first.
func (t *Top[T]) List(n int) []Frequent[T] {
	list := make([]Frequent[T], len(t.entries))
	for i := range t.entries {
		e := &t.entries[i]
		list[i] = Frequent[T]{Hash: e.hash, Low: e.high - e.error, High: e.high, Of: &e.of}
	}
	slices.SortFunc(list, func(a, b Frequent[T]) int {
		return cmp.Or(cmp.Compare(b.High, a.High), cmp.Compare(b.Low, a.Low), cmp.Compare(a.Hash, b.Hash))
	})
	return list[:min(n, len(list))]
}

// Absent returns the most rows that a key outside List(all) can have; 0: all keys are in it.
func (t *Top[T]) Absent() int64 {
	var most uint32
	for _, c := range t.cells {
		most = max(most, c)
	}
	return int64(most)
}

// Exact reports whether every key is counted by itself, and exactly.
func (t *Top[T]) Exact() bool { return t.floor == 0 }

// Rows returns the number of rows that were added.
func (t *Top[T]) Rows() int64 { return t.rows }
