// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/shard"
)

// alterKey gives one partition key its own number of shards: {'key': '2020-07-10', 'shards': '64'}.
func (c *relayout) alterKey(ctx context.Context) error {
	if c.order != "" {
		return wire.Invalidf("write_sharding: 'change': '%s' is of a table's change, not of one key's", c.order)
	}
	for _, name := range slices.Sorted(maps.Keys(c.declared)) {
		if name != optionKey && name != "shards" {
			return wire.Invalidf("write_sharding: one key has no '%s' of its own; give 'key' and 'shards' alone", name)
		}
	}
	n, err := strconv.Atoi(c.declared["shards"])
	if err != nil {
		return wire.Invalidf("write_sharding: 'shards' is '%s', which is no number", c.declared["shards"])
	}
	key, err := parseKey(c.t.Logical, c.declared[optionKey])
	if err != nil {
		return err
	}
	physical, err := c.Catalog.Schema(ctx, c.entry.Keyspace)
	if err != nil {
		return errCatalog(err)
	}
	if len(c.t.Logical.Statics) > 0 {
		return wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", c.entry, staticColumns)
	}
	if err := c.refuseOldDoors(ctx); err != nil {
		return err
	}
	if _, err := c.Movers.Mover.StartKey(ctx, c.entry, physical.Keyspaces[c.entry.Keyspace], c.t.Physical, key, c.declared[optionKey], n); err != nil {
		return err
	}
	return (&request.Answer{}).Reply(c.req, wire.AppendVoid(nil))
}

// parseKey parses a partition key as people write it, and returns it serialized. A key of several columns has
// commas between the values, and double quotes around a value that contains a comma. A key of one column is the
// value itself.
func parseKey(t *schema.Table, text string) ([]byte, error) {
	parts := []string{text}
	if len(t.PartitionKey) > 1 {
		var err error
		if parts, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil || len(parts) != len(t.PartitionKey) {
			return nil, wire.Invalidf("write_sharding: the key '%s' does not have the %d parts of the table's partition key; write them with commas between", text, len(t.PartitionKey))
		}
	}
	key := make([][]byte, len(parts))
	for i, c := range t.PartitionKey {
		v, err := c.Type.FromString(parts[i])
		if err != nil || len(v) == 0 {
			return nil, wire.Invalidf("write_sharding: the key has '%s' for column %s, which is no %s", parts[i], c.Name, c.Type)
		}
		key[i] = v
	}
	return plan.AppendKey(nil, key), nil
}

// keyRowsFrom returns the layout in which the rows of one key have their own number of shards from a value on. r
// has that number, and from is the serialized value of the first clustering column. No row moves. keyRowsFrom also
// returns a function that checks that the key has no such rows yet.
func (c *unmoved) keyRowsFrom(r shard.Range, from []byte) (*shard.Layout, func(context.Context) error, error) {
	key, err := parseKey(c.t.Logical, c.declared[optionKey])
	if err != nil {
		return nil, nil, err
	}
	spread, column := c.entry.Layout.Spread(key), c.t.Logical.Clustering[0]
	if _, own := c.entry.Layout.Keys.Of(key); !own && c.entry.Layout.Keys.Len() >= shard.MaxKeys {
		return nil, nil, wire.Invalidf("write_sharding: %d keys of the table have numbers of shards of their own, which is as many as there may be", shard.MaxKeys)
	}
	if n := len(spread.Rows); n > 0 && column.Type.Compare(spread.Rows[n-1].From, from) >= 0 {
		return nil, nil, wire.Errorf(wire.CodeConfig, "write_sharding: the key has an epoch of rows from '%s' or later; a new one begins later", c.declared[optionRowsFrom])
	}
	r.Base = spread.Base
	places := spread.Places()
	spread.Rows = append(slices.Clone(spread.Rows), shard.RowEpoch{From: from, Range: r})
	next := *c.entry.Layout
	next.Keys = c.entry.Layout.Keys.With(1, map[string]shard.Spread{string(key): spread})
	return &next, func(ctx context.Context) error {
		where := make([]syntax.Relation, 0, len(c.t.Physical.PartitionKey)+1)
		for _, k := range c.t.Physical.PartitionKey {
			where = append(where, syntax.Relation{Columns: []string{k.Name}, Op: syntax.OpEQ, Value: &syntax.Bind{}})
		}
		where = append(where, syntax.Relation{Columns: []string{column.Name}, Op: syntax.OpGE, Value: &syntax.Bind{}})
		look := syntax.Print(&syntax.Select{From: syntax.Name{Keyspace: c.entry.Keyspace, Name: c.entry.Physical}, Where: where,
			Selectors: []syntax.Selector{{Expr: &syntax.Column{Name: column.Name}}}, Limit: &syntax.Constant{Kind: syntax.ConstInteger, Text: "1"}})
		parts, err := plan.SplitKey(key, len(c.t.Logical.PartitionKey))
		if err != nil {
			return err
		}
		for _, n := range places {
			rows, err := c.Schemas.Session.Query(ctx, wire.Quorum, look, append(slices.Clone(parts), plan.IntValue(n), from)...)
			switch {
			case err != nil:
				return fmt.Errorf("look for rows in the new epoch: %w", err)
			case len(rows) > 0:
				return wire.Invalidf("write_sharding: the key has rows with %s from '%s' on already, which would have to move; choose a greater value", column.Name, c.declared[optionRowsFrom])
			}
		}
		return nil
	}, nil
}
