// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// list is what one restriction allows: tuples of equal length. It keeps their values serialized,
// because a slice for each takes several times the bytes of a short value.
type list struct {
	width int      // the number of values in each tuple
	bytes []byte   // values; the length of each is before it, in 4 bytes
	at    []uint32 // where each tuple begins in bytes
}

// add adds a tuple.
func (l *list) add(tuple ...[]byte) {
	l.width = len(tuple)
	l.at = append(l.at, uint32(len(l.bytes)))
	for _, v := range tuple {
		l.bytes = binary.BigEndian.AppendUint32(l.bytes, uint32(len(v)))
		l.bytes = append(l.bytes, v...)
	}
}

func (l *list) len() int { return len(l.at) }

// appendTuple appends the values of the tuple with index i.
func (l *list) appendTuple(dst [][]byte, i int) [][]byte { return l.appendAt(dst, l.at[i]) }

func (l *list) appendAt(dst [][]byte, place uint32) [][]byte {
	at := int(place)
	for range l.width {
		from := at + 4
		at = from + int(binary.BigEndian.Uint32(l.bytes[at:]))
		dst = append(dst, l.bytes[from:at:at])
	}
	return dst
}

// firsts returns the first value of each tuple.
func (l *list) firsts() [][]byte {
	out := make([][]byte, 0, l.len())
	for _, tuple := range l.all() {
		out = append(out, tuple[0])
	}
	return out
}

// size returns the total length in bytes of the values of the tuple with index i.
func (l *list) size(i int) int {
	n, at := 0, int(l.at[i])
	for range l.width {
		of := int(binary.BigEndian.Uint32(l.bytes[at:]))
		n += of
		at += 4 + of
	}
	return n
}

// all returns the tuples and their indexes. Each tuple is valid until the next.
func (l *list) all() iter.Seq2[int, [][]byte] {
	return func(yield func(int, [][]byte) bool) {
		tuple := make([][]byte, 0, l.width)
		for i := range l.at {
			if !yield(i, l.appendTuple(tuple, i)) {
				return
			}
		}
	}
}

// find returns the index of a tuple in a sorted list. The tuple may have more values.
func (l *list) find(columns []*schema.Column, tuple [][]byte) (int, bool) {
	var scratch [4][]byte
	return sort.Find(l.len(), func(i int) int { return -compare(columns, l.appendTuple(scratch[:0], i), tuple) })
}

// sortUnique sorts the tuples in the order of their columns and drops equal ones. The first of them
// stays.
func (l *list) sortUnique(columns []*schema.Column) {
	if l.len() < 2 {
		return
	}
	var one, other [4][]byte
	compareAt := func(a, b uint32) int {
		return compare(columns, l.appendAt(one[:0], a), l.appendAt(other[:0], b))
	}
	slices.SortStableFunc(l.at, compareAt)
	l.at = slices.CompactFunc(l.at, func(a, b uint32) bool { return compareAt(a, b) == 0 })
}
