// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
)

// ErrGone says that the table to be dropped was dropped already.
var ErrGone = errors.New("the table is gone already")

// Drop drops a sharded table: physical carries out the physical DROP TABLE. An
// error of physical that says that nothing was done is returned as it is, with
// nothing changed.
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
	return c.removeID(ctx, e)
}

// beginDrop brings the entry to Dropping.
func (c *Catalog) beginDrop(ctx context.Context, e *Entry) (*Entry, error) {
	for {
		next := c.own(e.in(Dropping))
		if ok, err := c.replace(ctx, e, next); ok || err != nil {
			return next, err
		}
		now, err := c.get(ctx, e.Keyspace, e.Table)
		switch {
		case err != nil:
			return nil, err
		case now == nil || now.ID != e.ID && now.ID != [16]byte{}:
			return nil, ErrGone
		case now.Owner == next.Owner:
			return next, nil
		case now.State == Active || c.expired(now):
		default:
			if err := c.pause(ctx); err != nil {
				return nil, fmt.Errorf("wait for another operation on %s: %w", e, err)
			}
		}
		e = now
	}
}

// undo ends a DROP that was refused: because the table was gone, or not.
func (c *Catalog) undo(ctx context.Context, e *Entry) {
	t, err := c.table(ctx, e)
	if err == nil {
		if t != nil && t.ID == e.ID {
			_, err = c.replace(ctx, e, e.in(Active))
		} else {
			_, err = c.remove(ctx, e)
		}
	}
	if err != nil {
		c.opts.Log.Warn("a DROP that was refused is not undone in the catalogue, for a while", "table", e.String(), "error", err)
	}
}

// Forget removes the entries of physical tables that are gone for certain: of a
// keyspace that was dropped.
func (c *Catalog) Forget(ctx context.Context, entries []*Entry) error {
	for _, e := range entries {
		if err := c.removeID(ctx, e); err != nil {
			return err
		}
	}
	return nil
}
