// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shard"
)

// These are the errors for features that sharded tables do not support.
var (
	errIndex = wire.Invalidf("write_sharding: CREATE INDEX on a sharded table is not supported yet: what an index finds would come " +
		"in the order of the shards; read by the primary key, or keep a table of your own by the column")
	errView = wire.Invalidf("write_sharding: CREATE MATERIALIZED VIEW on a sharded table is not supported yet: the view would have " +
		"to be sharded too; keep a second table, written in one batch with the first")
	errTrigger = wire.Invalidf("write_sharding: CREATE TRIGGER on a sharded table is not supported: the trigger would be given the " +
		"physical rows, with the hidden column in their key")
	errCompact = wire.Invalidf("write_sharding: a table WITH COMPACT STORAGE cannot be sharded; leave COMPACT STORAGE out")
	errMask    = wire.Invalidf("write_sharding: MASKED WITH is not supported on sharded tables yet: a fan-out would read masked values")
)

// These are the errors for features that tables of strategies time and rollover do not support yet.
var (
	errEpochTimed = wire.Invalidf("write_sharding: 'from', 'rows_from' and 'key' mean nothing under strategy 'time': each key has the same shards in each bucket; " +
		"change 'shards' or 'bucket' of all keys")
	errEpochRolled = wire.Invalidf("write_sharding: 'from', 'rows_from' and 'key' mean nothing under strategy 'rollover': each key gets shards as its own rows fill them; " +
		"change the layout of all keys: 'strategy': 'calculated', 'shards': '…'")
	errStaticTimed = wire.Invalidf("write_sharding: strategy 'time' does not support static columns yet; keep them in a table of their own")

	// On a plain table, TRUNCATE also removes deletions. Under strategy time, a deletion would stay in the
	// directory. If a client then writes a row with an older timestamp, the deletion would hide the row.
	errTruncateTimed = wire.Invalidf("write_sharding: TRUNCATE of a table of strategy 'time' is not supported yet; delete its partitions, or drop the table and create it again")
)

// refuseTruncate returns an error if TRUNCATE of the table is not possible: its strategy is time, or its layout is
// being changed.
func refuseTruncate(v *tables.View, n syntax.Name) error {
	t := v.Tables[n.Keyspace][n.Name]
	switch {
	case t == nil:
		return nil
	case t.Entry.Layout.Strategy == shard.Time:
		return errTruncateTimed
	}
	return underChange(t.Entry, "TRUNCATE")
}
