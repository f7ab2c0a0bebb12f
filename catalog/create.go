// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// ErrExists says that the table to be created exists, or another that has its name.
var ErrExists = errors.New("the table exists already")

// settled is how long every node of the backend is given to know of a change of
// the schema. A node that is down keeps the others from agreeing.
const settled = 5 * time.Second

// Create makes a sharded table. e has the names, the layout and the statement;
// like is the keyspace it is in; physical carries out the physical CREATE TABLE,
// without IF NOT EXISTS.
//
// An error of physical that says that nothing was done is returned as it is, with
// nothing left behind. After any other error the table may come to be or not:
// what is left is completed or undone by Settle.
func (c *Catalog) Create(ctx context.Context, e *Entry, like *schema.Keyspace, physical func(context.Context) error) (*schema.Table, error) {
	if err := c.ensure(ctx, like); err != nil {
		return nil, err
	}
	if e.Layout.Strategy == shard.Time {
		if err := c.ensureBuckets(ctx); err != nil {
			return nil, err
		}
	}
	e = c.own(e.in(Creating))
	if err := c.begin(ctx, e); err != nil {
		return nil, err
	}
	if err := physical(ctx); err != nil {
		if definite(err) {
			if _, err := c.remove(ctx, e); err != nil {
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

// begin brings e into the catalogue: it waits for another operation on the same
// table, and ends one that has had its time.
func (c *Catalog) begin(ctx context.Context, e *Entry) error {
	for {
		if ok, err := c.insert(ctx, e); ok || err != nil {
			return err
		}
		old, err := c.get(ctx, e.Keyspace, e.Table)
		if err != nil {
			return err
		}
		if old == nil {
			continue // it has just gone
		}
		if old.Owner == e.Owner {
			return nil // an insertion of ours that looked as if it had failed
		}
		t, err := c.table(ctx, old)
		if err != nil {
			return err
		}
		is := c.judge(old, t)
		if t == nil && old.State == Active && c.Agree(ctx) {
			// The table was dropped behind the doors, if it is not there now.
			if t, err = c.table(ctx, old); err != nil {
				return err
			}
			is = c.judge(old, t)
			is.complete = t == nil
		}
		switch {
		case is.applies && old.State != Dropping:
			if old.State == Creating {
				_, err = c.replace(ctx, old, old.active(t))
			}
			return errors.Join(ErrExists, err)
		case is.applies && c.expired(old): // a DROP that did not take place
			if _, err := c.replace(ctx, old, old.active(t)); err != nil {
				return err
			}
		case t != nil && !is.applies:
			return ErrExists // a table that is not sharded
		case is.complete || c.expired(old):
			n := *e.Layout
			n.Generation = old.Layout.Generation + 1
			e.Layout = &n
			if ok, err := c.replace(ctx, old, e); ok || err != nil {
				return err
			}
		default:
			if err := c.pause(ctx); err != nil {
				return fmt.Errorf("wait for another operation on %s: %w", e, err)
			}
		}
	}
}

// table reads the physical table of an entry, nil where there is none.
func (c *Catalog) table(ctx context.Context, e *Entry) (*schema.Table, error) {
	s, err := c.Schema(ctx, e.Keyspace)
	if err != nil {
		return nil, err
	}
	return s.Table(e.Keyspace, e.Physical), nil
}

// find waits until the node that is asked knows the physical table.
func (c *Catalog) find(ctx context.Context, e *Entry) (t *schema.Table, err error) {
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err = c.wait(ctx, func() (bool, error) {
		t, err = c.table(ctx, e)
		return t != nil, err
	})
	return t, wrap(fmt.Sprintf("look for the table %s that was created", e), err)
}

// activate says that the physical table is there.
func (c *Catalog) activate(ctx context.Context, e *Entry, t *schema.Table) error {
	if _, fits := Logical(t, e.Layout); !fits {
		return fmt.Errorf("the table %s that was created is not the one that is there", e)
	}
	for {
		if ok, err := c.replace(ctx, e, e.active(t)); ok || err != nil {
			return err
		}
		now, err := c.get(ctx, e.Keyspace, e.Table)
		switch {
		case err != nil:
			return err
		case now != nil && now.State == Active && now.ID == t.ID:
			return nil // another door has done it
		case now == nil:
			// Others took the operation for dead. The table is there nevertheless.
			if ok, err := c.insert(ctx, e.active(t)); ok || err != nil {
				return err
			}
		}
		// Another operation on the name has begun, and will find that it is taken.
		if err := c.pause(ctx); err != nil {
			return fmt.Errorf("wait for another operation on %s: %w", e, err)
		}
	}
}

// active is the entry with its physical table.
func (e *Entry) active(t *schema.Table) *Entry {
	n := e.in(Active)
	n.ID = t.ID
	return n
}
