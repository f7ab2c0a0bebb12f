// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// createTable creates a sharded table if the statement or a shard rule declares one. Otherwise it passes the
// statement on.
func (c *change) createTable(ctx context.Context, stmt *syntax.CreateTable) error {
	if c.View.Load().Renamed(stmt.Name, c.keyspace) {
		return c.taken(ctx, stmt.Name.Name, stmt.IfNotExists)
	}
	ruling, err := c.Rules.of(ctx, c.keyspace, stmt)
	if err != nil {
		return err
	}
	stmt = ruling.stmt
	if !tables.Declares(stmt.With) {
		return c.other(ctx)
	}
	if err := c.mayCreate(ctx, stmt.Name.Name); err != nil {
		return err
	}
	declared, err := shardingOf(stmt.With)
	if err != nil {
		return err
	}
	if declared.names(optionAdopt) {
		return wire.Errorf(wire.CodeConfig, "write_sharding: 'adopt' is for a table that exists and was sharded by hand: ALTER TABLE … WITH write_sharding = {'adopt': …}; "+
			"in CREATE TABLE, leave the shard column out, and give 'column' if its name matters")
	}
	s, err := c.Catalog.Schema(ctx, c.keyspace)
	if err != nil {
		return err
	}
	// The store checks the other options.
	logical := *stmt
	logical.With = nil
	unfit := refuseFeatures(stmt)
	if unfit != nil && ruling.name == "" {
		return unfit
	}
	result, err := ddl.Apply(s, &logical, c.env())
	if err != nil {
		return err
	}
	if result.Change == nil {
		c.void() // the statement has IF NOT EXISTS, and the table exists
		return nil
	}
	if unfit != nil {
		return ruling.refuse(unfit)
	}
	table := result.Schema.Table(c.keyspace, stmt.Name.Name)
	layout, warnings, err := declared.layout(table)
	if err != nil {
		return ruling.refuse(err)
	}
	if err := buckets.CheckDefaultTTL(stmt.With, layout); err != nil {
		return ruling.refuse(err)
	}
	if layout.Keep > 0 {
		now, err := buckets.EarlierTime(ctx, c.Schemas.Session, c.Opts.Now)
		if err != nil {
			return wire.Errorf(wire.CodeServer, "evenkeel: write_sharding: which rows are older than 'keep' is not known: %s", err)
		}
		layout.Floor = buckets.FloorOf(layout, now) // else doors would accept older rows, and the keeper would drop them
	}
	warnings = append(append(ruling.warnings(), warnings...), advice(buckets.TTLOf(stmt.With), table, layout)...)
	e := &catalog.Entry{
		Keyspace: c.keyspace, Table: stmt.Name.Name, Physical: stmt.Name.Name, Layout: layout, Statement: syntax.Print(stmt), Rule: ruling.label,
	}
	var a *request.Answer
	var refusal error
	_, err = c.Catalog.Create(ctx, e, s.Keyspaces[c.keyspace], func(ctx context.Context) error {
		// From now on, doors know that the table is being created, and do not show it. An earlier plain
		// table of that name does not exist any more, but other doors may still know it.
		if err := c.Schemas.Refresh(ctx); err != nil {
			c.Opts.Log.Warn("the schema cannot be read before a change", "error", err)
		}
		c.Doors.WaitForDoors(ctx)
		a, refusal = c.physical(ctx, physicalTable(stmt, table, layout), layout.Column)
		return refusal
	})
	exists := &wire.Error{Code: wire.CodeAlreadyExists}
	switch {
	case errors.Is(err, catalog.ErrExists) || errors.Is(err, exists):
		return c.exists(stmt.Name.Name, stmt.IfNotExists)
	case refusal != nil:
		return refusal
	case err != nil:
		return errCatalog(err)
	}
	a.Warnings = append(a.Warnings, warnings...)
	ruling.log(c.Opts.Log, e)
	return c.finish(ctx, a)
}

// taken answers a statement that would create a table or view with the name of an existing table whose physical
// table has another name. The store does not know that the name is taken, and would create the table or view.
func (c *change) taken(ctx context.Context, table string, ifNotExists bool) error {
	if err := c.mayCreate(ctx, table); err != nil {
		return err
	}
	return c.exists(table, ifNotExists)
}

// exists answers a statement that would create a table that exists. It returns an error, unless the statement has
// IF NOT EXISTS.
func (c *change) exists(table string, ifNotExists bool) error {
	if ifNotExists {
		c.void()
		return nil
	}
	return &wire.Error{Code: wire.CodeAlreadyExists, Keyspace: c.keyspace, Table: table,
		Message: "Table '" + c.keyspace + "." + table + "' already exists"}
}
