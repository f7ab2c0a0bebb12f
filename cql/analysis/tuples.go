// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// Tuples are the values that EQ and IN restrictions allow for the first columns of a key: distinct,
// in the order of the columns. Several INs allow all combinations of their values. Tuples computes
// the combinations one at a time and holds only the lists of the statement, however many
// combinations there are. The zero value has no tuples.
type Tuples struct {
	first [][]byte // the values that all tuples begin with
	lists []list   // what follows: lists of several values
	n     int
}

// Len returns the number of tuples; the largest int if there are more.
func (t *Tuples) Len() int { return t.n }

// At returns the tuple with index i. The caller must not change it.
func (t *Tuples) At(i int) [][]byte {
	if len(t.lists) == 0 {
		return t.first
	}
	width := t.width()
	out := make([][]byte, width)
	copy(out, t.first)
	for n := len(t.lists) - 1; n >= 0; n-- {
		l := t.lists[n]
		width -= l.width
		l.appendTuple(out[:width], i%l.len())
		i /= l.len()
	}
	return out
}

// width returns the number of values of each tuple. There must be at least one tuple.
func (t *Tuples) width() int {
	width := len(t.first)
	for _, l := range t.lists {
		width += l.width
	}
	return width
}

// All returns the tuples and their indexes, in order.
func (t *Tuples) All() iter.Seq2[int, [][]byte] { return t.From(0) }

// From returns the tuples from index i on, and their indexes.
func (t *Tuples) From(i int) iter.Seq2[int, [][]byte] {
	return func(yield func(int, [][]byte) bool) {
		for i := i; i < t.n && yield(i, t.At(i)); i++ {
		}
	}
}

// Bytes returns the total length in bytes of the values of all tuples.
func (t *Tuples) Bytes() float64 {
	n := float64(size(t.first))
	for _, l := range t.lists {
		of := 0
		for i := range l.len() {
			of += l.size(i)
		}
		n += float64(of) / float64(l.len())
	}
	return n * float64(t.n)
}

// Index returns the index of the tuple that is equal to the given one by the columns' types; -1 if
// there is none. The given tuple has the same length.
func (t *Tuples) Index(columns []*schema.Column, tuple [][]byte) int {
	if t.n == 0 || compare(columns, t.first, tuple) != 0 {
		return -1
	}
	at, columns, tuple := 0, columns[len(t.first):], tuple[len(t.first):]
	for _, l := range t.lists {
		i, found := l.find(columns, tuple)
		if !found {
			return -1
		}
		at = at*l.len() + i
		columns, tuple = columns[l.width:], tuple[l.width:]
	}
	return at
}

// add extends each tuple with each of the values of the next columns. The values may be in any
// order and may repeat.
func (t *Tuples) add(values list, columns []*schema.Column) {
	values.sortUnique(columns)
	switch {
	case values.len() == 0:
		*t = Tuples{}
		return
	case values.len() == 1 && len(t.lists) == 0:
		t.first = values.appendTuple(t.first, 0)
		return
	}
	t.lists = append(t.lists, values)
	t.n = times(t.n, values.len())
}

// times returns a*b, or the largest int if that is more.
func times(a, b int) int {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}

// storable refuses values of key columns that Cassandra would store but could not read again.
func (t *Tuples) storable(columns []*schema.Column) error {
	for i, v := range t.first {
		if err := storable(columns[i].Type, v); err != nil {
			return err
		}
	}
	columns = columns[len(t.first):]
	for _, l := range t.lists {
		for _, tuple := range l.all() {
			for i, v := range tuple {
				if err := storable(columns[i].Type, v); err != nil {
					return err
				}
			}
		}
		columns = columns[l.width:]
	}
	return nil
}

// Longer returns the length in bytes of the first tuple that is longer than most; false if there is
// none.
func (t *Tuples) Longer(most int) (int, bool) {
	after := make([]int, len(t.lists)+1) // the largest total length of the lists from each on
	for i := len(t.lists) - 1; i >= 0; i-- {
		for n := range t.lists[i].len() {
			after[i] = max(after[i], t.lists[i].size(n))
		}
		after[i] += after[i+1]
	}
	n := size(t.first)
	if t.n == 0 || n+after[0] <= most {
		return 0, false
	}
	for i, l := range t.lists {
		for at := range l.len() {
			if size := l.size(at); n+size+after[i+1] > most {
				n += size
				break
			}
		}
	}
	return n, true
}

func size(values [][]byte) int {
	n := 0
	for _, v := range values {
		n += len(v)
	}
	return n
}

// Slices are the ranges of clustering keys that a statement reads or writes: disjoint, in
// clustering order. They are computed one at a time, as Tuples are. The zero value has no slices.
type Slices struct {
	prefixes Tuples
	below    []Slice // the same range, in pieces, for each prefix; nil: all rows with the prefix
}

// AllSlices returns one slice that contains every row.
func AllSlices() Slices { return Slices{prefixes: Tuples{n: 1}} }

// SlicesOf returns the given slices, which must be disjoint and in clustering order.
func SlicesOf(list ...Slice) Slices {
	if len(list) == 0 {
		return Slices{}
	}
	return Slices{Tuples{n: 1}, list}
}

// Len returns the number of slices; the largest int if there are more.
func (s *Slices) Len() int {
	if s.below == nil {
		return s.prefixes.n
	}
	return times(s.prefixes.n, len(s.below))
}

// At returns the slice with index i. The caller must not change it.
func (s *Slices) At(i int) Slice {
	if s.below == nil {
		p := s.prefixes.At(i)
		return Slice{Bound{p, true}, Bound{p, true}}
	}
	piece := s.below[i%len(s.below)]
	p := s.prefixes.At(i / len(s.below))
	if len(p) == 0 {
		return piece
	}
	piece.Start.Prefix = slices.Concat(p, piece.Start.Prefix)
	piece.End.Prefix = slices.Concat(p, piece.End.Prefix)
	return piece
}

// All returns the slices in order.
func (s *Slices) All() iter.Seq[Slice] {
	return func(yield func(Slice) bool) {
		for i, n := 0, s.Len(); i < n && yield(s.At(i)); i++ {
		}
	}
}

// Bytes returns the total length in bytes of the values at the ends of all slices.
func (s *Slices) Bytes() float64 {
	if s.below == nil {
		return s.prefixes.Bytes()
	}
	n := 0
	for _, end := range s.Ends() {
		n += size(end)
	}
	return 2*float64(len(s.below))*s.prefixes.Bytes() + float64(n)*float64(s.prefixes.n)
}

// Prefix returns the number of columns that EQ and IN restrict.
func (s *Slices) Prefix() int { return s.prefixes.width() }

// Ends returns the values at the ends of the ranges. They belong to the columns after those of
// Prefix.
func (s *Slices) Ends() (ends [][][]byte) {
	for _, piece := range s.below {
		ends = append(ends, piece.Start.Prefix, piece.End.Prefix)
	}
	return ends
}

// Keep removes slices. It calls keep with the values that EQ or IN allows for some columns, and
// with the index of the first of these columns. It drops the slices with values for which keep
// returns false.
func (s *Slices) Keep(keep func(first int, values [][]byte) bool) {
	t := &s.prefixes
	if t.n == 0 {
		return
	}
	kept := Tuples{first: t.first, n: 1}
	if !keep(0, t.first) {
		kept.n = 0
	}
	first := len(t.first)
	for _, l := range t.lists {
		of := list{width: l.width, bytes: l.bytes}
		for i, v := range l.all() {
			if keep(first, v) {
				of.at = append(of.at, l.at[i])
			}
		}
		if of.len() == 0 || kept.n == 0 {
			*t = Tuples{}
			return
		}
		kept.lists = append(kept.lists, of)
		kept.n = times(kept.n, of.len())
		first += l.width
	}
	*t = kept
}

// Find returns the index of the first slice that does not end before a clustering key. If any slice
// contains the key, it is this one. Find returns Len if all slices end before the key.
func (s *Slices) Find(t *schema.Table, clustering [][]byte) int {
	low, high := 0, s.Len()
	for low < high {
		if i := low + (high-low)/2; s.At(i).endsBefore(t, clustering) {
			low = i + 1
		} else {
			high = i
		}
	}
	return low
}

// Contains reports whether a clustering key of the table lies in one of the slices.
func (s *Slices) Contains(t *schema.Table, clustering [][]byte) bool {
	i := s.Find(t, clustering)
	return i < s.Len() && s.At(i).Contains(t, clustering)
}
