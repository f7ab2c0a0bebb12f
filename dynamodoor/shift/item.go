// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// item is an item that moves, with what is known of it.
type item struct {
	t   *Table
	key attribute.Item // logical
	old attribute.Item // physical key of the old place
	now attribute.Item // physical key of the new place
	saw attribute.Item // the stored item that the old place had; nil: nothing
}

// of returns the item with a logical key, or nil if it does not move. It returns an error if the
// key is wrong.
func (t *Table) of(key attribute.Item) (*item, error) {
	key = t.Old.KeyOf(key)
	old, err := t.Old.Key(key)
	if err != nil {
		return nil, err
	}
	now, err := t.New.Key(key)
	if err != nil {
		return nil, err
	}
	if t.Old.Shard(key) == t.New.Shard(key) {
		return nil, nil
	}
	return &item{t: t, key: key, old: old, now: now}, nil
}

// read reads one of an item's places, which is in a table's old or new layout.
func (s *Store) read(ctx context.Context, in *plan.Table, at attribute.Item) (found attribute.Item, err error) {
	err = s.Retried(ctx, func() error {
		return s.Answer(ctx, &api.GetItem{Table: in.Physical, Key: at, Consistent: true}, func(a api.Response) (err error) {
			found, err = kept(a.(*api.ItemResponse).Item)
			return err
		})
	})
	return found, err
}

// settle carries out acts until the next act is not one that settles where the item is.
func (s *Store) settle(ctx context.Context, it *item, run reshard.Run) (reshard.Run, error) {
	for range mostActs {
		var seen reshard.Seen
		var err error
		switch run.Act() {
		case reshard.LookOld:
			it.saw, err = s.read(ctx, it.t.Old, it.old)
			switch {
			case it.saw == nil:
				seen = reshard.Nothing
			case plan.IsStub(it.saw):
				seen = reshard.Stubbed
			default:
				seen = reshard.Item
			}
		case reshard.Stub:
			seen, err = s.stub(ctx, it)
		case reshard.Move:
			seen, err = s.move(ctx, it)
		default:
			return run, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return run, err
		}
		run = run.After(seen)
	}
	return run, errBusy
}

// stub puts a stub at the old place if nothing is there.
func (s *Store) stub(ctx context.Context, it *item) (reshard.Seen, error) {
	put := &api.PutItem{Table: it.t.Old.Physical, Item: it.t.Old.StubOf(it.key, nil, it.t.Generation), Condition: it.t.Old.There(false)}
	err := s.Retried(ctx, func() error { return s.Answer(ctx, put, ignore) })
	if is(err, exception.ConditionalCheckFailed) {
		return reshard.Changed, nil
	}
	return reshard.OK, err
}

func ignore(api.Response) error { return nil }

// move moves the item that was seen. If the new place has an item already, that one stays.
func (s *Store) move(ctx context.Context, it *item) (reshard.Seen, error) {
	from, to := it.t.Old.Physical, it.t.New.Physical
	stub := api.TransactAction{Kind: api.TransactPut, Table: from, Item: it.t.Old.StubOf(it.key, it.saw, it.t.Generation), Condition: it.t.Old.AsSeen(it.saw)}
	put := api.TransactAction{Kind: api.TransactPut, Table: to, Item: it.t.New.MovedTo(it.saw, it.now, it.t.Generation), Condition: it.t.New.There(false)}
	drop := api.TransactAction{Kind: api.TransactCheck, Table: to, Key: it.now, Condition: it.t.New.There(true)}
	for i, second := range []api.TransactAction{put, drop} {
		both := &api.TransactWriteItems{Actions: []api.TransactAction{stub, second}}
		answered := func() error { return nil }
		if i == 0 {
			var err error
			if answered, err = s.Announce(ctx, both, it.t.New.BucketOf(it.key)); err != nil {
				return 0, err
			}
		}
		err := s.transact(ctx, both)
		if err == nil {
			return reshard.OK, answered()
		}
		reasons := conditions(err)
		switch {
		case reasons == nil:
			return 0, err
		case reasons[0]:
			return reshard.Changed, nil
		}
	}
	return reshard.Changed, nil // the item was at the new place, and is gone now
}

// transact carries out the door's own transaction, and retries it while another transaction blocks
// it.
func (s *Store) transact(ctx context.Context, q *api.TransactWriteItems) error {
	return s.Retried(ctx, func() error {
		err := s.Answer(ctx, q, ignore)
		if err != nil && conditions(err) == nil && conflict(err) {
			return exception.New(exception.ProvisionedThroughputExceeded, "a transaction is in the way: %v", err)
		}
		return err
	})
}

// conditions returns which parts of a transaction had conditions that did not hold. It returns nil
// if the transaction failed for another reason.
func conditions(err error) []bool {
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != exception.TransactionCanceled {
		return nil
	}
	out, any := make([]bool, len(e.Reasons)), false
	for i := range e.Reasons {
		out[i] = e.Reasons[i].Code == "ConditionalCheckFailed"
		any = any || out[i]
	}
	if !any {
		return nil
	}
	return out
}

// conflict reports whether another transaction, or a limit, blocked a transaction.
func conflict(err error) bool {
	var e *exception.Error
	if !errors.As(err, &e) {
		return false
	}
	if e.Kind == exception.TransactionCanceled {
		for i := range e.Reasons {
			switch e.Reasons[i].Code {
			case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
				return true
			}
		}
	}
	return false
}

// get carries out a GetItem.
func (s *Store) get(ctx context.Context, q *api.GetItem, use func(api.Response) error) error {
	t := s.Of(q.Table)
	it, err := t.of(q.Key)
	if err != nil || it == nil {
		return s.carry(ctx, q, false, use)
	}
	// Report errors in the request before anything is done.
	if _, err := plan.Make(q, s.in(true)); err != nil {
		return err
	}
	strong := *q
	strong.Consistent = true
	run, err := s.settle(ctx, it, reshard.Read(t.Step))
	if err != nil {
		return err
	}
	if run.Act() == reshard.LookNew {
		last := false
		err := s.carry(ctx, &strong, true, func(a api.Response) error {
			there := a.(*api.ItemResponse).Item != nil
			if !there {
				run = run.After(reshard.Nothing)
			}
			if last = there || run.Act() == reshard.Answer; last {
				return use(a)
			}
			return nil
		})
		if err != nil || last {
			return err
		}
	}
	out := &api.ItemResponse{}
	if it.saw != nil && !plan.IsStub(it.saw) {
		out.Item = q.Projection.Apply(plan.Visible(it.saw)).Encode()
	}
	if q.Capacity != api.CapacityNone {
		units := api.ReadUnits(it.saw.Size(), true)
		out.Capacity = &api.ConsumedCapacity{Table: q.Table, Units: units, Base: units, Detail: q.Capacity == api.CapacityIndexes}
	}
	return use(out)
}

// write carries out a write of one item. key contains at least the item's key.
func (s *Store) write(ctx context.Context, q api.Request, t *Table, key attribute.Item, use func(api.Response) error) error {
	it, err := t.of(key)
	if err != nil || it == nil {
		return s.carry(ctx, q, false, use)
	}
	for _, now := range []bool{true, false} { // report errors in the request, for either place
		if _, err := plan.Make(q, s.in(now)); err != nil {
			return err
		}
	}
	run, err := s.settle(ctx, it, reshard.Write(t.Step))
	if err != nil {
		return err
	}
	if run.Act() == reshard.Guard {
		stubbed, err := s.guarded(ctx, q, it, use)
		if err != nil || !stubbed {
			return err
		}
		run = run.After(reshard.Stubbed)
	}
	return s.carry(ctx, q, run.Act() != reshard.WriteOld, use)
}
