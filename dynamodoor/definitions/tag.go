// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/mover"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Tags belong to the store, except those that declare sharding: that a table was sharded by hand
// (adopt.go), how many shards it shall have (package mover), or how an index that a client will
// create is sharded (index.go).

// Tag carries out a TagResource.
func (r *Definer) Tag(ctx context.Context, q *api.TagResource, use func(api.Response) error) error {
	e, err := r.Tables.Sharded(q.ARN)
	if err != nil {
		return err
	}
	// The door keeps what is declared, but the request's memory ends with the request.
	name := strings.Clone(api.TableName(q.ARN))
	keys, values := make([]string, len(q.Tags)), make(map[string]string, len(q.Tags))
	for i, t := range q.Tags {
		keys[i] = strings.Clone(t.Key)
		values[keys[i]] = strings.Clone(t.Value)
	}
	own, indexes, err := plan.ShardingTags(name, keys)
	if err == nil && !own {
		err = r.moving(ctx, e)
	}
	q = &api.TagResource{ARN: physicalARN(e, q.ARN), Tags: q.Tags}
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
	return r.Backend.Answer(ctx, q, use)
}

// taggable describes the table that a tag is for; e is its entry. It returns nil if the store has
// no such table. Its errors are for the client.
func (r *Definer) taggable(ctx context.Context, e *tables.Entry, name string) (*schema.Table, error) {
	at := name
	if e != nil {
		at = e.Physical
	}
	physical, err := r.Tables.Physical(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case physical != nil && e == nil && tables.IsPhysical(physical):
		if made, err := r.Catalog.Get(ctx, name); err != nil || made != nil {
			return nil, errors.Join(tables.DoorError(err), tables.BeingChanged(name)) // another door is creating it
		}
		return nil, r.Items.ToldOf(ctx, name, tables.Orphan(name))
	case e != nil && e.Wrong != nil:
		return nil, r.Items.ToldOf(ctx, name, e.Wrong)
	}
	return physical, nil
}

// Untag carries out an UntagResource. Without its tag, an adopted table is a plain one again.
func (r *Definer) Untag(ctx context.Context, q *api.UntagResource, use func(api.Response) error) error {
	e, err := r.Tables.Sharded(q.ARN)
	if err != nil {
		return err
	}
	name := api.TableName(q.ARN)
	own, indexes, err := plan.ShardingTags(name, q.Keys)
	if err != nil {
		return err
	}
	for _, ix := range indexes {
		if e != nil && e.Indexes[ix] != nil {
			return r.Items.ToldOf(ctx, name, plan.IndexTagStays(name, ix))
		}
	}
	if !own {
		if err := r.moving(ctx, e); err != nil {
			return err
		}
	}
	q = &api.UntagResource{ARN: physicalARN(e, q.ARN), Keys: q.Keys}
	switch {
	case !own || e == nil:
		return r.Backend.Answer(ctx, q, use)
	case e.Affix == nil && e.Wrong != nil:
		return r.Items.ToldOf(ctx, name, e.Wrong)
	case e.Affix == nil:
		return r.untagSharded(ctx, q, e, use)
	}
	err = r.Backend.Answer(ctx, q, backend.Ignore)
	if exception.Is(err, exception.UnknownOperation) && len(q.Keys) == 1 {
		err = nil
	}
	if err != nil {
		return err
	}
	if err := r.Tables.Leave(ctx, e); err != nil {
		return err
	}
	r.Log.Info("dynamodb: a table that was sharded by hand is a plain one again", "table", e.Table)
	if err := tables.Wait(ctx, r.Tables.Grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// untagSharded begins the change of a sharded table into a plain one.
func (r *Definer) untagSharded(ctx context.Context, q *api.UntagResource, e *tables.Entry, use func(api.Response) error) error {
	if e.Layout == nil || e.Change == nil && e.Plain || e.Change != nil && e.Change.Plain && !e.Change.Back {
		return r.Backend.Answer(ctx, q, use) // the table is already plain, or will be
	}
	return r.startChange(ctx, q, e, mover.Wish{}, use)
}
