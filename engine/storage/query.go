package storage

import "math"

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

// Query is what to read of each partition, and as of when.
type Query struct {
	Now     int64     // seconds since 1970: what expired by then is dead
	Columns ColumnSet // cells wanted; a row is there even if none of them is
	All     bool      // all columns, whatever Columns says
	Slices  []Slice   // disjoint, in clustering order (also when Reversed); none: all rows
	Reverse bool      // rows of each partition from the last to the first
	Static  bool      // the static row is wanted (of the wanted columns)

	// After goes on after this clustering in the first partition read
	// (exclusive, in the direction read). nil: from the start.
	After [][]byte

	// View, when not nil, is the state to read; nil is the latest.
	View *View
}

// TokenRange is the tokens First..Last, both inclusive.
type TokenRange struct {
	First, Last int64
}

// AllTokens is every token.
var AllTokens = TokenRange{math.MinInt64, math.MaxInt64}

// Position is where a scan goes on: after partition Key, or inside it after
// Query.After when Inside.
type Position struct {
	Token  int64
	Key    []byte
	Inside bool // the partition itself goes on, after Query.After (from its start when that is nil)
}

// View is a state of the DB that does not change. Close it soon: it keeps
// deleted data on disk.
type View struct{}

// View takes a view of all that is committed.
func (db *DB) View() *View { panic("") }

// Close ends the view.
func (v *View) Close() { panic("") }

// Get reads one live row into row, and tells whether there is one. Without
// clustering columns pass nil. Query.Slices, Reverse, Static and After are not
// looked at. It is the fast way.
func (t *Table) Get(token int64, key []byte, clustering [][]byte, q *Query, row *Row) (bool, error) {
	panic("")
}

// GetStatic reads the live static row, as Get does.
func (t *Table) GetStatic(token int64, key []byte, q *Query, row *Row) (bool, error) { panic("") }

// Read reads one partition. An error is reported by Iterator.Err.
func (t *Table) Read(token int64, key []byte, q *Query) *Iterator { panic("") }

// Scan reads the partitions of a token range in order of token, then key. from,
// when not nil, is where to go on.
func (t *Table) Scan(r TokenRange, from *Position, q *Query) *Iterator { panic("") }

// Iterator reads partitions and their rows:
//
//	for it.NextPartition() {
//		static := it.Static()
//		for it.Next() {
//			row := it.Row()
//		}
//	}
//	err := it.Err()
//
// It sees one state of the DB, that of its making. q must not change while it
// is in use. It is for one goroutine.
type Iterator struct{}

// NextPartition goes to the next partition that has any live data in the wanted
// slices, or a live static row, skipping what is left of the current one. Only
// with Query.Static are partitions found that have nothing but a static row.
func (it *Iterator) NextPartition() bool { panic("") }

// Partition returns the current partition. key is a view until NextPartition
// or Close.
func (it *Iterator) Partition() (token int64, key []byte) { panic("") }

// Static returns the live static row, nil when there is none or Query.Static
// was not asked for. It is a view until NextPartition or Close.
func (it *Iterator) Static() *Row { panic("") }

// Next goes to the next live row of the current partition.
func (it *Iterator) Next() bool { panic("") }

// Row returns the current row, a view until Next, NextPartition or Close.
func (it *Iterator) Row() *Row { panic("") }

// Err returns what ended the iteration early.
func (it *Iterator) Err() error { panic("") }

// Close ends it. It may be called twice.
func (it *Iterator) Close() error { panic("") }
