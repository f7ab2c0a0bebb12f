// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"context"
	"sync"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/shard"
)

// Under rollover, the place of an item depends on the shards of its partition key. So in step preparing,
// before any item moves, the mover chooses these shards, and enters them in the directory. It counts the
// items of each partition key, and reads those keys again that have more than fill a shard: each shard gets
// so many items, in the order of the sort key. All other keys begin with one shard.
//
// From step looking on, each door puts the mark of the change after the shards of a partition key before it
// uses the key (package items). So a mover that was stopped adds no shard any more.

// tallied is the largest number of partition keys that the mover counts.
const tallied = 1 << 20

// choose chooses the shards of all partition keys of a table that gets strategy rollover. second is the
// TableId of the second physical table, if the change has one.
func (r *Mover) choose(ctx context.Context, e *tables.Entry, second string) error {
	target, err := e.Target(e.Change)
	if err != nil {
		return err
	}
	to := e.Plan.To(target)
	if second != "" {
		to = e.Plan.Second(e.Change.Second, second, target)
	}
	p, err := r.Catalog.Progress(ctx, e.Table)
	if err != nil {
		return err
	}
	m := &turn{mover: r, e: e, progress: p}
	return m.working(ctx, func(ctx context.Context) error {
		keys, err := r.tally(ctx, e)
		for _, key := range keys {
			hash, wrong := attribute.ParseKeyText(key, e.Plan.Hash().Type)
			if err == nil {
				err = wrong
			}
			if err == nil {
				err = r.chooseFor(ctx, e, to, hash)
			}
		}
		return err
	})
}

// forgetChosen removes the shards that were chosen for a change that was taken back from the directory.
func (r *Mover) forgetChosen(ctx context.Context, e *tables.Entry) {
	if target, err := e.Target(e.Change); err == nil {
		r.forget(context.WithoutCancel(ctx), e.Table, e.Plan.To(target).Directory())
	}
}

// tally returns the partition keys that have more items than fill a shard, as attribute.KeyText writes them.
func (r *Mover) tally(ctx context.Context, e *tables.Entry) ([]string, error) {
	var counting sync.Mutex
	tally := shard.NewTally(tallied)
	_, err := r.Items.EachItem(ctx, e.Table, "the items of the partition keys of a table are counted", e.Plan.ScanKeys, func(_ context.Context, item attribute.Item) error {
		key, _, err := e.Plan.Locate(item)
		if err != nil {
			return nil // no door has put it there
		}
		hash, _ := key.Get(e.Plan.Hash().Name)
		counting.Lock()
		defer counting.Unlock()
		tally.Add(attribute.KeyText(hash))
		return nil
	})
	return tally.Over(e.Change.Rows), err
}

// chooseFor chooses the shards of one partition key. A mover that has died may have chosen some.
func (r *Mover) chooseFor(ctx context.Context, e *tables.Entry, to *plan.Table, hash attribute.Value) error {
	name := to.RolledName(hash)
	for {
		all, err := r.Catalog.Beginnings(ctx, name)
		if err != nil {
			return err
		}
		next := catalog.Beginning{Shard: len(all) + 2, Step: catalog.Open}
		var from attribute.Value
		if len(all) > 0 {
			if from = all[len(all)-1].From; all[len(all)-1].Step == catalog.Frozen {
				return nil // another mover has gone on
			}
		}
		if next.Shard > e.Change.Max || !to.HasShard(hash, next.Shard) {
			return nil
		}
		if next.From, err = r.after(ctx, e, hash, from, e.Change.Rows); err != nil || next.From.Kind() == attribute.Invalid {
			return err
		}
		if err := r.Catalog.BeginShard(ctx, name, next); err != nil {
			return err
		}
	}
}

// after returns the sort key of the item of a partition key that comes n items after the first one with a sort
// key or a greater one. It returns an Invalid value if there are no so many items.
func (r *Mover) after(ctx context.Context, e *tables.Entry, hash, from attribute.Value, n int64) (found attribute.Value, err error) {
	sort := e.Plan.Logical.RangeName()
	k := expression.KeyRange{Hash: []attribute.Value{hash}}
	if from.Kind() != attribute.Invalid {
		k.Op, k.Low = expression.GreaterOrEqual, from
	}
	q := &api.Query{
		Read:         api.Read{Table: e.Table, Consistent: true, Projection: expression.Project(expression.Top(sort))},
		KeyCondition: k.Condition([]string{e.Plan.Hash().Name}, []string{sort}),
	}
	for more := true; more && found.Kind() == attribute.Invalid; {
		err := r.Items.Do(ctx, q, func(a api.Response) error {
			page := a.(*api.ItemsResponse)
			if n < int64(len(page.Items)) {
				item, err := new(attribute.Decoder).Item(bytes.Clone(page.Items[n])) // the value outlives the answer
				found, _ = item.Get(sort)
				return err
			}
			n -= int64(len(page.Items))
			if more = page.LastKey != nil; !more {
				return nil
			}
			start, err := new(attribute.Decoder).Item(page.LastKey.Encode())
			q.Start = start
			return err
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}
