// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
)

// clusteringColumn returns the position of a column that 'by' names.
func clusteringColumn(t *schema.Table, name string) (int, error) {
	i := slices.IndexFunc(t.Clustering, func(c *schema.Column) bool { return c.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("write_sharding: 'by' names %s, which is not a clustering column of %s.%s", name, t.Keyspace, t.Name)
	}
	return i, nil
}

// checkRollover returns an error if the table cannot have shards that are opened one after another.
func checkRollover(t *schema.Table) error {
	if t.Counter {
		return fmt.Errorf("write_sharding: strategy 'rollover' does not support counters: each increment would count as a row, and fill shards that hold few rows; use strategy 'random'")
	}
	return nil
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
