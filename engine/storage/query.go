// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// Bound is one end of a slice: a prefix of the clustering values, all rows with
// which are inside when Inclusive. An empty Prefix is no bound.
type Bound struct {
	Prefix    [][]byte
	Inclusive bool
}

// Slice is an interval of the clustering, Start before End in the table's
// clustering order (for DESC columns the larger value comes first). The zero
// Slice is all rows.
type Slice struct {
	Start, End Bound
}

// Slices are slices that are disjoint and in clustering order, also when the read is
// in reverse. A slice that no row can be in lies between its neighbours, too, unless
// the slices are Listed. They may be many and made when they are asked for: a read asks for no
// more than it takes to find its rows.
type Slices interface {
	Len() int
	At(i int) Slice
}

// Listed are Slices that are written out.
type Listed []Slice

// Len implements Slices.
func (l Listed) Len() int { return len(l) }

// At implements Slices.
func (l Listed) At(i int) Slice { return l[i] }

// Query is what to read of each partition, and as of when.
type Query struct {
	Now     int64     // seconds since 1970: what expires by then is dead
	Columns ColumnSet // cells wanted; a row is there even if none of them is
	All     bool      // all columns, whatever Columns says
	Slices  Slices    // nil: all rows
	Reverse bool      // rows of each partition from the last to the first
	Static  bool      // the static row is wanted (of the wanted columns)

	// After goes on after this clustering in the first partition read
	// (exclusive, in the direction read). nil: from the start.
	After [][]byte

	// View, when not nil, is the state to read; nil is the latest.
	View *View

	// Check is called now and then, while nothing is found too. Its error ends the
	// read. nil: the read goes on to its end.
	Check func() error
}

// TokenRange is the tokens First..Last, both inclusive.
type TokenRange struct {
	First, Last int64
}

// AllTokens is every token.
var AllTokens = TokenRange{math.MinInt64, math.MaxInt64}

// Position is where a scan goes on: after partition Key, or inside it.
type Position struct {
	Token  int64
	Key    []byte
	Inside bool // the partition itself goes on, after Query.After (from its start when that is nil)
}

// View is a state of the DB that does not change. Close it soon: it keeps
// deleted data on disk.
type View struct {
	snapshot *pebble.Snapshot
}

// View takes a view of all that is committed.
func (db *DB) View() *View { return &View{db.pebble.NewSnapshot()} }

// Close ends the view.
func (v *View) Close() error { return v.snapshot.Close() }

// reader is the state that q reads.
func (t *Table) reader(q *Query) pebble.Reader {
	if q.View != nil {
		return q.View.snapshot
	}
	return t.db.pebble
}

// appendSlice appends the positions lo ≤ rows < hi of a slice to arena, of which
// they are views. lo ≥ hi when there is nothing between.
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
