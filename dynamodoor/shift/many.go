// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// The door reads and writes the moving items of a batch one by one, and the others as usual.

// part splits a table's items into those that do not move and those that do.
func part[T any](t *Table, all []T, key func(T) attribute.Item) (stay, going []T, err error) {
	if t == nil {
		return all, nil, nil
	}
	seen := make(map[string]bool, len(all))
	for _, x := range all {
		k := string(t.Old.KeyOf(key(x)).Encode())
		if seen[k] {
			return nil, nil, plan.ErrRepeated
		}
		seen[k] = true
		it, err := t.of(key(x))
		switch {
		case err != nil:
			return nil, nil, err
		case it == nil:
			stay = append(stay, x)
		default:
			going = append(going, x)
		}
	}
	return stay, going, nil
}

// batchGet carries out a BatchGetItem.
func (s *Store) batchGet(ctx context.Context, q *api.BatchGetItem, use func(api.Response) error) error {
	if err := s.judge(q); err != nil {
		return err
	}
	rest := *q
	rest.Tables = nil
	moving := make([][]attribute.Item, len(q.Tables))
	out := &api.BatchGetResponse{Tables: make([]api.BatchGetItems, len(q.Tables))}
	for i, bt := range q.Tables {
		out.Tables[i].Table = bt.Table
		var err error
		if bt.Keys, moving[i], err = part(s.Of(bt.Table), bt.Keys, func(k attribute.Item) attribute.Item { return k }); err != nil {
			return err
		}
		if len(bt.Keys) > 0 {
			rest.Tables = append(rest.Tables, bt)
		}
	}
	at := func(name string) *api.BatchGetItems {
		for i := range out.Tables {
			if out.Tables[i].Table == name {
				return &out.Tables[i]
			}
		}
		return &out.Tables[0]
	}
	if len(rest.Tables) > 0 {
		err := s.carry(ctx, &rest, false, func(a api.Response) error {
			r := a.(*api.BatchGetResponse)
			for _, found := range r.Tables {
				to := at(found.Table)
				for _, text := range found.Items {
					to.Items = append(to.Items, append(attribute.Encoded{}, text...))
				}
			}
			for _, u := range r.Unprocessed {
				left := u
				left.Keys = nil
				for _, k := range u.Keys {
					own, err := kept(k.Encode())
					if err != nil {
						return err
					}
					left.Keys = append(left.Keys, own)
				}
				out.Unprocessed = append(out.Unprocessed, left)
			}
			out.Capacity = append(out.Capacity, r.Capacity...)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, bt := range q.Tables {
		for _, key := range moving[i] {
			get := &api.GetItem{Table: bt.Table, Key: key, Projection: bt.Projection, Consistent: true, Capacity: q.Capacity}
			err := s.get(ctx, get, func(a api.Response) error {
				r := a.(*api.ItemResponse)
				if r.Item != nil {
					out.Tables[i].Items = append(out.Tables[i].Items, append(attribute.Encoded{}, r.Item...))
				}
				out.Capacity = addCapacity(out.Capacity, r.Capacity)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return use(out)
}

// addCapacity adds the capacity that one request consumed to that of its table.
func addCapacity(all []api.ConsumedCapacity, c *api.ConsumedCapacity) []api.ConsumedCapacity {
	if c == nil {
		return all
	}
	for i := range all {
		if all[i].Table == c.Table {
			all[i].Add(c)
			return all
		}
	}
	return append(all, *c)
}

// batchWrite carries out a BatchWriteItem.
func (s *Store) batchWrite(ctx context.Context, q *api.BatchWriteItem, use func(api.Response) error) error {
	if err := s.judge(q); err != nil {
		return err
	}
	rest := *q
	rest.Tables = nil
	out := &api.BatchWriteResponse{}
	keyOf := func(w api.BatchWrite) attribute.Item {
		if w.Key != nil {
			return w.Key
		}
		return w.Item
	}
	var each []func() error
	for _, bt := range q.Tables {
		stay, moving, err := part(s.Of(bt.Table), bt.Writes, keyOf)
		if err != nil {
			return err
		}
		name := bt.Table
		for _, w := range moving {
			each = append(each, func() error {
				var one api.Request = &api.PutItem{Table: name, Item: w.Item, Write: api.Write{Capacity: q.Capacity}}
				if w.Key != nil {
					one = &api.DeleteItem{Table: name, Key: w.Key, Write: api.Write{Capacity: q.Capacity}}
				}
				return s.write(ctx, one, s.Of(name), keyOf(w), func(a api.Response) error {
					out.Capacity = addCapacity(out.Capacity, a.(*api.ItemResponse).Capacity)
					return nil
				})
			})
		}
		if bt.Writes = stay; len(stay) > 0 {
			rest.Tables = append(rest.Tables, bt)
		}
	}
	for _, do := range each {
		if err := do(); err != nil {
			return err
		}
	}
	if len(rest.Tables) == 0 {
		return use(out)
	}
	return s.carry(ctx, &rest, false, func(a api.Response) error {
		r := a.(*api.BatchWriteResponse)
		for i := range out.Capacity {
			r.Capacity = addCapacity(r.Capacity, &out.Capacity[i])
		}
		return use(r)
	})
}
