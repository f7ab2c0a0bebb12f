// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// ErrGone says that the table has been dropped already.
var ErrGone = errors.New("the table is gone already")

// Drop drops a sharded table. physical executes the physical DROP TABLE. If physical returns an
// error that means that nothing was done, Drop returns the error and changes nothing.
func (c *Catalog) Drop(ctx context.Context, e *Entry, physical func(context.Context) error) error {
	e, err := c.beginDrop(ctx, e)
	if err != nil {
		return err
	}
	if err := physical(ctx); err != nil {
		if definite(err) {
			c.undo(ctx, e)
		}
		return err
	}
	if e.Layout.Strategy == shard.Rollover {
		if err := NewRollovers(c.opts.Session, [16]byte{}).Forget(ctx, e.PhysicalID()); err != nil {
			c.opts.Log.Warn("the directory of a dropped table is left behind", "table", e.String(), "error", err)
		}
	}
	return c.layouts.removeID(ctx, e)
}

// beginDrop sets the entry's state to Dropping.
func (c *Catalog) beginDrop(ctx context.Context, e *Entry) (*Entry, error) {
	for {
		next := c.own(e.in(registry.Dropping))
		if ok, err := c.layouts.replace(ctx, e, next); ok || err != nil {
			return next, err
		}
		now, err := c.layouts.get(ctx, e.Keyspace, e.Table)
		switch {
		case err != nil:
			return nil, err
		case now == nil || now.ID != e.ID && now.ID != [16]byte{}:
			return nil, ErrGone
		case now.Owner == next.Owner:
			return next, nil
		case now.State == registry.Active || c.expired(now):
		default:
			if err := c.nodes.pause(ctx); err != nil {
				return nil, fmt.Errorf("wait for another operation on %s: %w", e, err)
			}
		}
		e = now
	}
}

// undo ends a DROP that the store refused, because the table did not exist or for another reason.
func (c *Catalog) undo(ctx context.Context, e *Entry) {
	t, err := c.table(ctx, e)
	if err == nil {
		if t != nil && t.ID == e.PhysicalID() {
			_, err = c.layouts.replace(ctx, e, e.in(registry.Active))
		} else {
			_, err = c.layouts.remove(ctx, e)
		}
	}
	if err != nil {
		c.opts.Log.Warn("the catalogue shows a refused DROP as under way for a while", "table", e.String(), "error", err)
	}
}

// Forget removes the entries of physical tables that certainly no longer exist, because their
// keyspace was dropped.
func (c *Catalog) Forget(ctx context.Context, entries []*Entry) error {
	for _, e := range entries {
		if err := c.layouts.removeID(ctx, e); err != nil {
			return err
		}
	}
	return nil
}
