// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math/bits"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// These are sizes of what Cassandra writes, before compression, in its default SSTable format (BIG,
// "nb"; UnfilteredSerializer, ClusteringPrefix.Serializer).

const (
	rowFlags  = 1
	cellFlags = 1
	// A partition has its key's length (two bytes), the time of deletion (twelve bytes), and the
	// mark of its end.
	partitionBytes = 2 + 12 + 1
	partitionEnd   = 1
	shardBytes     = 4
	componentBytes = 3 // of a key of several columns: a length of two bytes, and a zero
)

// LoadRate is the assumed number of rows written per second, in their order. Cassandra stores a
// row's timestamp as the microseconds since the first timestamp of its file, with one byte for each
// seven bits.
const LoadRate = 2000

// vint returns the length of an unsigned variable-length integer.
func vint(n int) int {
	return min(9, (bits.Len64(uint64(n)|1)+6)/7)
}

// stored returns the length of a value in a cell or clustering key. A type of variable length has
// its length before it. An empty value takes no bytes, because the flags mark it.
func stored(t *value.Type, n int) int {
	if _, ok := t.FixedLen(); ok || n == 0 {
		return n
	}
	return vint(n) + n
}

// rowShape holds what a row's length depends on.
type rowShape struct {
	clustered  bool // the table has clustering columns
	clustering int  // bytes of their values
	timestamp  int
	cells      int
	absent     int // with the columns sorted by name: the place of the last null column, from 1; 0: none is null
	before     int // length of the row before; of the first row, of the partition's beginning
}

func (s rowShape) length() int {
	n := rowFlags + s.clustering
	if s.clustered {
		n++ // marks which of the values are null or empty
	}
	body := s.timestamp + s.cells + (s.absent+6)/7 + vint(s.before)
	return n + vint(body) + body
}

// stamp returns the length of the timestamp of row r of a batch.
func (m *measurer) stamp(seq, r int) int {
	at := int64(r)
	if starts := m.profile.starts; seq < len(starts) {
		at += starts[seq]
	}
	return vint(int(at * (1e6 / LoadRate)))
}

// places returns the places of columns, from 1, among all columns with values, sorted by name.
func places(p *Profile, columns []string) []int {
	var names []string
	for i := range p.Columns {
		if p.Columns[i].Values > 0 {
			names = append(names, p.Columns[i].Name)
		}
	}
	slices.Sort(names)
	out := make([]int, len(columns))
	for i, c := range columns {
		at, _ := slices.BinarySearch(names, c)
		out[i] = at + 1
		if p.Column(c).Values == 0 {
			out[i] = 0 // a table's files do not name it
		}
	}
	return out
}
