// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"fmt"
)

// interval is a slice in the form of positions.
type interval struct {
	lo, hi []byte // lo ≤ row < hi
}

// intervals are the slices of a query in the form of positions. Only one at a time is current.
type intervals struct {
	table   *Table
	of      Slices // nil: one, of all rows
	reverse bool

	// The indexes of the slices that are left. cut is the position at which the first of these, in
	// reading direction, is cut off; nil: it is whole.
	from, to int
	cut      []byte

	at int // the current one: in from..to, unless it has been left
	interval
	arena []byte
	other interval // of search
	spare []byte
}

// begin begins with all slices of a query. It returns an error for malformed slices, as far as it
// can see that without making them.
func (s *intervals) begin(t *Table, q *Query) error {
	s.table, s.of, s.reverse = t, q.Slices, q.Reverse
	s.from, s.to, s.cut, s.at = 0, 1, nil, -1
	if s.of == nil {
		return nil
	}
	s.to = s.of.Len()
	list, ok := s.of.(Listed)
	if !ok {
		return nil
	}
	var end []byte
	var kept Listed // without empty slices, after the first empty one is found: (a, a) may stand before [a, b)
	for i := range list {
		if err := s.look(i); err != nil {
			return err
		}
		if bytes.Equal(s.other.lo, s.other.hi) {
			if kept == nil {
				kept = append(make(Listed, 0, len(list)), list[:i]...)
			}
			continue
		}
		if bytes.Compare(s.other.lo, end) < 0 {
			return fmt.Errorf("slices overlap or are out of order: %w", ErrMalformed)
		}
		end = append(end[:0], s.other.hi...)
		if kept != nil {
			kept = append(kept, list[i])
		}
	}
	if kept != nil {
		s.of, s.to = kept, len(kept)
	}
	return nil
}

// whole begins again with all slices, without a cut.
func (s *intervals) whole() {
	s.from, s.to, s.cut, s.at = 0, 1, nil, -1
	if s.of != nil {
		s.to = s.of.Len()
	}
}

// empty reports whether no slice is left.
func (s *intervals) empty() bool { return s.from >= s.to }

// after keeps only what comes after a clustering, in reading direction.
func (s *intervals) after(clustering [][]byte) error {
	if len(clustering) != len(s.table.spec.Clustering) {
		return fmt.Errorf("position of %d values for %d clustering columns: %w", len(clustering), len(s.table.spec.Clustering), ErrMalformed)
	}
	_, at, err := s.table.appendPosition(nil, clustering, !s.reverse)
	if err != nil {
		return err
	}
	return s.beyond(at)
}

// beyond keeps only what comes after a position, in reading direction.
func (s *intervals) beyond(at []byte) error {
	i, err := s.search(at)
	if err != nil {
		return err
	}
	if s.cut = at; s.reverse {
		s.to = i + 1
	} else {
		s.from = i
	}
	s.at = -1
	return nil
}

// search returns the index of the next slice, in reading direction, that can contain a row at a
// position or after it: the first slice that ends after the position or, in reverse, the last one
// that does not begin after it.
func (s *intervals) search(at []byte) (int, error) {
	low, high := s.from, s.to
	if s.at >= 0 && !s.reverse {
		low = max(low, s.at)
	} else if s.at >= 0 {
		high = min(high, s.at+1)
	}
	for low < high {
		i := low + (high-low)/2
		if err := s.look(i); err != nil {
			return 0, err
		}
		if s.reverse && bytes.Compare(s.other.lo, at) <= 0 || !s.reverse && bytes.Compare(s.other.hi, at) <= 0 {
			low = i + 1
		} else {
			high = i
		}
	}
	if s.reverse {
		low--
	}
	return low, nil
}

// look sets other to the interval with index i.
func (s *intervals) look(i int) (err error) {
	s.spare, s.other, err = s.load(s.spare[:0], i)
	return err
}

// load appends the interval with index i to an arena and returns it as a view of the arena. An
// empty interval ends at its beginning.
func (s *intervals) load(arena []byte, i int) ([]byte, interval, error) {
	if s.of == nil {
		return arena, interval{nil, endOfRows}, nil
	}
	slice := s.of.At(i)
	arena, lo, hi, err := s.table.appendSlice(arena, &slice)
	if bytes.Compare(lo, hi) > 0 {
		hi = lo
	}
	return arena, interval{lo, hi}, err
}

var endOfRows = []byte{after}

// first makes the first remaining slice, in reading direction, the current one. There must be one.
func (s *intervals) first() error {
	if s.reverse {
		return s.present(s.to - 1)
	}
	return s.present(s.from)
}

// next makes the next slice, in reading direction, that can contain a row at a position or after it
// the current one. It returns false if there is none.
func (s *intervals) next(at []byte) (bool, error) {
	i, err := s.search(at)
	if err != nil || i < s.from || i >= s.to {
		return false, err
	}
	return true, s.present(i)
}

// present makes the interval with index i the current one.
func (s *intervals) present(i int) (err error) {
	s.at = i
	if s.arena, s.interval, err = s.load(s.arena[:0], i); err != nil || s.cut == nil {
		return err
	}
	switch {
	case s.reverse && i == s.to-1 && bytes.Compare(s.cut, s.hi) < 0:
		s.hi = s.cut
	case !s.reverse && i == s.from && bytes.Compare(s.cut, s.lo) > 0:
		s.lo = s.cut
	}
	return nil
}

// bounds returns the first and the last position of the remaining slices. There must be one.
func (s *intervals) bounds() (lo, hi []byte, err error) {
	if err = s.first(); err != nil || s.from == s.to-1 {
		return s.lo, s.hi, err
	}
	if s.reverse {
		err = s.look(s.from)
		return s.other.lo, s.hi, err
	}
	err = s.look(s.to - 1)
	return s.lo, s.other.hi, err
}
