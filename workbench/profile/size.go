package profile

import "github.com/evenkeel/evenkeel/cql/value"

// Sizes of what Cassandra writes, before compression, in the format of SSTables that
// it has by default (BIG, "nb"; UnfilteredSerializer, ClusteringPrefix.Serializer).

// Rows are taken to be written one by one, each with one timestamp, which is stored
// as the microseconds since the first of the file: five bytes within a few hours.
const (
	timestampBytes = 5
	rowFlags       = 1
	cellFlags      = 1
	// A partition's key has a length of two bytes before it; the time of deletion
	// (twelve bytes) and the mark of the end come on top.
	partitionBytes = 2 + 12 + 1
	shardBytes     = 4
	componentBytes = 3 // of a key of several columns: a length of two bytes, and a zero
)

// vint is the length of a variable-length integer.
func vint(n int) int {
	l := 1
	for n >= 128 && l < 9 {
		n >>= 7
		l++
	}
	return l
}

// stored is the length of a value in a cell or clustering key: types without one
// length have it before them.
func stored(t *value.Type, n int) int {
	if _, ok := t.FixedLen(); ok {
		return n
	}
	return vint(n) + n
}

// rowLen is the length of a row, of these cells and clustering values.
func rowLen(clustering, cells int, nulls bool) int {
	body := timestampBytes + cells
	if nulls {
		body++ // which columns there are
	}
	if clustering > 0 {
		clustering++ // which of its values are null or empty
	}
	n := rowFlags + clustering + vint(body) + body
	return n + vint(n) // the row before is as long, about
}
