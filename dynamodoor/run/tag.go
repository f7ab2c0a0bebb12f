// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// Tags are the store's, but for what they say of sharding: of a table that exists,
// that it was sharded by hand (adopt.go), or how an index will be that is yet to be
// made (index.go).

// tag carries out a TagResource.
func (r *Router) tag(ctx context.Context, q *api.TagResource, use func(api.Response) error) error {
	e, err := r.sharded(q.ARN)
	if err != nil {
		return err
	}
	// What is declared is kept, and the request's memory ends with it.
	name := strings.Clone(simpleName(q.ARN))
	keys, values := make([]string, len(q.Tags)), make(map[string]string, len(q.Tags))
	for i, t := range q.Tags {
		keys[i] = strings.Clone(t.Key)
		values[keys[i]] = strings.Clone(t.Value)
	}
	own, indexes, err := plan.ShardingTags(name, keys)
	switch {
	case err != nil:
		return err
	case own && len(indexes) > 0:
		return exception.Invalid("a table is adopted by its tag %s in a request without tags of indexes; an adopted table has no sharded indexes", plan.Tag)
	case own:
		return r.adoptTagged(ctx, q, e, name, values[plan.Tag], use)
	case len(indexes) > 0:
		declared := make(map[string]string, len(indexes))
		for _, ix := range indexes {
			declared[ix] = values[plan.IndexTagPrefix+ix]
		}
		return r.declareIndexes(ctx, q, e, name, declared, use)
	}
	return r.backend.Answer(ctx, q, use)
}

// taggable describes the table that a tag is to say something of, whose entry is e;
// nil where there is none, as the store tells. Errors are the client's.
func (r *Router) taggable(ctx context.Context, e *entry, name string) (*schema.Table, error) {
	physical, err := r.physical(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case physical != nil && e == nil && isPhysical(physical):
		if made, err := r.catalog.Get(ctx, name); err != nil || made != nil {
			return nil, errors.Join(doorError(err), beingChanged(name)) // by another door
		}
		return nil, r.toldOf(ctx, name, orphan(name))
	case e != nil && e.wrong != nil:
		return nil, r.toldOf(ctx, name, e.wrong)
	}
	return physical, nil
}

// toldOf is what is wrong with a request about a table, for a client that may read
// it, and the store's refusal for others.
func (r *Router) toldOf(ctx context.Context, name string, err error) error {
	return r.permitted(ctx, &api.Scan{Read: api.Read{Table: name}}, err)
}

// untag carries out an UntagResource. Without its tag an adopted table is a plain one
// again.
func (r *Router) untag(ctx context.Context, q *api.UntagResource, use func(api.Response) error) error {
	e, err := r.sharded(q.ARN)
	if err != nil {
		return err
	}
	name := simpleName(q.ARN)
	own, indexes, err := plan.ShardingTags(name, q.Keys)
	if err != nil {
		return err
	}
	for _, ix := range indexes {
		if e != nil && e.Indexes[ix] != nil {
			return r.toldOf(ctx, name, plan.IndexTagStays(name, ix))
		}
	}
	switch {
	case !own || e == nil:
		return r.backend.Answer(ctx, q, use)
	case e.Suffix == nil && e.wrong != nil:
		return r.toldOf(ctx, name, e.wrong)
	case e.Suffix == nil:
		return r.untagSharded(ctx, q, e, use)
	}
	err = r.backend.Answer(ctx, q, ignore)
	if is(err, exception.UnknownOperation) && len(q.Keys) == 1 {
		err = nil
	}
	if err != nil {
		return err
	}
	if err := r.leave(ctx, e); err != nil {
		return err
	}
	if err := r.wait(ctx, r.grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// untagSharded has a sharded table become a plain one.
func (r *Router) untagSharded(ctx context.Context, q *api.UntagResource, e *entry, use func(api.Response) error) error {
	if e.Layout == nil || e.Change == nil && e.Plain || e.Change != nil && e.Change.Plain && !e.Change.Back {
		return r.backend.Answer(ctx, q, use) // it is what it says
	}
	if err := r.checkChange(ctx, e, wish{}); err != nil {
		return r.toldOf(ctx, e.Table, err)
	}
	if err := r.backend.Answer(ctx, q, ignore); err != nil && !is(err, exception.UnknownOperation) {
		return err
	}
	if err := r.startChange(ctx, e, wish{}); err != nil {
		return err
	}
	return use(api.Empty{})
}

func ignore(api.Response) error { return nil }
