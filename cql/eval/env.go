// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Value is the value of a bind marker. Bytes is nil for null; Unset says that
// the marker was given no value at all (native_protocol_v4.spec §3, [value]).
type Value struct {
	Bytes []byte
	Unset bool
}

// Env is what an execution brings to an evaluation. The zero value suffices for
// expressions without markers, clocks or random values.
type Env struct {
	// Values are the values of the statement's markers, in order.
	Values []Value

	// Now is the time of the execution in microseconds since 1970: what
	// current_timestamp and its kin return, and writes' default timestamp.
	Now int64

	// Timeuuid returns a fresh time-based UUID, greater than those before: what
	// now() returns and the keys of appended list elements.
	Timeuuid func() [16]byte

	// UUID returns a fresh random UUID: what uuid() returns.
	UUID func() [16]byte

	// Token returns the serialized token of a partition key given by its
	// components. nil stands for Murmur3Partitioner's.
	Token func(key [][]byte) []byte
}

// Cell times of a row, see Row.Times.
const (
	NoTimestamp int64 = -1 << 63 // the cell, element or field is absent
	NoTTL       int32 = -1       // the cell does not expire
)

// CellTime is when a cell was written, in microseconds since 1970, and how many
// seconds it has left to live.
type CellTime struct {
	Timestamp int64
	TTL       int32
}

// CellTimeOf reads what WRITETIME and TTL gave: a bigint and an int, each null
// where the cell has none.
func CellTimeOf(written, left []byte) CellTime {
	t := CellTime{Timestamp: NoTimestamp, TTL: NoTTL}
	if len(written) == 8 {
		t.Timestamp = int64(binary.BigEndian.Uint64(written))
	}
	if len(left) == 4 {
		t.TTL = int32(binary.BigEndian.Uint32(left))
	}
	return t
}

// Row gives the cells of one row by their position among the fetched columns
// of a statement (analysis.Select.Fetch, analysis.Write.Fetch).
type Row interface {
	// Cell is the serialized value, nil for null. A collection or UDT that is
	// not frozen is given whole, in the serialized form of its frozen type; an
	// empty one is nil.
	Cell(i int) []byte

	// Times are the times of the cell: one for an atomic value; one for each
	// element of a collection in the order of Cell; one for each field of a UDT,
	// NoTimestamp for those that are null. Empty for null. It is asked only for
	// columns fetched with Times set.
	Times(i int) []CellTime
}

// Cells is a Row of values only, without times.
type Cells [][]byte

// Cell implements Row.
func (c Cells) Cell(i int) []byte { return c[i] }

// Times implements Row.
func (c Cells) Times(int) []CellTime { return nil }

// token is the serialized token of a partition key.
func (e *Env) token(key [][]byte) []byte {
	if e.Token != nil {
		return e.Token(key)
	}
	b := key[0]
	if len(key) > 1 {
		b = partitioner.AppendComposite(nil, key...)
	}
	return encodeBigint(partitioner.Murmur3(b))
}
