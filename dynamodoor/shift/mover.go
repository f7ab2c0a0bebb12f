// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// Passed is the result of one page of the mover.
type Passed struct {
	Read, Seen, Moved int64
	Arrived           int64          // items found at their new places
	Next              attribute.Item // where the next page begins; nil: there is none
}

// Pass does the mover's work on the items of a page of the physical table. It moves them or, in
// step cleaning, deletes what is left at old places.
func (s *Store) Pass(ctx context.Context, t *Table, from attribute.Item, limit int) (p Passed, err error) {
	page, next, err := s.page(ctx, t, from, limit)
	if err != nil {
		return p, err
	}
	p.Next, p.Read = next, int64(len(page))
	for _, text := range page {
		found, err := kept(text)
		if err != nil {
			return p, err
		}
		key, shard, err := t.Old.Locate(found)
		if err != nil {
			continue // no door has put it there
		}
		it, err := t.of(key)
		if err != nil || it == nil {
			if !plan.IsStub(found) {
				p.Seen++
			}
			continue
		}
		if shard != t.Old.Shard(key) {
			if t.Step >= reshard.Closing { // in earlier steps, it was counted at its old place
				p.Seen++
				p.Arrived++
			}
			continue // it is at its new place
		}
		if t.Step == reshard.Cleaning {
			if err := s.remove(ctx, it); err != nil {
				return p, err
			}
			continue
		}
		if plan.IsStub(found) {
			continue
		}
		p.Seen++
		if _, err := s.settle(ctx, it, reshard.Shift()); err != nil {
			return p, err
		}
		p.Moved++
	}
	return p, nil
}

// remove deletes what is left at an item's old place.
func (s *Store) remove(ctx context.Context, it *item) error {
	err := s.Retried(ctx, func() error {
		return s.Answer(ctx, &api.DeleteItem{Table: it.t.Old.Physical, Key: it.old}, ignore)
	})
	if is(err, exception.ConditionalCheckFailed) {
		return nil
	}
	return err
}

// Room reports whether a stored item moves. It returns an error if the item cannot move to its new
// place.
func (t *Table) Room(physical attribute.Item) (moves bool, err error) {
	key, shard, err := t.Old.Locate(physical)
	if err != nil {
		return false, err
	}
	it, err := t.of(key)
	if err != nil || it == nil || shard != t.Old.Shard(key) {
		return false, err
	}
	if n := plan.MovedTo(physical, it.now).Size(); n > attribute.MaxItemSize {
		return true, exception.Invalid("the item with the key %s has no room for a longer shard number: it would have %d bytes of %d; make it shorter", key, n, attribute.MaxItemSize)
	}
	return true, nil
}
