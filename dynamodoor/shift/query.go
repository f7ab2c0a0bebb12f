// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// query carries out a Query. It merges the shards of both layouts.
func (s *Store) query(ctx context.Context, q *api.Query, use func(api.Response) error) error {
	t := s.Of(q.Table)
	if q.Index != "" {
		return s.queryIndex(ctx, q, t, use)
	}
	strong := *q
	if t.Step < reshard.Settled {
		strong.Consistent = true
	}
	p, err := plan.Make(&strong, s.in(true))
	if err != nil {
		return err
	}
	var resolve func([]plan.Row) ([]plan.Row, error)
	if t.Step < reshard.Settled {
		resolve = func(rows []plan.Row) ([]plan.Row, error) { return s.Resolve(ctx, t, rows) }
	}
	return s.Carry(ctx, p, &strong, resolve, use)
}

// Resolve returns the rows to show among rows of a Query, which are in the order of their sort
// keys. For an item that moves, the rows may contain the row of its old place, that of its new
// place, or both. A row from the old place was valid when it was read. If there is a stub without
// an item from the new place, Resolve reads the new place. It does so for the last row, too,
// because the page may not contain that row's other half.
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
	return s.read(ctx, it.t.New, it.now)
}

// scan carries out a Scan, or a Query of an index that is not sharded.
func (s *Store) scan(ctx context.Context, q api.Request, t *Table, use func(api.Response) error) error {
	sc, err := t.New.Scanning(q, t.Generation)
	if err != nil {
		return err
	}
	began, err := t.began(sc.Began)
	if err != nil {
		return err
	}
	if start := sc.Start(); start != nil {
		if err := s.know(ctx, t, start); err != nil {
			return err
		}
	}
	if err := sc.Over(t.Old, began >= reshard.Settled); err != nil {
		return err
	}
	var names []string
	if sc.Index != nil {
		names = plan.Fetched(t.New.Logical, sc.Read(), sc.Index)
	}
	out := sc.Answer()
	size := 0
	for next := sc.Request(nil); next != nil; {
		page, err := s.itemsPage(ctx, next)
		if err != nil {
			return err
		}
		if page.Capacity != nil {
			if out.Capacity == nil {
				out.Capacity = &api.ConsumedCapacity{Table: sc.Read().Table, Detail: page.Capacity.Detail, Display: page.Capacity.Display}
			}
			out.Capacity.Add(page.Capacity)
		}
		found := make([]attribute.Item, len(page.Items))
		all := make([]sight, len(page.Items))
		for i, text := range page.Items {
			if found[i], err = kept(text); err != nil {
				return err
			}
			if all[i].key, all[i].at, err = sc.Entry(found[i]); err != nil {
				return err
			}
			if sc.Index == nil {
				all[i].item = found[i]
			}
		}
		if err := s.decide(ctx, t, sc.Index, began, names, all); err != nil {
			return err
		}
		for i := range all {
			if !all[i].show {
				continue
			}
			shown := found[i]
			if all[i].newer != nil {
				shown = all[i].newer
			}
			size += sc.Show(out, entryOf(shown, names))
			if out.ScannedCount == sc.Read().Limit || size >= plan.PageSize {
				if out.LastKey, err = sc.Position(found[i]); err != nil {
					return err
				}
				return use(out)
			}
		}
		if page.LastKey != nil {
			next = sc.Request(page.LastKey)
			continue
		}
		more, err := sc.Next()
		if err != nil {
			return err
		}
		if next = nil; more {
			next = sc.Request(nil)
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
