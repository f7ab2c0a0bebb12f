// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// ErrExists says that the table, or another one of its name, exists already.
var ErrExists = errors.New("the table exists already")

// settled is how long every node of the backend has to learn of a schema change. A node that is
// down keeps the others from agreeing.
const settled = 5 * time.Second

// Create creates a sharded table. e has the names, the layout and the statement. like is the
// table's keyspace. physical executes the physical CREATE TABLE, without IF NOT EXISTS.
//
// If physical returns an error that means that nothing was done, Create returns the error and
// leaves nothing behind. After any other error the table may or may not exist; Settle completes
// or undoes the operation.
func (c *Catalog) Create(ctx context.Context, e *Entry, like *schema.Keyspace, physical func(context.Context) error) (*schema.Table, error) {
	if err := c.tables.ensureLayouts(ctx, like); err != nil {
		return nil, err
	}
	if e.Layout.Strategy == shard.Time {
		if err := c.tables.ensureBuckets(ctx); err != nil {
			return nil, err
		}
	}
	if e.Layout.Strategy == shard.Rollover {
		if err := c.tables.ensureRollovers(ctx); err != nil {
			return nil, err
		}
	}
	e = c.own(e.in(registry.Creating))
	if err := c.begin(ctx, e); err != nil {
		return nil, err
	}
	if err := physical(ctx); err != nil {
		if definite(err) {
			if _, err := c.layouts.remove(ctx, e); err != nil {
				c.opts.Log.Warn("an entry of the catalogue is left behind, for a while", "table", e.String(), "error", err)
			}
		}
		return nil, err
	}
	t, err := c.find(ctx, e)
	if err != nil {
		return nil, err
	}
	return t, c.activate(ctx, e, t)
}

// begin adds e to the catalogue. It waits for another operation on the same table, and ends one
// that has used up its time.
func (c *Catalog) begin(ctx context.Context, e *Entry) error {
	for {
		if ok, err := c.layouts.insert(ctx, e); ok || err != nil {
			return err
		}
		old, err := c.layouts.get(ctx, e.Keyspace, e.Table)
		if err != nil {
			return err
		}
		if old == nil {
			continue // it has just been removed
		}
		if old.Owner == e.Owner {
			return nil // our own insertion, which had looked like a failure
		}
		t, err := c.table(ctx, old)
		if err != nil {
			return err
		}
		is := c.judge(old, t)
		gone := t == nil && old.State == registry.Dropping
		if t == nil && old.State == registry.Active && c.Agree(ctx) {
			// If the table does not exist, somebody has dropped it without a door.
			if t, err = c.table(ctx, old); err != nil {
				return err
			}
			is, gone = c.judge(old, t), t == nil
		}
		switch {
		case is.Applies && old.State != registry.Dropping:
			return errors.Join(ErrExists, c.write(ctx, old, t, is.Write))
		case is.Write == registry.Activate: // a DROP that did not take place
			if err := c.write(ctx, old, t, is.Write); err != nil {
				return err
			}
		case t != nil && !is.Applies:
			return ErrExists // it exists as a plain table
		case gone || c.expired(old):
			n := *e.Layout
			n.Generation = old.Layout.Generation + 1
			e.Layout = &n
			if ok, err := c.layouts.replace(ctx, old, e); ok || err != nil {
				return err
			}
		default:
			if err := c.nodes.pause(ctx); err != nil {
				return fmt.Errorf("wait for another operation on %s: %w", e, err)
			}
		}
	}
}

// table reads the physical table of an entry. It returns nil if there is none.
func (c *Catalog) table(ctx context.Context, e *Entry) (*schema.Table, error) {
	return readTable(ctx, c.opts.Session, e.Keyspace, e.Physical)
}

// find waits until the node that it asks knows the physical table.
func (c *Catalog) find(ctx context.Context, e *Entry) (t *schema.Table, err error) {
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err = c.nodes.wait(ctx, func() (bool, error) {
		t, err = c.table(ctx, e)
		return t != nil, err
	})
	return t, wrap(fmt.Sprintf("look for the table %s that was created", e), err)
}

// activate notes in the catalogue that the physical table exists.
func (c *Catalog) activate(ctx context.Context, e *Entry, t *schema.Table) error {
	if _, fits := Logical(t, e.Layout); !fits {
		return fmt.Errorf("the table %s that was created is not the one that is there", e)
	}
	for {
		if ok, err := c.layouts.replace(ctx, e, e.active(t)); ok || err != nil {
			return err
		}
		now, err := c.layouts.get(ctx, e.Keyspace, e.Table)
		switch {
		case err != nil:
			return err
		case now != nil && now.State == registry.Active && now.ID == t.ID:
			return nil // another door has done it
		case now == nil:
			// Another door has taken the operation for dead. But the table exists.
			if ok, err := c.layouts.insert(ctx, e.active(t)); err != nil {
				return err
			} else if ok {
				return c.reread(ctx)
			}
		}
		// Another operation on the name has begun. It will find that the name is taken.
		if err := c.nodes.pause(ctx); err != nil {
			return fmt.Errorf("wait for another operation on %s: %w", e, err)
		}
	}
}

// reread changes the version of the store's schema, so that every door reads the catalogue again,
// and waits for the doors. While the entry was missing, a door may have read the catalogue and the
// table. For that door the table is a plain one, and the entry's return does not change the
// version by itself.
func (c *Catalog) reread(ctx context.Context) error {
	owner := c.opts.UUID() // the same text twice would change nothing
	if _, err := c.opts.Session.Query(ctx, wire.LocalQuorum, fmt.Sprintf("ALTER TABLE evenkeel.layouts WITH comment = 'changed by %x'", owner)); err != nil {
		return wrap("have the other doors read the catalogue again", err)
	}
	c.Agree(ctx)
	if c.opts.Wait != nil {
		c.opts.Wait(ctx)
	}
	return nil
}

// active returns the entry with its physical table.
func (e *Entry) active(t *schema.Table) *Entry {
	n := e.in(registry.Active)
	if n.Own != ([16]byte{}) {
		n.Own = t.ID
	} else {
		n.ID = t.ID
	}
	return n
}
