// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// dropTable drops a sharded table. It passes a statement on a plain table on.
func (c *change) dropTable(ctx context.Context, stmt *syntax.Drop) error {
	t := c.View.Load().Tables[c.keyspace][stmt.Name.Name]
	if t == nil {
		return c.other(ctx)
	}
	if t.Entry.Second != nil {
		if err := underChange(t.Entry, "DROP"); err != nil {
			return err
		}
		return wire.Invalidf("write_sharding: DROP is not possible yet: a table that the last change of the layout of %s has left is being dropped; wait until that is over", t.Entry)
	}
	physical := *stmt
	physical.Name = syntax.Name{Keyspace: c.keyspace, Name: t.Entry.Physical}
	var a *request.Answer
	var refusal error
	err := c.Catalog.Drop(ctx, t.Entry, func(ctx context.Context) error {
		if a, refusal = c.physical(ctx, &physical, t.Entry.Layout.Column); refusal == nil {
			c.Catalog.Agree(ctx) // the entry stays until all nodes have dropped the table
		}
		return refusal
	})
	switch {
	case refusal != nil:
		return refusal
	case errors.Is(err, catalog.ErrGone) && stmt.IfExists:
		c.void()
		return nil
	case errors.Is(err, catalog.ErrGone):
		return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, stmt.Name.Name)
	case err != nil:
		return errCatalog(err)
	}
	a.Body = logicalResult(a.Body, t.Entry.Physical, t.Entry.Table)
	c.Doors.WaitForDoors(ctx)
	return c.finish(ctx, a)
}

// dropKeyspace drops a keyspace and the entries of its tables.
func (c *change) dropKeyspace(ctx context.Context, stmt *syntax.Drop) error {
	a, err := c.physical(ctx, stmt, "")
	if err != nil {
		return err
	}
	// The catalogue may have entries that this door has not read yet.
	entries, _, err := c.Catalog.Load(ctx)
	c.Catalog.Agree(ctx)
	if err == nil {
		gone := slices.DeleteFunc(entries, func(e *catalog.Entry) bool { return e.Keyspace != stmt.Name.Name })
		err = c.Catalog.Forget(ctx, gone)
	}
	if err != nil {
		c.Opts.Log.Warn("entries of a keyspace that was dropped stay in the catalogue", "keyspace", stmt.Name.Name, "error", err)
	}
	c.Doors.WaitForDoors(ctx)
	return c.finish(ctx, a)
}
