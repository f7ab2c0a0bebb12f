// SPDX-License-Identifier: Apache-2.0

package result

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
)

// Next tells which rows a Shaper wants after a call.
type Next uint8

// The answers of a Shaper.
const (
	More    Next = iota // the next row
	Enough              // rows of other partitions: this one has had its share
	Full                // no rows: the page is full, and the Shaper did not take the row
	Reached             // no rows: LIMIT is reached
)

// Output takes the rows of a result.
type Output interface {
	// Emit writes a row. It does not keep the cells.
	Emit(cells [][]byte) error
	// Full reports whether the page has all its rows.
	Full() bool
	// Room returns an error if this many bytes of rows may not be kept for sorting.
	Room(bytes int) error
}

// Shaper makes the result from rows that come in the order of partitions and clustering columns.
type Shaper struct {
	Limits
	bound  *analysis.BoundSelect
	out    Output
	groups Groups
	sorted Sorted
	keys   [][]byte // of the open group's first row, if groups are sorted
	cells  [][]byte
	rest   Limits
}

// NewShaper returns a shaper for the rows after those that limits has counted.
func NewShaper(b *analysis.BoundSelect, limits Limits, out Output) *Shaper {
	s := &Shaper{Limits: limits, bound: b, out: out, rest: limits}
	s.groups.Begin(b.Select)
	s.sorted.Begin(b.Select)
	return s
}

// Rest returns the limits as they were after the last row of the result. The next page starts with
// them, after the last row that was taken.
func (s *Shaper) Rest() Limits { return s.rest }

// Partition begins a partition. It ends the group of the previous partition.
func (s *Shaper) Partition() (Next, error) {
	if s.groups.Ends() {
		if next, err := s.flush(); next != More || err != nil {
			return next, err
		}
	}
	s.Limits.Partition()
	return More, nil
}

// Row takes a row that matches the statement's restrictions.
func (s *Shaper) Row(row eval.Row) (Next, error) {
	env := s.bound.Env
	if s.groups.On() {
		splits, err := s.groups.Splits(env, row)
		if err != nil {
			return More, err
		}
		if splits {
			if next, err := s.flush(); next != More || err != nil {
				return next, err
			}
		}
		if s.Inside == 0 {
			return Enough, nil
		}
		if !s.groups.Open() && s.sorted.On() {
			s.keys = s.sorted.Keys(row)
		}
		return More, s.groups.Add(env, row)
	}
	switch {
	case s.Inside == 0:
		return Enough, nil
	case s.out.Full():
		return Full, nil
	}
	var err error
	if s.cells, err = s.bound.Selection.Row(env, row, s.cells[:0]); err != nil {
		return More, err
	}
	if s.sorted.On() {
		s.keys = s.sorted.Keys(row)
	}
	if err := s.show(); err != nil {
		return More, err
	}
	switch {
	case s.Left == 0:
		return Reached, nil
	case s.Inside == 0:
		return Enough, nil
	}
	return More, nil
}

// flush shows the open group, and returns whether rows of another group are wanted.
func (s *Shaper) flush() (next Next, err error) {
	if s.cells, err = s.groups.Close(s.bound.Env, s.cells[:0]); err != nil {
		return More, err
	}
	if err := s.show(); err != nil {
		return More, err
	}
	switch {
	case s.Left == 0:
		return Reached, nil
	case s.out.Full():
		return Full, nil
	}
	return More, nil
}

// show counts the finished result row, and writes it or keeps it for sorting.
func (s *Shaper) show() error {
	s.Count()
	s.rest = s.Limits
	if !s.sorted.On() {
		return s.out.Emit(s.cells)
	}
	s.sorted.Keep(s.keys, s.cells)
	return s.out.Room(s.sorted.Size())
}

// End ends the result after the last row, or when LIMIT is reached.
func (s *Shaper) End() error {
	if s.groups.On() && (s.groups.Open() || !s.bound.Grouped) {
		if _, err := s.flush(); err != nil {
			return err
		}
	}
	for cells := range s.sorted.Rows(s.Left) {
		if err := s.out.Emit(cells); err != nil {
			return err
		}
	}
	return nil
}
