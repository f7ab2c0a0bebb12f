// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// A client can add a sharded index to a table that has items. A tag declares the index. From then
// on, all writes set the item's shard in the index. Once all doors do so, the door gives the
// existing items their shards. Then it answers the request with the tag, and the client can create
// the index.

// settles is the shortest wait for requests under way that do not know of a change.
const settles = time.Second

// declareIndexes declares sharded indexes that a client will create. e is the table's entry; nil:
// the table is plain.
func (r *Definer) declareIndexes(ctx context.Context, q *api.TagResource, e *tables.Entry, name string, tags map[string]string, use func(api.Response) error) error {
	physical, err := r.taggable(ctx, e, name)
	switch {
	case err != nil:
		return err
	case physical == nil:
		return r.Backend.Answer(ctx, q, use)
	case e != nil && e.Affix != nil:
		return r.Items.ToldOf(ctx, name, exception.Invalid("table %s was sharded by hand: an adopted table has no sharded indexes", name))
	case e != nil && e.Change != nil: // an item that moves would lose the shard that it is given meanwhile
		return r.Items.ToldOf(ctx, name, exception.New(exception.ResourceInUse, "table %s is getting another layout (step %s); declare indexes when that is done", name, e.Change.Step))
	}
	next, err := declared(e, name, physical, tags)
	if err != nil {
		return r.Items.ToldOf(ctx, name, err)
	}
	// The door sets the tag with the client's rights: the client must have the right to do that,
	// and so to cause what follows.
	if err := r.Backend.Answer(ctx, q, backend.Ignore); err != nil && !exception.Is(err, exception.UnknownOperation) {
		return err
	}
	if next == nil {
		return use(api.Empty{}) // the client repeats an earlier request
	}
	in, err := r.Tables.Enter(ctx, *next, physical)
	if err != nil {
		return err
	}
	if err := tables.Wait(ctx, max(r.Tables.Grace(), settles)); err != nil {
		return err
	}
	if err := r.fill(ctx, in); err != nil {
		return err
	}
	full := *in.Entry
	full.Filling = nil
	if _, err := r.Tables.Enter(ctx, full, physical); err != nil {
		return err
	}
	if err := tables.Wait(ctx, r.Tables.Grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// declared returns the table's entry with the indexes that tags declare, or nil if it has them
// already.
func declared(e *tables.Entry, name string, physical *schema.Table, tags map[string]string) (*catalog.Entry, error) {
	next := catalog.Entry{Table: name, Physical: name, ID: physical.ID, Hash: physical.HashName(), HashType: physical.Type(physical.HashName()).String()}
	logical := physical
	if e != nil {
		next, logical = *e.Entry, e.Plan.Logical
	}
	next.Indexes, next.Single, next.Filling = clone(next.Indexes), clone(next.Single), clone(next.Filling)
	news := len(next.Filling) > 0 // an earlier attempt ended half-way
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

// fill gives the items of a table their shards in the indexes in which they have none.
func (r *Definer) fill(ctx context.Context, in *tables.Entry) error {
	names := slices.Sorted(maps.Keys(in.Filling))
	for {
		var filled atomic.Int64
		items, err := r.Items.EachItem(ctx, in.Table, "items get their shards in new indexes", in.Plan.ScanUnfilled, func(ctx context.Context, item attribute.Item) error {
			q, key, err := in.Plan.Unfilled(item)
			if err != nil || q == nil {
				return err
			}
			if err := r.Tables.Still(ctx, in); err != nil {
				return err
			}
			err = backend.Retried(ctx, time.Now().Add(items.Patience), func() error { return r.Backend.Answer(ctx, q, backend.Ignore) })
			switch {
			case exception.Is(err, exception.ConditionalCheckFailed):
				return nil // the item was deleted
			case exception.Is(err, exception.Validation):
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
			r.Log.Info("dynamodb: all items have their shards in new indexes", "table", in.Table, "items", items, "indexes", strings.Join(names, ", "))
			return nil
		}
	}
}
