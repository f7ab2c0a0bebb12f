// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is a sharded table: its schema, as the application sees it, and its layout. It is
// immutable.
type Table struct {
	placement
	Change *Change // the change under way; nil: none

	// Adopted is not 0 if the table was sharded by hand, and doors have adopted it. It differs from
	// one adoption of a table to the next.
	Adopted int64

	physical   string   // the physical table's name; "": the logical one's
	physicalID [16]byte // the physical table's id; zero: the logical one's
	moves      bool     // it is one of the two layouts of a change
}

// NewTable joins a logical table and its layout, which must fit (see Check).
func NewTable(t *schema.Table, l *shard.Layout) (*Table, error) {
	l, err := l.Resolve(KeyColumns(t))
	if err != nil {
		return nil, err
	}
	pt := &Table{placement: placement{Table: t, Layout: l, hides: l.Remains, first: -1}}
	if l.Strategy == shard.Time {
		if pt.timing, pt.by, err = newTiming(t, l); err != nil {
			return nil, err
		}
		pt.hashed = len(pt.by)
		return pt, nil
	}
	if l.Strategy == shard.Rollover && t.Counter {
		return nil, fmt.Errorf("write_sharding: strategy 'rollover' does not support counters: each increment would count as a row, and fill shards that hold few rows; use strategy 'random'")
	}
	if len(l.By) == 0 {
		for i := range t.Clustering {
			pt.by = append(pt.by, i)
		}
	}
	for _, name := range l.By {
		i := slices.IndexFunc(t.Clustering, func(c *schema.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("write_sharding: 'by' names %s, which is not a clustering column of %s.%s", name, t.Keyspace, t.Name)
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

// checkRowEpochs returns an error if the table's rows cannot have these epochs.
func checkRowEpochs(t *schema.Table, epochs []shard.RowEpoch) error {
	if len(epochs) > 0 && len(t.Clustering) == 0 {
		return fmt.Errorf("write_sharding: %s.%s has no clustering column that epochs of rows could be told by", t.Keyspace, t.Name)
	}
	for i, e := range epochs {
		c := t.Clustering[0]
		if c.Type.Validate(e.From) != nil || len(e.From) == 0 {
			return fmt.Errorf("write_sharding: an epoch of rows begins at 0x%x, which is no %s, the type of the first clustering column, %s", e.From, c.Type, c.Name)
		}
		if i > 0 && c.Type.Compare(epochs[i-1].From, e.From) >= 0 {
			return fmt.Errorf("write_sharding: epochs of rows must be in the order of column %s, each once", c.Name)
		}
	}
	return nil
}

// KeyColumns returns a table's partition-key columns in the form that epochs of keys need.
func KeyColumns(t *schema.Table) []shard.KeyColumn {
	out := make([]shard.KeyColumn, len(t.PartitionKey))
	for i, c := range t.PartitionKey {
		out[i].Name = c.Name
		out[i].Kind = timeKind(c.Type)
	}
	return out
}

// timeKind returns how the values of a type express time. 0: they do not.
func timeKind(t *value.Type) shard.TimeKind {
	switch t.Kind {
	case value.Date:
		return shard.Date
	case value.Timestamp:
		return shard.Timestamp
	case value.Timeuuid:
		return shard.Timeuuid
	}
	return 0
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
