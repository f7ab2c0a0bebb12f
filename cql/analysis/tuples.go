// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// Tuples are the values of the first columns of a key that EQ and IN restrictions
// allow: distinct, in the order of the columns. Several INs allow all combinations
// of their values. These are computed one at a time, so that Tuples hold no more
// than the lists of the statement, however many combinations there are. The zero
// value is none.
type Tuples struct {
	first [][]byte // what all tuples begin with
	lists []list   // what follows, each of several values
	n     int
}

// list is what one restriction allows: distinct tuples of equal length, in order.
type list [][][]byte

// Len is how many tuples there are, as far as an int can say.
func (t *Tuples) Len() int { return t.n }

// At is the tuple of index i. The caller must not change it.
func (t *Tuples) At(i int) [][]byte {
	if len(t.lists) == 0 {
		return t.first
	}
	width := t.width()
	out := make([][]byte, width)
	copy(out, t.first)
	for n := len(t.lists) - 1; n >= 0; n-- {
		l := t.lists[n]
		width -= len(l[0])
		copy(out[width:], l[i%len(l)])
		i /= len(l)
	}
	return out
}

// width is how many values each has. There is one.
func (t *Tuples) width() int {
	width := len(t.first)
	for _, l := range t.lists {
		width += len(l[0])
	}
	return width
}

// All are the tuples and their indexes, in order.
func (t *Tuples) All() iter.Seq2[int, [][]byte] { return t.From(0) }

// From are the tuples of index i and after.
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
		for _, v := range l {
			of += size(v)
		}
		n += float64(of) / float64(len(l))
	}
	return n * float64(t.n)
}

// Index is the index of the tuple that the columns' types take for the given one,
// which is as long; -1 where there is none.
func (t *Tuples) Index(columns []*schema.Column, tuple [][]byte) int {
	if t.n == 0 || compare(columns, t.first, tuple) != 0 {
		return -1
	}
	at, columns, tuple := 0, columns[len(t.first):], tuple[len(t.first):]
	for _, l := range t.lists {
		i, found := slices.BinarySearchFunc(l, tuple, func(a, b [][]byte) int { return compare(columns, a, b) })
		if !found {
			return -1
		}
		at = at*len(l) + i
		columns, tuple = columns[len(l[0]):], tuple[len(l[0]):]
	}
	return at
}

// add has the tuples go on with one of the values of the next columns, which may be
// in any order and there twice.
func (t *Tuples) add(values [][][]byte, columns []*schema.Column) {
	values = sortUnique(values, columns)
	switch {
	case len(values) == 0:
		*t = Tuples{}
		return
	case len(values) == 1 && len(t.lists) == 0:
		t.first = append(t.first, values[0]...)
		return
	}
	t.lists = append(t.lists, values)
	t.n = times(t.n, len(values))
}

// times is a*b, or the largest int where that is more.
func times(a, b int) int {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}

// storable refuses values of key columns that Cassandra would store and not be able
// to read.
func (t *Tuples) storable(columns []*schema.Column) error {
	for i, v := range t.first {
		if err := storable(columns[i].Type, v); err != nil {
			return err
		}
	}
	columns = columns[len(t.first):]
	for _, l := range t.lists {
		for _, tuple := range l {
			for i, v := range tuple {
				if err := storable(columns[i].Type, v); err != nil {
					return err
				}
			}
		}
		columns = columns[len(l[0]):]
	}
	return nil
}

// Longer is how many bytes the first tuple has that has more than most; false where
// none has.
func (t *Tuples) Longer(most int) (int, bool) {
	after := make([]int, len(t.lists)+1) // the most bytes of the lists from each on
	for i := len(t.lists) - 1; i >= 0; i-- {
		for _, v := range t.lists[i] {
			after[i] = max(after[i], size(v))
		}
		after[i] += after[i+1]
	}
	n := size(t.first)
	if t.n == 0 || n+after[0] <= most {
		return 0, false
	}
	for i, l := range t.lists {
		for _, v := range l {
			if n+size(v)+after[i+1] > most {
				n += size(v)
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

// Slices are the ranges of clustering keys that a statement is about: disjoint, in
// clustering order. They are computed one at a time, as Tuples are. The zero value is
// none.
type Slices struct {
	prefixes Tuples
	below    []Slice // the same range of each prefix, in pieces; nil: all with the prefix
}

// AllSlices are the one slice that has every row.
func AllSlices() Slices { return Slices{prefixes: Tuples{n: 1}} }

// SlicesOf are the given slices, which are disjoint and in clustering order.
func SlicesOf(list ...Slice) Slices {
	if len(list) == 0 {
		return Slices{}
	}
	return Slices{Tuples{n: 1}, list}
}

// Len is how many slices there are, as far as an int can say.
func (s *Slices) Len() int {
	if s.below == nil {
		return s.prefixes.n
	}
	return times(s.prefixes.n, len(s.below))
}

// At is the slice of index i. The caller must not change it.
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

// All are the slices in order.
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

// Prefix is how many columns EQ and IN restrict.
func (s *Slices) Prefix() int { return s.prefixes.width() }

// Ends are the values of the columns after these that ranges begin or end with.
func (s *Slices) Ends() (ends [][][]byte) {
	for _, piece := range s.below {
		ends = append(ends, piece.Start.Prefix, piece.End.Prefix)
	}
	return ends
}

// Keep leaves out the slices of which EQ or IN restricts columns, from the first on,
// to values that are not kept.
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
		l = slices.DeleteFunc(slices.Clone(l), func(v [][]byte) bool { return !keep(first, v) })
		if len(l) == 0 || kept.n == 0 {
			*t = Tuples{}
			return
		}
		kept.lists = append(kept.lists, l)
		kept.n = times(kept.n, len(l))
		first += len(l[0])
	}
	*t = kept
}

// Find is the index of the first slice that does not end before a clustering key:
// the one that has the key, if any has; Len where all end before it.
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

// Contains says whether a clustering key of the table lies in one of the slices.
func (s *Slices) Contains(t *schema.Table, clustering [][]byte) bool {
	i := s.Find(t, clustering)
	return i < s.Len() && s.At(i).Contains(t, clustering)
}
