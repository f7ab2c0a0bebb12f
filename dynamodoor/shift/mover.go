// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"

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

// together is the number of items that the mover moves at a time. A store that writes to a disk makes
// their writes durable together.
const together = 16

// Pass does the mover's work on the items of a page of the physical table. It moves them or, in
// step cleaning, deletes the stubs and late items at old places.
func (s *Store) Pass(ctx context.Context, t *Table, from attribute.Item, limit int) (p Passed, err error) {
	page, next, err := s.page(ctx, t, from, limit)
	if err != nil {
		return p, err
	}
	p.Next, p.Read = next, int64(len(page))
	var items, keys []attribute.Item
	for _, text := range page {
		found, err := kept(text)
		if err != nil {
			return p, err
		}
		if key, _, err := t.side(found).Locate(found); err == nil { // else no door has put it there
			items, keys = append(items, found), append(keys, key)
		}
	}
	if err := s.know(ctx, t, keys...); err != nil {
		return p, err
	}
	var each errgroup.Group
	each.SetLimit(together)
	for _, found := range items {
		if do := s.passed(ctx, t, found, &p); do != nil {
			each.Go(do)
		}
	}
	return p, each.Wait()
}

// passed counts an item that the mover has read, and returns what is to be done with it, or nil.
func (s *Store) passed(ctx context.Context, t *Table, found attribute.Item, p *Passed) (do func() error) {
	key, shard, err := t.side(found).Locate(found)
	if err != nil {
		return nil // no door has put it there
	}
	it, err := t.of(key)
	switch {
	case err != nil || it == nil:
		if !plan.IsStub(found) {
			p.Seen++
		}
		return nil
	case shard != t.Old.Shard(key):
		if t.Step >= reshard.Closing { // in earlier steps, it was counted at its old place
			p.Seen++
			p.Arrived++
		}
		return nil // it is at its new place
	case t.Step == reshard.Cleaning:
		return func() error { return s.remove(ctx, it, found) }
	case plan.IsStub(found):
		return nil
	}
	p.Seen++
	p.Moved++
	return func() error {
		_, err := s.settle(ctx, it, reshard.Shift())
		return err
	}
}

// remove deletes the stub at an item's old place, or an item that a late write has put there. It
// first replaces such an item by a stub, so that a stream does not show the deletion.
func (s *Store) remove(ctx context.Context, it *item, found attribute.Item) error {
	table := it.t.Old.Physical
	if !plan.IsStub(found) {
		put := &api.PutItem{Table: table, Item: it.t.Old.StubOf(it.key, nil, it.t.Generation)}
		if err := s.Retried(ctx, func() error { return s.Answer(ctx, put, ignore) }); err != nil {
			return err
		}
	}
	err := s.Retried(ctx, func() error {
		return s.Answer(ctx, &api.DeleteItem{Table: table, Key: it.old, Condition: plan.AStub}, ignore)
	})
	if is(err, exception.ConditionalCheckFailed) {
		return nil // it is gone, or another write has come late: no door shows it
	}
	return err
}

// NeedsRoom reports whether the new layout can refuse an item that the old one takes: the item has no room
// there, or its sort key tells no time.
func (t *Table) NeedsRoom() bool {
	return t.New.InDirectory() || t.Old.Rolls() || t.Old.Apart(t.New) || t.New.Logical.Stream.Enabled || t.New.LongestPlace() > t.Old.LongestPlace()
}

// Room reports whether a stored item moves. It returns an error if the item cannot move to its new
// place.
func (t *Table) Room(physical attribute.Item) (moves bool, err error) {
	key, shard, err := t.Old.Locate(physical)
	if err != nil {
		return false, err
	}
	now, err := t.New.Longest(key)
	if err != nil {
		return false, err
	}
	if !t.Old.Rolls() && !t.New.Rolls() { // to and from a rollover, all items move
		it, err := t.of(key)
		if err != nil || it == nil || shard != t.Old.Shard(key) {
			return false, err
		}
	}
	if err := t.New.CheckTime(key); err != nil {
		return true, err
	}
	if n := t.New.MovedTo(physical, now, math.MaxInt32).Size(); n > attribute.MaxItemSize {
		return true, exception.Invalid("the item with the key %s has no room for a longer shard number: it would have %d bytes of %d; make it shorter", key, n, attribute.MaxItemSize)
	}
	return true, nil
}
