// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/mover"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// A tag turns a table that was sharded by hand into a sharded table, after the door has found all
// items where the tag says. Removing the tag makes it a plain table again, as it is at the store.
// If there are other doors, the door answers only when all of them know the change, so that a
// client sees the same table at each door.

// adoptTagged adopts a table as its tag declares. e is the table's entry; nil: the table is plain.
func (r *Definer) adoptTagged(ctx context.Context, q *api.TagResource, e *tables.Entry, name, value string, use func(api.Response) error) error {
	if e == nil && !plan.DeclaresAdoption(value) {
		return r.shardPlain(ctx, q, name, value, use)
	}
	a, err := plan.ParseAdoption(name, value)
	switch {
	case e != nil && e.Wrong != nil:
		return r.Items.ToldOf(ctx, name, e.Wrong)
	case e != nil && e.Layout == nil && err == nil:
		return r.Items.ToldOf(ctx, name, exception.Invalid("table %s has sharded indexes, or tags that declare some, and an adopted table has none: items have their shards in them; "+
			"copy the items into a table without these tags, and adopt that", name))
	case e != nil && e.Affix == nil:
		return r.tagChange(ctx, q, e, name, value, use)
	case err != nil:
		return err
	case e == nil:
		return r.adopt(ctx, q, name, a, use)
	}
	if is := (plan.Adoption{Layout: e.Layout, Affix: e.Affix}); is.String() != a.String() {
		return r.Items.ToldOf(ctx, name, exception.Invalid("table %s is adopted with %q; remove the tag %s from it (UntagResource) before it is adopted in another way", name, is.String(), plan.Tag))
	}
	if err := tables.Wait(ctx, r.Tables.Rest(e.Entry)); err != nil {
		return err
	}
	return r.Backend.Answer(ctx, q, use)
}

// tagChange begins a change of a sharded table's layout if the tag declares another one.
func (r *Definer) tagChange(ctx context.Context, q *api.TagResource, e *tables.Entry, name, value string, use func(api.Response) error) error {
	shape, err := plan.Declared(e.Plan.Logical, e.Layout, value)
	switch {
	case err != nil:
		return r.Items.ToldOf(ctx, name, err)
	case e.Layout == nil: // only its indexes are sharded
		return r.Items.ToldOf(ctx, name, e.Plan.CheckChange(shape))
	case e.Change == nil && mover.From(e.Entry, "") == shape, e.Change != nil && e.Change.Key == "" && !e.Change.Back && mover.Towards(e.Change) == shape:
		return r.Backend.Answer(ctx, q, use) // the table already has this layout, or will have it
	}
	return r.startChange(ctx, q, e, mover.Wish{Shape: shape}, use)
}

// startChange begins a change that a request on a table's tag asks for. It sends the request to the store
// when nothing is against the change.
func (r *Definer) startChange(ctx context.Context, q api.Request, e *tables.Entry, w mover.Wish, use func(api.Response) error) error {
	if err := r.Mover.CheckChange(ctx, e, w); err != nil {
		return r.Items.ToldOf(ctx, e.Table, err)
	}
	err := r.Mover.StartChange(ctx, e, w, func() error {
		err := r.Backend.Answer(ctx, q, backend.Ignore)
		if exception.Is(err, exception.UnknownOperation) {
			return nil // some endpoints have no tags
		}
		return err
	})
	if err != nil {
		return err
	}
	return use(api.Empty{})
}

// shardPlain begins to make a plain table a sharded one, as its tag declares.
func (r *Definer) shardPlain(ctx context.Context, q *api.TagResource, name, value string, use func(api.Response) error) error {
	physical, err := r.taggable(ctx, nil, name)
	switch {
	case err != nil:
		return err
	case physical == nil:
		return r.Backend.Answer(ctx, q, use)
	}
	shape, err := plan.Declared(physical, nil, value)
	switch {
	case err == nil && shape.Shards == 0:
		return r.Backend.Answer(ctx, q, use) // it is a plain table
	case err == nil:
		_, err = r.Mover.StartPlain(ctx, name, shape)
	}
	if err != nil {
		return r.Items.ToldOf(ctx, name, err)
	}
	return use(api.Empty{})
}

// adopt adopts a table. It reads the items and then sets the tag with the client's rights: the
// client must have the right to do both.
func (r *Definer) adopt(ctx context.Context, q *api.TagResource, name string, a *plan.Adoption, use func(api.Response) error) error {
	physical, err := r.taggable(ctx, nil, name)
	switch {
	case err != nil:
		return err
	case physical == nil:
		return r.Backend.Answer(ctx, q, use)
	}
	t, err := a.Table(physical)
	if err != nil {
		return r.Items.ToldOf(ctx, name, err)
	}
	_, err = r.Items.EachItem(ctx, name, "the items of a table that is to be adopted are read", t.ScanKeys,
		func(_ context.Context, item attribute.Item) error { return t.CheckAdopted(item) })
	if err != nil {
		return err
	}
	err = r.Backend.Answer(ctx, q, backend.Ignore)
	if err != nil && !exception.Is(err, exception.UnknownOperation) { // some endpoints have no tags
		return err
	}
	_, err = r.Tables.Enter(ctx, catalog.Entry{
		Table: name, Physical: name, ID: physical.ID, Layout: a.Layout, Affix: a.Affix, Hash: t.Hash().Name, HashType: t.Hash().Type.String(),
	}, physical)
	switch {
	case exception.Is(err, exception.ResourceInUse): // the other request has the same tag
		return err
	case err != nil:
		return r.unset(ctx, q.ARN, err)
	}
	r.Log.Info("dynamodb: a table that was sharded by hand is adopted", "table", name, "as", a.String())
	if err := tables.Wait(ctx, r.Tables.Grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// unset removes the tag of a table that was not adopted because of an error, and returns that
// error.
func (r *Definer) unset(ctx context.Context, arn string, because error) error {
	err := r.Backend.Answer(context.WithoutCancel(ctx), &api.UntagResource{ARN: arn, Keys: []string{plan.Tag}}, backend.Ignore)
	if err != nil && !exception.Is(err, exception.UnknownOperation) {
		return telling(because, "the tag %s stays, and says nothing, since it could not be removed (%v); the table is not adopted: ", plan.Tag, err)
	}
	return because
}

// telling puts context before an error's message for the client.
func telling(err error, format string, args ...any) error {
	begins := fmt.Sprintf(format, args...)
	var e *exception.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s%w", begins, err)
	}
	more := *e
	more.Raw, more.RawStatus, more.Message = nil, 0, begins+e.Message
	return &more
}
