// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is a sharded table: its schema, as the application sees it, and its layout. It is
// immutable.
//
// It has layers. Each one uses only those that it contains: physical (the table of the store) has
// positions (the order of a scan), which has placement (the shards of keys and rows), which has
// clustering (the order of rows) and timing (the buckets of strategy time).
type Table struct {
	physical
	Change *Change // the change under way; nil: none

	// Adopted is not 0 if the table was sharded by hand, and doors have adopted it. It differs from
	// one adoption of a table to the next.
	Adopted int64

	moves bool // it is one of the two layouts of a change
	dated bool // its cells are read with their times: the table's other layout can have cells of a row in any shard
}

// NewTable joins a logical table and its layout, which must fit (strategy_check.go).
func NewTable(t *schema.Table, l *shard.Layout) (*Table, error) {
	l, err := l.Resolve(KeyColumns(t))
	if err != nil {
		return nil, err
	}
	pt := &Table{}
	pt.placement = placement{clustering: clustering{t}, Layout: l, hides: l.Remains, first: -1}
	if l.Strategy == shard.Time {
		if pt.timing, pt.by, err = newTiming(t, l); err != nil {
			return nil, err
		}
		pt.hashed = len(pt.by)
		return pt, nil
	}
	if l.Strategy == shard.Rollover {
		if err := checkRollover(t); err != nil {
			return nil, err
		}
	}
	if len(l.By) == 0 {
		for i := range t.Clustering {
			pt.by = append(pt.by, i)
		}
	}
	for _, name := range l.By {
		i, err := clusteringColumn(t, name)
		if err != nil {
			return nil, err
		}
		pt.by = append(pt.by, i)
	}
	pt.hashed = len(pt.by)
	if err := checkRowEpochs(t, l.Rows); err != nil {
		return nil, err
	}
	if l.HasRowEpochs() {
		if pt.first = slices.Index(pt.by, 0); pt.first < 0 {
			pt.first, pt.by = pt.hashed, append(pt.by, 0)
		}
	}
	return pt, nil
}

// AppendKey appends a logical partition key, serialized as Cassandra does.
func AppendKey(dst []byte, components [][]byte) []byte {
	if len(components) == 1 {
		return append(dst, components[0]...)
	}
	return partitioner.AppendComposite(dst, components...)
}

// SplitKey is the inverse of AppendKey for a key of n columns.
func SplitKey(key []byte, n int) ([][]byte, error) {
	if n == 1 {
		return [][]byte{key}, nil
	}
	return partitioner.SplitComposite(nil, key, n)
}

var shardType = value.Native(value.Int)
