// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math/bits"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Sizes of what Cassandra writes, before compression, in the format of SSTables that
// it has by default (BIG, "nb"; UnfilteredSerializer, ClusteringPrefix.Serializer).

const (
	rowFlags  = 1
	cellFlags = 1
	// A partition's key has a length of two bytes before it; the time of deletion
	// (twelve bytes) and the mark of the end come on top.
	partitionBytes = 2 + 12 + 1
	partitionEnd   = 1
	shardBytes     = 4
	componentBytes = 3 // of a key of several columns: a length of two bytes, and a zero
)

// LoadRate is at how many rows a second the rows are taken to be written, in their
// order: a row's timestamp is stored as the microseconds since the first of its file,
// in one byte for each seven bits.
const LoadRate = 2000

// vint is the length of an unsigned variable-length integer.
func vint(n int) int {
	return min(9, (bits.Len64(uint64(n)|1)+6)/7)
}

// stored is the length of a value in a cell or clustering key: types without one
// length have it before them; of an empty value the flags say so.
func stored(t *value.Type, n int) int {
	if _, ok := t.FixedLen(); ok || n == 0 {
		return n
	}
	return vint(n) + n
}

// rowShape is what a row's length is made of.
type rowShape struct {
	clustered  bool // the table has clustering columns
	clustering int  // bytes of their values
	timestamp  int
	cells      int
	absent     int // of the columns in the order of their names, the place of the last that is null, from 1; 0: none is
	before     int // length of what is written before the row
}

func (s rowShape) length() int {
	n := rowFlags + s.clustering
	if s.clustered {
		n++ // which of the values are null or empty
	}
	body := s.timestamp + s.cells + (s.absent+6)/7 + vint(s.before)
	return n + vint(body) + body
}

// stamp is the length of the timestamp of row r of a batch.
func (m *measurer) stamp(seq, r int) int {
	at := int64(r)
	if starts := m.profile.starts; seq < len(starts) {
		at += starts[seq]
	}
	return vint(int(at * (1e6 / LoadRate)))
}

// places are where columns stand among all that have values, by their names, from 1.
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
