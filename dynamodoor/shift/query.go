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

// query carries out a Query. It merges the shards of both layouts.
func (s *Store) query(ctx context.Context, q *api.Query, use func(api.Response) error) error {
	t := s.Of(q.Table)
	strong := *q
	if t.Step < reshard.Settled {
		strong.Consistent = true
	}
	return s.carry(ctx, &strong, true, use)
}

// Resolve returns the rows to show among rows of a Query, which are in the order of their sort
// keys. For an item that moves, the rows may contain what is at its old place, at its new place, or
// both. A row from the old place was valid when it was read. If there is a stub without an item
// from the new place, Resolve reads the new place. It does so for the last row, too, because the
// page may not contain that row's other half.
func (s *Store) Resolve(ctx context.Context, t *Table, rows []plan.Row) ([]plan.Row, error) {
	out := rows[:0:0]
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].Sort.Equal(rows[i].Sort) {
			j++
		}
		row, err := s.resolve(ctx, t, rows[i:j], j == len(rows))
		if err != nil {
			return nil, err
		}
		if row != nil {
			out = append(out, *row)
		}
		i = j
	}
	return out, nil
}

// resolve returns the row of one item, or nil if there is none.
func (s *Store) resolve(ctx context.Context, t *Table, rows []plan.Row, last bool) (*plan.Row, error) {
	it, err := t.of(rows[0].Key)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return &rows[0], nil
	}
	at := t.New.Shard(it.key)
	var old *plan.Row
	for i := range rows {
		switch {
		case rows[i].At == at && !rows[i].Stub:
			return &rows[i], nil
		case rows[i].At != at:
			old = &rows[i]
		}
	}
	if old == nil {
		return nil, nil
	}
	if !old.Stub && !last && t.Step < reshard.Closing {
		return old, nil
	}
	found, err := s.newest(ctx, it, !old.Stub)
	switch {
	case err != nil:
		return nil, err
	case found == nil && old.Stub:
		return nil, nil
	case found == nil:
		return old, nil
	}
	row := *old
	shown := plan.Visible(found)
	row.Text, row.Size, row.At, row.Stub = shown.Encode(), shown.Size(), at, false
	return &row, nil
}

// newest returns the item at the new place. If the old place has the item and reads must move what
// they find there, newest moves the item first.
func (s *Store) newest(ctx context.Context, it *item, inOld bool) (attribute.Item, error) {
	if inOld && it.t.Step == reshard.Closing {
		if _, err := s.settle(ctx, it, reshard.Read(it.t.Step)); err != nil {
			return nil, err
		}
	}
	return s.read(ctx, it, it.now)
}

// errBegun is the error for a Scan that began before a change of the table's layout.
var errBegun = exception.Invalid("The provided starting key is invalid: the Scan began before the table got another layout, and cannot be gone on with; begin it anew")

// scan carries out a Scan.
func (s *Store) scan(ctx context.Context, q *api.Scan, use func(api.Response) error) error {
	t := s.Of(q.Table)
	sc, err := t.New.Scanning(q, t.Generation, t.Old)
	if err != nil {
		return err
	}
	switch {
	case sc.Began > t.Generation:
		return ErrBehind
	case sc.Began < t.Floor:
		return errBegun
	}
	began := reshard.None
	if t.Settled > 0 && sc.Began >= t.Settled || t.Step == reshard.None {
		began = reshard.Settled
	}
	out := sc.Answer()
	size := 0
	for next := sc.Request; next != nil; {
		page, err := s.itemsPage(ctx, next)
		if err != nil {
			return err
		}
		if page.Capacity != nil {
			if out.Capacity == nil {
				out.Capacity = &api.ConsumedCapacity{Table: q.Table, Detail: page.Capacity.Detail, Display: page.Capacity.Display}
			}
			out.Capacity.Add(page.Capacity)
		}
		for _, text := range page.Items {
			found, err := kept(text)
			if err != nil {
				return err
			}
			shown, err := s.shows(ctx, t, began, found)
			if err != nil {
				return err
			}
			if shown == nil {
				continue
			}
			sc.Show(out, shown)
			size += shown.Size()
			if out.ScannedCount == q.Limit || size >= plan.PageSize {
				if out.LastKey, err = sc.Position(found); err != nil {
					return err
				}
				return use(out)
			}
		}
		if next = nil; page.LastKey != nil {
			more := *sc.Request
			more.Start = page.LastKey
			next = &more
		}
	}
	return use(out)
}

// itemsPage reads a page of items into its own memory.
func (s *Store) itemsPage(ctx context.Context, q api.Request) (*api.ItemsResponse, error) {
	page := &api.ItemsResponse{}
	err := s.Retried(ctx, func() error {
		return s.Answer(ctx, q, func(a api.Response) (err error) {
			r := a.(*api.ItemsResponse)
			page.Items = page.Items[:0]
			for _, text := range r.Items {
				page.Items = append(page.Items, append(attribute.Encoded{}, text...))
			}
			page.Capacity = nil
			if r.Capacity != nil {
				c := *r.Capacity
				page.Capacity = &c
			}
			page.LastKey = nil
			if r.LastKey != nil {
				page.LastKey, err = kept(r.LastKey.Encode())
			}
			return err
		})
	})
	return page, err
}

// shows returns what a Scan shows for a physical item, or nil for nothing.
func (s *Store) shows(ctx context.Context, t *Table, began reshard.Step, found attribute.Item) (attribute.Item, error) {
	key, shard, err := t.New.Locate(found)
	if err != nil {
		return nil, err
	}
	it, err := t.of(key)
	if err != nil {
		var e *exception.Error
		if errors.As(err, &e) {
			return nil, nil // the table cannot have such a key
		}
		return nil, err
	}
	if it == nil {
		if shard != t.New.Shard(key) {
			return nil, nil
		}
		return found, nil
	}
	atOld := shard == t.Old.Shard(key)
	if !atOld && shard != t.New.Shard(key) {
		return nil, nil
	}
	seen := func(x attribute.Item) reshard.Seen {
		switch {
		case x == nil:
			return reshard.Nothing
		case plan.IsStub(x):
			return reshard.Stubbed
		}
		return reshard.Item
	}
	old, now := found, found
	if began < reshard.Settled {
		if atOld {
			now, err = s.newest(ctx, it, seen(found) == reshard.Item)
		} else {
			old, err = s.read(ctx, it, it.old)
		}
		if err != nil {
			return nil, err
		}
	} else if atOld {
		now = nil
	}
	if !reshard.Shows(began, atOld, seen(old), seen(now)) {
		return nil, nil
	}
	if now != nil && seen(now) == reshard.Item {
		return now, nil
	}
	return old, nil
}
