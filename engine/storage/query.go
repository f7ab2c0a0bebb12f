// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// Bound is one end of a slice: a prefix of the clustering values. If Inclusive is set, all rows
// with that prefix are inside. An empty Prefix is no bound.
type Bound struct {
	Prefix    [][]byte
	Inclusive bool
}

// Slice is an interval of the clustering. Start comes before End in the table's clustering order
// (for DESC columns the larger value comes first). The zero Slice covers all rows.
type Slice struct {
	Start, End Bound
}

// Slices are disjoint slices in clustering order, also if the read is in reverse. A slice that no
// row can be in must lie between its neighbours too, unless the slices are Listed. There may be
// many, each made only when it is needed: a read asks only for the slices that it needs to find
// its rows.
type Slices interface {
	Len() int
	At(i int) Slice
}

// Listed is a list of Slices.
type Listed []Slice

// Len implements Slices.
func (l Listed) Len() int { return len(l) }

// At implements Slices.
func (l Listed) At(i int) Slice { return l[i] }

// Query describes which data to read of each partition, and at which time.
type Query struct {
	Now     int64     // seconds since 1970; data that expires by then is dead
	Columns ColumnSet // wanted cells; a row is returned even if it has none of them
	All     bool      // all columns, whatever Columns says
	Slices  Slices    // nil: all rows
	Reverse bool      // rows of each partition from the last to the first
	Static  bool      // the static row is wanted, with its wanted columns

	// After is the clustering after which the first partition is read (exclusive, in reading
	// direction). nil: from the start.
	After [][]byte

	// Packed leaves the elements of each collection and UDT together in one Cell, as they are stored.
	// Row.Elements visits the elements. One Cell for each element would take much more memory.
	Packed bool

	// Room is called before a long row is loaded, with the memory that it will take, in bytes. If wait
	// is false and there is no room now, Room returns false. The read then releases the row, and calls
	// Room again with wait. Room's error ends the read. nil: there is room.
	Room func(bytes int, wait bool) (bool, error)

	// View, if not nil, is the state to read; nil means the latest.
	View *View

	// Check is called from time to time, also while nothing is found. Its error ends the read.
	// nil: the read goes on to its end.
	Check func() error
}

// TokenRange covers the tokens First..Last, both inclusive.
type TokenRange struct {
	First, Last int64
}

// AllTokens is every token.
var AllTokens = TokenRange{math.MinInt64, math.MaxInt64}

// Position is the place at which a scan continues: after partition Key, or inside it.
type Position struct {
	Token  int64
	Key    []byte
	Inside bool // continue inside the partition after Query.After, or from its start if that is nil
}

// View is an unchanging state of the DB. Close it soon, because it keeps deleted data on disk.
type View struct {
	snapshot *pebble.Snapshot
}

// View returns a view of everything that is committed.
func (db *DB) View() *View { return &View{db.pebble.NewSnapshot()} }

// Close ends the view.
func (v *View) Close() error { return v.snapshot.Close() }

// reader returns the state that q reads.
func (t *Table) reader(q *Query) pebble.Reader {
	if q.View != nil {
		return q.View.snapshot
	}
	return t.db.pebble
}

// appendSlice appends the positions lo ≤ rows < hi of a slice to arena and returns views of them.
// lo ≥ hi if the slice is empty.
func (t *Table) appendSlice(arena []byte, s *Slice) (newArena, lo, hi []byte, err error) {
	arena, lo, err = t.appendPosition(arena, s.Start.Prefix, !s.Start.Inclusive && len(s.Start.Prefix) > 0)
	if err != nil {
		return arena, nil, nil, err
	}
	arena, hi, err = t.appendPosition(arena, s.End.Prefix, s.End.Inclusive || len(s.End.Prefix) == 0)
	return arena, lo, hi, err
}

// appendPosition appends the position before, or after, all rows with the
// prefix.
func (t *Table) appendPosition(arena []byte, prefix [][]byte, behind bool) (newArena, position []byte, err error) {
	if len(prefix) > len(t.spec.Clustering) {
		return arena, nil, fmt.Errorf("bound of %d values for %d clustering columns: %w", len(prefix), len(t.spec.Clustering), ErrMalformed)
	}
	n := len(arena)
	for i, v := range prefix {
		if arena, err = appendClustering(arena, &t.spec.Clustering[i], v); err != nil {
			return arena, nil, err
		}
	}
	if behind {
		arena = append(arena, after)
	}
	return arena, arena[n:len(arena):len(arena)], nil
}
