// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// shardPlain executes an ALTER TABLE … WITH write_sharding on a plain table. If there is no such table, it returns
// Cassandra's error, or does nothing if the statement has IF EXISTS.
func (c *change) shardPlain(ctx context.Context, stmt *syntax.AlterTable) error {
	there := c.View.Load().Names.Has(c.keyspace, stmt.Name.Name)
	switch {
	case there:
		return c.alterPlain(ctx, stmt)
	case stmt.IfExists:
		c.void()
		return nil
	}
	return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, stmt.Name.Name)
}

// alterTable executes an ALTER TABLE. On a sharded table, it changes columns, options or the layout. It passes a
// statement on a plain table on, unless the statement has write_sharding.
func (c *change) alterTable(ctx context.Context, stmt *syntax.AlterTable) error {
	t := c.View.Load().Tables[c.keyspace][stmt.Name.Name]
	if t == nil && tables.Declares(stmt.With) {
		return c.shardPlain(ctx, stmt)
	}
	if t == nil {
		return c.other(ctx)
	}
	if err := c.mayAlter(ctx, t); err != nil {
		return err
	}
	if declared, err := shardingIn(stmt.With); err != nil || declared.names(optionAdopt) {
		if err != nil {
			return err
		}
		return (&adopting{c, stmt.Name.Name, t, declared}).adopt(ctx, stmt)
	}
	if err := refuseLayout(stmt, t.Entry.Layout); err != nil {
		return err
	}
	if len(stmt.With) == 1 && stmt.With[0].Name == catalog.Property {
		declared, err := shardingOf(stmt.With)
		if err != nil {
			return err
		}
		if done, err := c.alterStill(ctx, t, declared); done || err != nil {
			return err
		}
	}
	physical := *stmt
	physical.Name = syntax.Name{Keyspace: c.keyspace, Name: t.Entry.Physical}
	if tables.Declares(stmt.With) {
		return c.alterLayout(ctx, t, stmt)
	}
	if err := refuseChange(stmt, t.Entry.Layout); err != nil {
		return err
	}
	if len(stmt.With) == 0 || t.Entry.Second != nil {
		if err := underChange(t.Entry, "altering it"); err != nil {
			return err
		}
	}
	if len(stmt.With) == 0 {
		result, err := ddl.Apply(c.State.Load().Schema, stmt, c.env())
		if err != nil {
			return err
		}
		if result.Change == nil {
			c.void()
			return nil
		}
		physical.Drop = without(physical.Drop, t.Entry.Layout.Column) // DROP IF EXISTS of a column that does not exist
	}
	a, err := c.physical(ctx, &physical, t.Entry.Layout.Column)
	if err != nil {
		return c.View.Load().LogicalError(err)
	}
	a.Body = logicalResult(a.Body, t.Entry.Physical, t.Entry.Table)
	return c.finish(ctx, a)
}

func without(names []string, name string) []string {
	var out []string
	for _, n := range names {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}
