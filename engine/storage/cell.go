// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"math"
	"unsafe"
)

// Cell is one cell: the value of a column, or of one element of a non-frozen collection or UDT.
type Cell struct {
	Column    uint32
	packed    bool   // Value is the stored form of several elements (Query.Packed); Column is set, nothing else
	Path      []byte // element: list timeuuid, set element, map key, UDT field index (smallint); nil for atomic columns
	Value     []byte // serialized; empty for set elements
	Timestamp int64  // microseconds
	TTL       int32  // seconds as written; 0: does not expire
	Expires   int64  // seconds since 1970 when TTL > 0 (write time + TTL): dead from this second on
}

// TTLLeft returns the result of ttl(column): the seconds left at now, or 0 without a TTL.
func (c *Cell) TTLLeft(now int64) int32 {
	if c.TTL == 0 {
		return 0
	}
	return int32(c.Expires - now)
}

// Liveness is a row's marker (Cassandra's primary key liveness). INSERT writes it and UPDATE does
// not.
type Liveness struct {
	Timestamp int64
	TTL       int32
	Expires   int64
}

// Deletion is a tombstone: it deletes data with its Timestamp or a lower one.
type Deletion struct {
	Timestamp int64 // microseconds
	Time      int64 // the time of the deletion, in seconds since 1970; used for garbage collection, and to order deletions with equal timestamps
}

// noTimestamp is lower than every timestamp that a client may give.
const noTimestamp = math.MinInt64

// Row is a live row, or the live static row, at Query.Now.
//
// Its slices are views. They are valid until the next call of Next, NextPartition or Close or, for
// Get, until the Row is used again.
type Row struct {
	Clustering [][]byte // serialized values, one for each clustering column; none for the static row
	HasMarker  bool     // the marker is live
	Marker     Liveness // if HasMarker
	Cells      []Cell   // live cells of the wanted columns, sorted by column, then by path in the order of its type

	originals []original
	arena     []byte // memory of decoded clustering values and paths
	value     []byte // the cells are views of it
	packed    packing
}

// Trim frees the row's memory if it is more than so many bytes. The row is empty then.
func (row *Row) Trim(keep int) {
	if cap(row.value)+cap(row.arena)+cap(row.Cells)*int(unsafe.Sizeof(Cell{})) > keep {
		*row = Row{}
	}
}

// ColumnSet is a set of column ids. The zero value is empty.
type ColumnSet struct {
	low  uint64
	high []uint64
}

// NewColumnSet returns a set of columns.
func NewColumnSet(columns ...uint32) ColumnSet {
	var s ColumnSet
	for _, c := range columns {
		s.Add(c)
	}
	return s
}

// Add adds a column.
func (s *ColumnSet) Add(column uint32) {
	if column < 64 {
		s.low |= 1 << column
		return
	}
	i := int(column/64) - 1
	for len(s.high) <= i {
		s.high = append(s.high, 0)
	}
	s.high[i] |= 1 << (column % 64)
}

// Has reports whether the column is in the set.
func (s *ColumnSet) Has(column uint32) bool {
	if column < 64 {
		return s.low&(1<<column) != 0
	}
	i := int(column/64) - 1
	return i < len(s.high) && s.high[i]&(1<<(column%64)) != 0
}
