// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// A transaction stays one transaction in every step. If stubs may be made, the door first brings
// its items to their new places. Before that, it carries out the transaction at the old places if
// no stub is there.

// judge returns an error if a request is wrong in either layout.
func (s *Store) judge(q api.Request) error {
	for _, now := range []bool{true, false} {
		if _, err := plan.Make(q, s.in(now)); err != nil {
			return err
		}
	}
	return nil
}

// bring brings an item to its new place if its table's step requires that. It returns false if
// writes still go to the old place.
func (s *Store) bring(ctx context.Context, it *item) (bool, error) {
	run, err := s.settle(ctx, it, reshard.Write(it.t.Step))
	return run.Act() == reshard.WriteNew, err
}

// errCrowd returns the error for a transaction that cannot be carried out at the moment.
func errCrowd(n int) error {
	reasons := make([]exception.CancellationReason, n)
	for i := range reasons {
		reasons[i].Code = "None"
	}
	reasons[0] = exception.CancellationReason{Code: "TransactionConflict", Message: "Transaction is ongoing for the item"}
	return exception.Canceled(reasons)
}

// transactGet carries out a TransactGetItems.
func (s *Store) transactGet(ctx context.Context, q *api.TransactGetItems, use func(api.Response) error) error {
	if err := s.judge(q); err != nil {
		return err
	}
	moving, both := make([]*item, len(q.Gets)), 0
	now := make([]bool, len(q.Gets))
	for i := range q.Gets {
		t := s.Of(q.Gets[i].Table)
		if t == nil {
			continue
		}
		var err error
		if moving[i], err = t.of(q.Gets[i].Key); err != nil {
			return err
		}
		if moving[i] == nil {
			continue
		}
		if now[i], err = s.bring(ctx, moving[i]); err != nil {
			return err
		}
		if !now[i] {
			both++
		}
	}
	olds, news, err := s.pair(q)
	if err != nil {
		return err
	}
	gets := slices.Clone(olds.Request.(*api.TransactGetItems).Gets)
	inNew := news.Request.(*api.TransactGetItems).Gets
	if len(gets)+both > 100 { // this lasts for a lease or two; the client retries
		return errCrowd(len(gets))
	}
	var second []int
	for i := range gets {
		switch {
		case moving[i] == nil:
		case now[i]:
			gets[i] = inNew[i]
		default: // read the whole item, so that a stub can be recognized
			gets[i].Projection = nil
			second = append(second, i)
			gets = append(gets, inNew[i])
		}
	}
	physical := *olds.Request.(*api.TransactGetItems)
	physical.Gets = gets
	return s.direct(ctx, olds, &physical, func(a api.Response) error {
		r := a.(*api.TransactGetResponse)
		return use(r)
	}, func(a api.Response) error {
		r := a.(*api.TransactGetResponse)
		n := len(q.Gets)
		for k, i := range second {
			if r.Items[n+k] != nil {
				r.Items[i] = r.Items[n+k]
				continue
			}
			found, err := kept(r.Items[i])
			if err != nil {
				return err
			}
			if r.Items[i] = nil; found != nil && !plan.IsStub(found) {
				r.Items[i] = q.Gets[i].Projection.Apply(plan.Visible(found)).Encode()
			}
		}
		r.Items = r.Items[:n]
		return nil
	})
}

// pair returns the plans of a request with its tables in the old and in the new layout.
func (s *Store) pair(q api.Request) (olds, news *plan.Direct, err error) {
	p, err := plan.Make(q, s.in(false))
	if err != nil {
		return nil, nil, err
	}
	n, err := plan.Make(q, s.in(true))
	if err != nil {
		return nil, nil, err
	}
	olds, ok := p.(*plan.Direct)
	news, also := n.(*plan.Direct)
	if !ok || !also {
		return nil, nil, errors.New("a transaction is more than one request")
	}
	return olds, news, nil
}

// direct carries out a physical request in place of a plan's request. first sees the store's answer
// before the plan converts it into the client's.
func (s *Store) direct(ctx context.Context, d *plan.Direct, q api.Request, use, first func(api.Response) error) error {
	err := s.Answer(ctx, q, func(a api.Response) error {
		if first != nil {
			if err := first(a); err != nil {
				return err
			}
		}
		s.joinCapacity(a)
		visible, err := d.Answer(a)
		if err != nil {
			return err
		}
		return use(visible)
	})
	return err
}

// joinCapacity counts what a table's second physical table has consumed as that of the first one.
func (s *Store) joinCapacity(a api.Response) {
	seconds := s.Seconds()
	if seconds == nil {
		return
	}
	var all *[]api.ConsumedCapacity
	switch a := a.(type) {
	case *api.TransactGetResponse:
		all = &a.Capacity
	case *api.TransactWriteResponse:
		all = &a.Capacity
	default:
		return
	}
	var joined []api.ConsumedCapacity
	for _, c := range *all {
		if first, is := seconds[c.Table]; is {
			c.Table = first
		}
		joined = addCapacity(joined, &c)
	}
	*all = joined
}

// transactWrite carries out a TransactWriteItems.
func (s *Store) transactWrite(ctx context.Context, q *api.TransactWriteItems, use func(api.Response) error) error {
	if err := s.judge(q); err != nil {
		return err
	}
	moving, now := make([]*item, len(q.Actions)), make([]bool, len(q.Actions))
	for i := range q.Actions {
		a := &q.Actions[i]
		t := s.Of(a.Table)
		if t == nil {
			continue
		}
		key := a.Key
		if a.Kind == api.TransactPut {
			key = a.Item
		}
		var err error
		if moving[i], err = t.of(key); err != nil {
			return err
		}
		if moving[i] == nil {
			continue
		}
		if now[i], err = s.bring(ctx, moving[i]); err != nil {
			return err
		}
	}
	for range mostActs {
		again, err := s.transactOnce(ctx, q, moving, now, use)
		if !again || err != nil {
			return err
		}
	}
	return errBusy
}

// transactOnce carries out a transaction with each item at the place that now says. again reports
// that an item was at another place.
func (s *Store) transactOnce(ctx context.Context, q *api.TransactWriteItems, moving []*item, now []bool, use func(api.Response) error) (again bool, err error) {
	olds, news, err := s.pair(q)
	if err != nil {
		return false, err
	}
	physical := *olds.Request.(*api.TransactWriteItems)
	physical.Actions = slices.Clone(physical.Actions)
	inNew := news.Request.(*api.TransactWriteItems).Actions
	guards := make([]*guardOf, len(moving))
	for i, it := range moving {
		switch {
		case it == nil:
		case now[i]:
			physical.Actions[i] = inNew[i]
		default:
			var update *expression.Update
			if q.Actions[i].Kind == api.TransactUpdate {
				update = physical.Actions[i].Update
			}
			g, err := s.guard(ctx, it, update)
			if err != nil {
				return false, err
			}
			guards[i] = &g
			physical.Actions[i] = g.action(physical.Actions[i])
		}
	}
	answered, err := s.Announce(ctx, q, slices.Concat(olds.Buckets, news.Buckets))
	if err != nil {
		return false, err
	}
	err = s.direct(ctx, olds, &physical, use, func(api.Response) error { return answered() })
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != exception.TransactionCanceled || len(e.Reasons) != len(moving) {
		return false, olds.Err(err)
	}
	shown := *e
	shown.Raw = nil
	shown.Reasons = slices.Clone(e.Reasons)
	for i, g := range guards {
		if g == nil || e.Reasons[i].Code != "ConditionalCheckFailed" {
			continue
		}
		var found attribute.Item
		if found, err = kept(e.Reasons[i].Item); err != nil {
			return false, err
		}
		stubbed, other := g.missed(found)
		now[i] = now[i] || stubbed
		again = again || stubbed || other
		if !q.Actions[i].ReturnOnFailure {
			shown.Reasons[i].Item = nil
		}
	}
	if again {
		return true, ctx.Err()
	}
	return false, olds.Err(&shown)
}
