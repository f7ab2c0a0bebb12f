// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// A table that was sharded by hand becomes a sharded one by its tag, once all of its
// items are found to be where the tag says; and by the tag's removal it is the plain
// table again that it is at the store. Where there are other doors, the answer waits
// until all of them know: a client that goes by it meets the same table at each.

// adoptTagged adopts a table whose tag says so; e is its entry, nil of a plain one.
func (r *Router) adoptTagged(ctx context.Context, q *api.TagResource, e *entry, name, value string, use func(api.Response) error) error {
	a, err := plan.ParseAdoption(name, value)
	switch {
	case e != nil && e.wrong != nil:
		return r.toldOf(ctx, name, e.wrong)
	case e != nil && e.Layout == nil && err == nil:
		return r.toldOf(ctx, name, exception.Invalid("table %s has sharded indexes, or tags that declare some, and an adopted table has none: items have their shards in them; "+
			"copy the items into a table without these tags, and adopt that", name))
	case e != nil && e.Suffix == nil:
		return r.tagChange(ctx, q, e, name, value, use)
	case err != nil:
		return err
	case e == nil:
		return r.adopt(ctx, q, name, a, use)
	}
	if is := (plan.Adoption{Layout: e.Layout, Suffix: e.Suffix}); is.String() != a.String() {
		return r.toldOf(ctx, name, exception.Invalid("table %s is adopted with %q; remove the tag %s from it (UntagResource) before it is adopted in another way", name, is.String(), plan.Tag))
	}
	if err := r.wait(ctx, r.rest(e.Entry)); err != nil {
		return err
	}
	return r.backend.Answer(ctx, q, use)
}

// tagChange has a sharded table get another layout, if its tag says so.
func (r *Router) tagChange(ctx context.Context, q *api.TagResource, e *entry, name, value string, use func(api.Response) error) error {
	shards, err := plan.DeclaredShards(name, value)
	switch {
	case err != nil:
		return r.toldOf(ctx, name, err)
	case e.Change == nil && from(e.Entry, "") == shards, e.Change != nil && e.Change.Key == "" && !e.Change.Back && towards(e.Change) == shards:
		return r.backend.Answer(ctx, q, use) // it is what it says
	}
	if err := r.checkChange(ctx, e, wish{shards: shards}); err != nil {
		return r.toldOf(ctx, name, err)
	}
	if err := r.backend.Answer(ctx, q, ignore); err != nil && !is(err, exception.UnknownOperation) {
		return err
	}
	if err := r.startChange(ctx, e, wish{shards: shards}); err != nil {
		return err
	}
	return use(api.Empty{})
}

// adopt adopts a table. The items are read, and then the tag is set, as the client, who
// must have the right to both.
func (r *Router) adopt(ctx context.Context, q *api.TagResource, name string, a *plan.Adoption, use func(api.Response) error) error {
	physical, err := r.taggable(ctx, nil, name)
	switch {
	case err != nil:
		return err
	case physical == nil:
		return r.backend.Answer(ctx, q, use)
	}
	t, err := a.Table(physical)
	if err != nil {
		return r.toldOf(ctx, name, err)
	}
	_, err = r.eachItem(ctx, name, "the items of a table that is to be adopted are read", t.ScanKeys,
		func(_ context.Context, item attribute.Item) error { return t.CheckAdopted(item) })
	if err != nil {
		return err
	}
	err = r.backend.Answer(ctx, q, ignore)
	if err != nil && !is(err, exception.UnknownOperation) { // not every endpoint has tags
		return err
	}
	_, err = r.enter(ctx, catalog.Entry{
		Table: name, Physical: name, ID: physical.ID, Layout: a.Layout, Suffix: a.Suffix, Hash: t.Hash().Name, HashType: t.Hash().Type.String(),
	}, physical)
	switch {
	case is(err, exception.ResourceInUse): // the tag is another request's, too
		return err
	case err != nil:
		return r.unset(ctx, q.ARN, err)
	}
	r.log.Info("dynamodb: a table that was sharded by hand is adopted", "table", name, "as", a.String())
	if err := r.wait(ctx, r.grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// unset removes the tag of a table that was not adopted because of an error, which it
// returns.
func (r *Router) unset(ctx context.Context, arn string, because error) error {
	err := r.backend.Answer(context.WithoutCancel(ctx), &api.UntagResource{ARN: arn, Keys: []string{plan.Tag}}, ignore)
	if err != nil && !is(err, exception.UnknownOperation) {
		return telling(because, "the tag %s stays, and says nothing, since it could not be removed (%v); the table is not adopted: ", plan.Tag, err)
	}
	return because
}

// telling is an error whose text for the client begins with more.
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

// leave makes an adopted table a plain one again.
func (r *Router) leave(ctx context.Context, e *entry) error {
	r.defining.Lock()
	defer r.defining.Unlock()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if err := r.catalog.Remove(context.WithoutCancel(ctx), e.Entry); err != nil {
		return doorError(err)
	}
	r.publish(func(tables map[string]*entry) {
		if in := tables[e.Table]; in != nil && in.ID == e.ID { // else it was deleted and made again
			delete(tables, e.Table)
		}
	})
	r.log.Info("dynamodb: a table that was sharded by hand is a plain one again", "table", e.Table)
	return nil
}
