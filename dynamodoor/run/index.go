// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// A sharded index may be added to a table that has items. Its tag declares it: from
// then on all writes set the shard of an item in it; once all doors do, the items that
// are there get theirs, and then the tag is answered, and the index can be made.

// settles is for how long at least requests that are under way are waited for, which
// do not know of a change.
const settles = time.Second

// declareIndexes declares sharded indexes that are yet to be made; e is the table's
// entry, nil of a plain one.
func (r *Router) declareIndexes(ctx context.Context, q *api.TagResource, e *entry, name string, tags map[string]string, use func(api.Response) error) error {
	physical, err := r.taggable(ctx, e, name)
	switch {
	case err != nil:
		return err
	case physical == nil:
		return r.backend.Answer(ctx, q, use)
	case e != nil && e.Suffix != nil:
		return r.toldOf(ctx, name, exception.Invalid("table %s was sharded by hand: an adopted table has no sharded indexes", name))
	}
	next, err := declared(e, name, physical, tags)
	if err != nil {
		return r.toldOf(ctx, name, err)
	}
	// As the client, who must have the right to it, as to what follows.
	if err := r.backend.Answer(ctx, q, ignore); err != nil && !is(err, exception.UnknownOperation) {
		return err
	}
	if next == nil {
		return use(api.Empty{}) // as a client does that tries again
	}
	in, err := r.enter(ctx, *next, physical)
	if err != nil {
		return err
	}
	if err := r.wait(ctx, max(r.grace(), settles)); err != nil {
		return err
	}
	if err := r.fill(ctx, in); err != nil {
		return err
	}
	full := *in.Entry
	full.Filling = nil
	if _, err := r.enter(ctx, full, physical); err != nil {
		return err
	}
	if err := r.wait(ctx, r.grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// declared is the entry of a table with the indexes that tags declare; nil if it has
// them already.
func declared(e *entry, name string, physical *schema.Table, tags map[string]string) (*catalog.Entry, error) {
	next := catalog.Entry{Table: name, Physical: name, ID: physical.ID, Hash: physical.HashName(), HashType: physical.Type(physical.HashName()).String()}
	logical := physical
	if e != nil {
		next, logical = *e.Entry, e.table.Logical
	}
	next.Indexes, next.Single, next.Filling = clone(next.Indexes), clone(next.Single), clone(next.Filling)
	news := len(next.Filling) > 0 // another attempt ended half-way
	for _, ix := range slices.Sorted(maps.Keys(tags)) {
		is := next.Indexes[ix]
		if there, _ := logical.Index(ix); there != nil && is != nil && plan.SameIndex(is, next.Single[ix], tags[ix]) {
			continue
		}
		layout, single, err := plan.DeclareIndex(logical, ix, tags[ix])
		switch {
		case err != nil:
			return nil, err
		case is != nil && (is.N != layout.N || next.Single[ix] != single):
			return nil, exception.Invalid("index %s of table %s is declared with another layout, of %d shards, and items have their shards in it; "+
				"create it, or declare an index of another name", ix, name, is.N)
		case is == nil:
			next.Indexes[ix], next.Single[ix], next.Filling[ix] = layout, single, true
			news = true
		}
	}
	if !news {
		return nil, nil
	}
	return &next, nil
}

func clone[V any](m map[string]V) map[string]V {
	if m == nil {
		return make(map[string]V)
	}
	return maps.Clone(m)
}

// enter writes the entry of a table that exists, anew or for the first time, and goes
// by it.
func (r *Router) enter(ctx context.Context, e catalog.Entry, physical *schema.Table) (*entry, error) {
	r.defining.Lock()
	defer r.defining.Unlock()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	now, err := r.physical(ctx, physical.Name)
	switch {
	case err != nil:
		return nil, err
	case now == nil || now.ID != physical.ID:
		return nil, notThere(physical.Name)
	}
	if e.Suffix != nil { // an index may have been made meanwhile
		if _, err := (&plan.Adoption{Layout: e.Layout, Suffix: e.Suffix}).Table(now); err != nil {
			return nil, err
		}
	}
	write := r.catalog.Change
	if e.State == "" {
		write = r.catalog.Adopt
	}
	written, err := write(context.WithoutCancel(ctx), e)
	switch {
	case errors.Is(err, catalog.ErrExists), errors.Is(err, catalog.ErrChanged):
		return nil, beingChanged(e.Table)
	case err != nil:
		return nil, doorError(err)
	}
	in := r.open(written, now)
	r.plain.Delete(e.Table)
	r.schemas.Delete(e.Table)
	r.publish(func(tables map[string]*entry) { tables[e.Table] = in })
	return in, in.wrong
}

// still says whether a table is still the one that it was when its entry was read, and
// not another of its name.
func (r *Router) still(ctx context.Context, in *entry) error {
	if r.lease > 0 {
		if err := r.current(ctx); err != nil {
			return err
		}
	}
	if now := (*r.tables.Load())[in.Table]; now == nil || now.ID != in.ID {
		return notThere(in.Table)
	}
	return nil
}

// fill gives the items of a table their shards in the indexes that lack them.
func (r *Router) fill(ctx context.Context, in *entry) error {
	names := slices.Sorted(maps.Keys(in.Filling))
	for {
		var filled atomic.Int64
		items, err := r.eachItem(ctx, in.Table, "items get their shards in new indexes", in.table.ScanUnfilled, func(ctx context.Context, item attribute.Item) error {
			q, key, err := in.table.Unfilled(item)
			if err != nil || q == nil {
				return err
			}
			if err := r.still(ctx, in); err != nil {
				return err
			}
			err = retried(ctx, time.Now().Add(patience), func() error { return r.backend.Answer(ctx, q, ignore) })
			switch {
			case is(err, exception.ConditionalCheckFailed):
				return nil // it was deleted
			case is(err, exception.Validation):
				return exception.Invalid("item %s of table %s cannot have its shard in index %s, an attribute of its own: %s", key, in.Table, strings.Join(names, ", "), exception.Of(err).Message)
			case err != nil:
				return err
			}
			filled.Add(1)
			return nil
		})
		if err != nil {
			return telling(err, "after %d items of table %s, the request can be sent again, and goes on: ", items, in.Table)
		}
		if filled.Load() == 0 {
			r.log.Info("dynamodb: all items have their shards in new indexes", "table", in.Table, "items", items, "indexes", strings.Join(names, ", "))
			return nil
		}
	}
}
