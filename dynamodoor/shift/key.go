// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// A change of one key's layout concerns only the items of that key. The mover reads the key's
// places one after the other.

// page reads a page of the items that a change concerns, after a position. It returns the position
// after the page, or nil if there are no more items.
func (s *Store) page(ctx context.Context, t *Table, from attribute.Item, limit int) (items []attribute.Encoded, next attribute.Item, err error) {
	if t.Key.Kind() == attribute.Invalid {
		in := t.side(from)
		page, err := s.itemsPage(ctx, &api.Scan{Read: api.Read{Table: in.Physical, Start: in.After(from), Limit: limit, Consistent: true}})
		if err != nil {
			return nil, nil, err
		}
		if page.LastKey == nil && t.Old.Apart(t.New) && in == t.Old && t.Step == reshard.Closing {
			return page.Items, t.New.Beginning(), nil // the items that have arrived are counted, too
		}
		return page.Items, page.LastKey, nil
	}
	places := t.Old.PlacesBeside(t.New, t.Key)
	if from == nil {
		from = places[0]
	}
	page, err := s.itemsPage(ctx, t.Old.ItemsAt(from, limit))
	if err != nil || page.LastKey != nil {
		return page.Items, page.LastKey, err
	}
	at := slices.IndexFunc(places, func(p attribute.Item) bool { return p[0].Value.Equal(partitionOf(from, p[0].Name)) })
	if at >= 0 && at+1 < len(places) {
		next = places[at+1]
	}
	return page.Items, next, nil
}

// side returns the one of two physical tables that has a stored item, or a mover's position.
func (t *Table) side(item attribute.Item) *plan.Table {
	if item != nil && t.Old.Apart(t.New) && t.New.Holds(item) {
		return t.New
	}
	return t.Old
}

func partitionOf(key attribute.Item, name string) attribute.Value {
	v, _ := key.Get(name)
	return v
}

// Each visits the items of a change of one key.
func (s *Store) Each(ctx context.Context, t *Table, visit func(attribute.Item) error) error {
	var from attribute.Item
	for {
		items, next, err := s.page(ctx, t, from, 0)
		if err != nil {
			return err
		}
		for _, text := range items {
			item, err := kept(text)
			if err != nil {
				return err
			}
			if err := visit(item); err != nil {
				return err
			}
		}
		if from = next; from == nil {
			return nil
		}
	}
}
