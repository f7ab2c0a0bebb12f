// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Value is the value of a bind marker. Bytes is nil for null. Unset is set if the marker was given
// no value at all (native_protocol_v4.spec §3, [value]).
type Value struct {
	Bytes []byte
	Unset bool
}

// Env holds the inputs of an evaluation. The zero value is enough for expressions without markers,
// clocks or random values.
type Env struct {
	// Values are the values of the statement's markers, in order.
	Values []Value

	// Now is the time of the execution in microseconds since 1970. current_timestamp and similar
	// functions return it, and it is the default timestamp of writes.
	Now int64

	// Timeuuid returns a new time-based UUID, greater than all earlier ones. now() returns it, and
	// it is the key of an appended list element.
	Timeuuid func() [16]byte

	// UUID returns a new random UUID, for uuid().
	UUID func() [16]byte

	// Wanted tells whether somebody still waits for the result: its Err is an error if not. A
	// calculation with long numbers asks it before each step. nil: always.
	Wanted interface{ Err() error }

	// Memory gives room for the values that functions and literals make. A calculation asks it
	// before it makes long ones. nil: there is room for all that Made allows.
	Memory interface {
		// Hold waits until the request may hold so many bytes of such values in total.
		Hold(bytes int) error
	}

	// Token returns the serialized token of a partition key, given by its components. If it is nil,
	// eval uses Murmur3Partitioner's token.
	Token func(key [][]byte) []byte

	made int // bytes that functions and literals have made for terms
}

// After makes e count what functions and literals have made for another statement of the same
// batch, too.
func (e *Env) After(other *Env) { e.made = other.made }

// The cell times of a row; see Row.Times.
const (
	NoTimestamp int64 = -1 << 63 // the cell, element or field is absent
	NoTTL       int32 = -1       // the cell does not expire
)

// CellTime is the time at which a cell was written, in microseconds since 1970, and the remaining
// time to live in seconds.
type CellTime struct {
	Timestamp int64
	TTL       int32
}

// CellTimeOf parses the results of WRITETIME and TTL: a bigint and an int. Each is null if the cell
// has none.
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

// Row returns the cells of one row by their position among the fetched columns of a statement
// (analysis.Select.Fetch, analysis.Write.Fetch).
type Row interface {
	// Cell returns the serialized value; nil is null. A non-frozen collection or UDT is whole, in
	// the serialized form of its frozen type; an empty one is nil.
	Cell(i int) []byte

	// Times returns the times of the cell: one for an atomic value, one for each element of a
	// collection in the order of Cell, one for each field of a UDT (NoTimestamp for a null field).
	// It returns none for null. eval calls it only for columns fetched with Times set.
	Times(i int) []CellTime
}

// Cells is a Row that has only values, no times.
type Cells [][]byte

// Cell implements Row.
func (c Cells) Cell(i int) []byte { return c[i] }

// Times implements Row.
func (c Cells) Times(int) []CellTime { return nil }

// token returns the serialized token of a partition key.
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
