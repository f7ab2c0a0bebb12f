// SPDX-License-Identifier: Apache-2.0

package live

import (
	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/value"
)

// cell takes a serialized value of any type from the driver. It points into the response and is
// valid until the next row.
type cell struct{ data []byte }

// UnmarshalCQL implements gocql.Unmarshaler.
func (c *cell) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	c.data = data
	return nil
}

// destinations returns what the driver scans a row of these columns into. The driver splits a
// tuple, so a tuple has one destination for each of its elements.
func destinations(columns []gocql.ColumnInfo) ([]cell, []any) {
	n := 0
	for _, c := range columns {
		n += parts(c)
	}
	cells := make([]cell, n)
	dest := make([]any, n)
	for i := range cells {
		dest[i] = &cells[i]
	}
	return cells, dest
}

func parts(c gocql.ColumnInfo) int {
	if t, ok := c.TypeInfo.(gocql.TupleTypeInfo); ok {
		return len(t.Elems)
	}
	return 1
}

// gather passes each column's value to put, and joins tuples again. (A tuple whose elements are all
// null looks like null.)
func gather(columns []gocql.ColumnInfo, cells []cell, put func(i int, v []byte)) {
	at := 0
	for i, c := range columns {
		t, tuple := c.TypeInfo.(gocql.TupleTypeInfo)
		if !tuple {
			put(i, cells[at].data)
			at++
			continue
		}
		var whole []byte
		some := false
		for range t.Elems {
			some = some || cells[at].data != nil
			whole = value.AppendPart(whole, cells[at].data)
			at++
		}
		if !some {
			whole = nil
		}
		put(i, whole)
	}
}
