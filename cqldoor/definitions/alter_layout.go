// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"encoding/json"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// optionChange is the option of write_sharding that gives an order for a change, or asks about one.
const optionChange = "change"

// optionKey is the option that names a partition key, if the change is of this key only.
const optionKey = "key"

// The values of optionChange are these and the orders of package mover (mover.Order).
const (
	changePlan   = "plan"
	changeStatus = "status"
)

// alterLayout executes ALTER TABLE … WITH write_sharding on a sharded table. It does one of these things:
//
//   - It starts a change, which continues after the answer.
//   - It replies with the outlook of a change.
//   - It replies with the status of a change. If the statement has an order for the change, alterLayout first
//     publishes the order.
//
// An outlook or a status is one row with one column, [json].
func (c *change) alterLayout(ctx context.Context, t *tables.Sharded, stmt *syntax.AlterTable) error {
	if len(stmt.With) > 1 {
		return wire.Invalidf("write_sharding: change the layout of a table by itself, and its other options in another statement")
	}
	declared, err := shardingOf(stmt.With)
	if err != nil {
		return err
	}
	order := declared[optionChange]
	delete(declared, optionChange)
	// Another door may have published an entry that this door has not read yet.
	e, err := c.Catalog.Entry(ctx, t.Entry.Keyspace, t.Entry.Table)
	if err != nil {
		return errCatalog(err)
	}
	if order == changeStatus && t.Entry.Change != nil && (e == nil || e.Change == nil) {
		// The change has ended. The client may then send statements that doors refuse during a change.
		// So this door must know of the end before it tells the client.
		if err := c.Schemas.Refresh(ctx); err != nil {
			return err
		}
		if e == nil {
			return c.alterPlain(ctx, stmt)
		}
	}
	if e == nil {
		return wire.Invalidf("table %s does not exist", t.Entry)
	}
	if order != "" && order != changePlan {
		if len(declared) > 0 {
			return wire.Invalidf("write_sharding: 'change': '%s' stands alone", order)
		}
		if order != changeStatus {
			if err := c.Movers.Mover.Give(ctx, e.Keyspace, e.Table, mover.Order(order)); err != nil {
				return err
			}
			if e, err = c.Catalog.Entry(ctx, e.Keyspace, e.Table); err != nil || e == nil {
				return errCatalog(err)
			}
		}
		s, err := c.Movers.Mover.Status(ctx, e)
		if err != nil {
			return err
		}
		c.Movers.adoptions.status(syntax.Name{Keyspace: e.Keyspace, Name: e.Table}, &s, c.req.Username == "")
		return c.json(s)
	}
	return (&relayout{c, e, t, declared, order}).start(ctx)
}

// relayout is an ALTER TABLE that gives a table another layout.
type relayout struct {
	*change
	entry    *catalog.Entry
	t        *tables.Sharded
	declared declaration
	order    string // see optionChange; "": the change starts
}

// start starts a change, or replies with its outlook.
func (c *relayout) start(ctx context.Context) error {
	e, t := c.entry, c.t
	if len(c.declared) == 0 || e.Layout.Plain() && e.Change == nil {
		return c.alterSecond(ctx)
	}
	if c.declared.names(optionKey) {
		return c.alterKey(ctx)
	}
	asked, warnings, err := c.asked()
	if err != nil {
		return err
	}
	if plan.Apart(e.Layout, asked) {
		return c.toSecond(ctx, asked, warnings)
	}
	physical, err := c.Catalog.Schema(ctx, e.Keyspace)
	if err != nil {
		return errCatalog(err)
	}
	ks := physical.Keyspaces[e.Keyspace]
	if c.order == changePlan {
		o, err := c.Movers.Mover.Outlook(ctx, e, ks, t.Physical, asked)
		if err != nil {
			return err
		}
		if len(t.Logical.Statics) > 0 {
			o.Refused = append(o.Refused, staticColumns)
		}
		return c.json(o)
	}
	if len(t.Logical.Statics) > 0 {
		return wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", e, staticColumns)
	}
	if err := c.refuseOldDoors(ctx); err != nil {
		return err
	}
	if _, err := c.Movers.Mover.Start(ctx, e, ks, t.Physical, asked); err != nil {
		return err
	}
	return (&request.Answer{Warnings: warnings}).Reply(c.req, wire.AppendVoid(nil))
}

// staticColumns is the reason why a table with static columns keeps its layout. The reason holds until it is shown
// that reads and writes of static columns are right during a change.
const staticColumns = "the table has static columns, which doors do not move yet"

// refuseOldDoors returns an error if a door runs a release that cannot take part in a change of layout.
func (c *change) refuseOldDoors(ctx context.Context) error {
	if c.Doors.Member == nil {
		return nil
	}
	if err := c.Doors.Member.Knows(ctx, reshard.Steps()...); err != nil {
		return wire.Invalidf("write_sharding: %s", err)
	}
	return nil
}

// asked returns the layout that the client asks for, and warnings. Options that the client does not declare stay
// unchanged. If the strategy changes, only the hidden column stays, because the other options have another meaning
// under another strategy.
func (c *relayout) asked() (*shard.Layout, []string, error) {
	said := c.entry.Layout.Options()
	if c.entry.Layout.Strategy == shard.Rollover && c.declared.names("shards") && !c.declared.names("strategy") {
		return nil, nil, wire.Errorf(wire.CodeConfig, "write_sharding: 'shards' means nothing under strategy 'rollover', which the table has; to give its keys shards by a hash, use "+
			"ALTER TABLE … WITH write_sharding = {'strategy': 'calculated', 'shards': '%s'}", c.declared["shards"])
	}
	if c.declared.names("strategy") && c.declared["strategy"] != said["strategy"] {
		said = map[string]string{"column": said["column"]}
	}
	delete(said, "base") // the change chooses the base
	for k, v := range c.declared {
		if k == "base" {
			return nil, nil, wire.Invalidf("write_sharding: the base of a changed layout is chosen so that no place is used twice; leave 'base' out")
		}
		said[k] = v
	}
	return declaration(said).layout(c.t.Logical)
}

// json replies with one row that holds v as JSON.
func (c *change) json(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out wire.RowsWriter
	out.Begin(nil, wire.EncodeColumns(c.req.Version, []wire.Column{{Keyspace: c.keyspace, Table: "write_sharding", Name: "[json]", Type: value.Native(value.Text)}}))
	out.Cell(text)
	out.EndRow()
	return (&request.Answer{}).Reply(c.req, out.Finish())
}

// underChange returns an error if the layout of a table is being changed. what names the refused action.
func underChange(e *catalog.Entry, what string) error {
	if e.Change == nil {
		return nil
	}
	return wire.Invalidf("write_sharding: %s is not possible while the layout of table %s is being changed (%s); wait until that is over, or take it back: "+
		"ALTER TABLE … WITH write_sharding = {'change': 'rollback'}", what, e, e.Change.Step)
}
