// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// clusteringColumn returns the position of a column that 'by' names.
func clusteringColumn(t *schema.Table, name string) (int, error) {
	i := slices.IndexFunc(t.Clustering, func(c *schema.Column) bool { return c.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("write_sharding: 'by' names %s, which is not a clustering column of %s.%s", name, t.Keyspace, t.Name)
	}
	return i, nil
}

// newTiming checks that a table can use strategy time, and lists the columns that decide a row's
// shard.
func newTiming(t *schema.Table, l *shard.Layout) (_ *timing, by []int, _ error) {
	name := l.By[0]
	at, err := clusteringColumn(t, name)
	switch {
	case err != nil:
		return nil, nil, err
	case at > 0:
		return nil, nil, fmt.Errorf("write_sharding: 'by' names %s, which is not the first clustering column: rows come in the order of %s, so that every read of a partition "+
			"would have to merge all its buckets; make %s the first clustering column, or use strategy 'calculated'", name, t.Clustering[0].Name, name)
	case len(t.Statics) > 0:
		return nil, nil, fmt.Errorf("write_sharding: strategy 'time' does not support static columns (%s) yet; keep them in a table of their own", t.Statics[0].Name)
	}
	kind := timeKind(t.Clustering[0].Type)
	switch {
	case kind == 0:
		return nil, nil, fmt.Errorf("write_sharding: 'by' names %s, which is %s and tells no time; strategy 'time' needs a column of type timestamp, date or timeuuid", name, t.Clustering[0].Type)
	case kind == timebucket.Date && l.Width%timebucket.Day != 0:
		return nil, nil, fmt.Errorf("write_sharding: 'bucket' is %s, and %s is a date, which has whole days; take whole days, such as 1d", l.Width, name)
	}
	by = []int{0}
	if l.N > 1 {
		for i := 1; i < len(t.Clustering); i++ {
			by = append(by, i)
		}
	}
	return &timing{l.Grid(), kind, t.Clustering[0].Desc, l.N}, by, nil
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
