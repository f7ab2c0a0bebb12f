// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/registry"
)

// Enter writes the entry of an existing table, for the first time or again, and puts it to use.
func (r *Registry) Enter(ctx context.Context, e catalog.Entry, physical *schema.Table) (*Entry, error) {
	defer r.Define()()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	now, err := r.Physical(ctx, physical.Name)
	switch {
	case err != nil:
		return nil, err
	case now == nil || now.ID != physical.ID:
		return nil, NotThere(physical.Name)
	}
	if e.Affix != nil { // a client may have created an index meanwhile
		if _, err := (&plan.Adoption{Layout: e.Layout, Affix: e.Affix}).Table(now); err != nil {
			return nil, err
		}
	}
	write := r.catalog.Change
	if e.State == "" {
		write = r.catalog.Adopt
	}
	ctx = context.WithoutCancel(ctx) // the door must know what it has written, even if the client has gone
	written, err := write(ctx, e)
	switch {
	case errors.Is(err, catalog.ErrExists), errors.Is(err, catalog.ErrChanged):
		return nil, BeingChanged(e.Table)
	case err != nil:
		return nil, DoorError(err)
	}
	r.plain.forget(e.Table)
	r.schemas.Delete(e.Table)
	if written.Change != nil { // a door that did not know of it may have deleted the table meanwhile
		if now, err = r.Physical(ctx, physical.Name); err != nil {
			return nil, DoorError(err)
		}
		if abandoned(written, now) {
			return nil, errors.Join(r.forget(ctx, written), NotThere(e.Table))
		}
	}
	in := r.open(written, now, r.Entry(e.Table))
	r.publish(func(tables map[string]*Entry) { tables[e.Table] = in })
	return in, in.Wrong
}

// Advance writes a changed entry, unless another request has changed it, and puts it to use.
func (r *Registry) Advance(ctx context.Context, e *Entry, change func(*catalog.Entry) error) (*Entry, error) {
	defer r.Define()()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	next := *e.Entry
	if err := change(Copied(&next)); err != nil {
		return nil, DoorError(err)
	}
	t, err := r.Physical(ctx, next.Physical)
	if err != nil {
		return nil, DoorError(err)
	}
	ctx = context.WithoutCancel(ctx)
	n, err := r.catalog.Change(ctx, next)
	switch {
	case errors.Is(err, catalog.ErrChanged):
		return nil, BeingChanged(e.Table)
	case err != nil:
		return nil, DoorError(err)
	}
	if abandoned(n, t) {
		r.publish(func(tables map[string]*Entry) { delete(tables, n.Table) })
		return nil, errors.Join(r.forget(ctx, n), NotThere(e.Table))
	}
	in := r.open(n, t, r.Entry(n.Table))
	r.publish(func(tables map[string]*Entry) { tables[in.Table] = in })
	return in, in.Wrong
}

// Copied gives an entry its own copies of the parts that it shares with another, so that the caller
// can change it.
func Copied(e *catalog.Entry) *catalog.Entry {
	layout := *e.Layout
	e.Layout = &layout
	if e.Change != nil {
		c := *e.Change
		e.Change = &c
	}
	return e
}

// Leave makes an adopted table a plain one again.
func (r *Registry) Leave(ctx context.Context, e *Entry) error {
	defer r.Define()()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if err := r.catalog.Remove(context.WithoutCancel(ctx), e.Entry); err != nil {
		return DoorError(err)
	}
	r.publish(func(tables map[string]*Entry) {
		if in := tables[e.Table]; in != nil && in.ID == e.ID { // otherwise the table was deleted and created again
			delete(tables, e.Table)
		}
	})
	return nil
}

// Activate notes that the physical table of an entry exists, and puts the entry to use. It also
// returns an error if something is wrong with the table.
func (r *Registry) Activate(ctx context.Context, e *catalog.Entry, physical *schema.Table) (*Entry, error) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	e, err := r.catalog.Activate(context.WithoutCancel(ctx), e, identity(physical))
	if err != nil {
		return nil, fmt.Errorf("note that table %s is created: %w", physical.Name, err)
	}
	in := r.open(e, physical, r.Entry(e.Table))
	r.plain.forget(e.Table)
	r.publish(func(tables map[string]*Entry) { tables[e.Table] = in })
	return in, in.Wrong
}

// Unlist removes a table whose physical table is gone from the catalogue. If there are other doors,
// the catalogue keeps its name for a while.
func (r *Registry) Unlist(ctx context.Context, dropping *catalog.Entry) error {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.publish(func(tables map[string]*Entry) { delete(tables, dropping.Table) })
	if r.Shared() {
		return r.catalog.MarkDeleted(ctx, dropping)
	}
	return r.catalog.Remove(ctx, dropping)
}

// Vacate waits until no door knows a deleted table any more, so that its name may be used again. It
// returns an error if a table with the name exists.
func (r *Registry) Vacate(ctx context.Context, name string) error {
	e, err := r.catalog.Get(ctx, name)
	switch {
	case err != nil:
		return DoorError(err)
	case e == nil:
		return nil
	case e.State != registry.Dropped:
		return Exists(name)
	}
	t, err := r.Physical(ctx, e.Physical)
	if err != nil {
		return DoorError(err)
	}
	if t != nil && identity(t) == e.ID {
		return Exists(name) // the store is still deleting it
	}
	if err := Wait(ctx, r.Rest(e)); err != nil {
		return err
	}
	return DoorError(r.catalog.Remove(ctx, e))
}
