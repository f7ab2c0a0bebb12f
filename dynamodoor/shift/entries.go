// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// A Scan, and a read of an index, may find an item at either of its places, or at both. The door
// looks at the other place, and shows the item once.
//
// The stub of an item that has moved has the item's keys in indexes. So it has an entry where the
// item's entry was, and a read of the index page by page shows the item there, whatever has moved
// between two pages. An index can be behind its table: what the table has decides, and not the entry.

// sight is what a read has found at one of an item's places.
type sight struct {
	key  attribute.Item // logical; for an entry of an index, with the index's key
	at   int            // the item's shard in the table
	item attribute.Item // what the table has there; nil for an entry of an index

	show  bool
	newer attribute.Item // what to show in place of what was found; nil: that

	it       *item
	atOld    bool
	old, now attribute.Item
}

func seenOf(item attribute.Item) reshard.Seen {
	switch {
	case item == nil:
		return reshard.Nothing
	case plan.IsStub(item):
		return reshard.Stubbed
	}
	return reshard.Item
}

// decide decides which of the entries that a read has found it shows. began says whether the read
// began when the change was settled. ix is the index that is read, nil for the table. names are the
// attributes to read where the door looks; nil: all.
func (s *Store) decide(ctx context.Context, t *Table, ix *schema.Index, began reshard.Step, names []string, all []sight) error {
	if t.Step == reshard.None && t.New.Rolls() {
		for i := range all {
			all[i].show = all[i].at > t.New.Layout.Base
		}
		return nil
	}
	keys := make([]attribute.Item, len(all))
	for i := range all {
		keys[i] = all[i].key
	}
	if err := s.know(ctx, t, keys...); err != nil {
		return err
	}
	var moving []*sight
	for i := range all {
		a := &all[i]
		it, err := t.of(a.key)
		switch {
		case err != nil && !isException(err):
			return err
		case err != nil: // the table cannot have such a key
		case it == nil:
			a.show = a.at == t.New.Shard(a.key)
		case a.at != t.Old.Shard(a.key) && a.at != t.New.Shard(a.key):
		case began >= reshard.Settled:
			a.show = reshard.Shows(began, a.at == t.Old.Shard(a.key), reshard.Nothing, reshard.Item, false, true)
		default:
			a.it, a.atOld = it, a.at == t.Old.Shard(a.key)
			moving = append(moving, a)
		}
	}
	if len(moving) == 0 {
		return nil
	}
	var olds, news []*sight
	for _, a := range moving {
		switch {
		case a.atOld && ix == nil:
			a.old = a.item
		default:
			olds = append(olds, a)
		}
		if a.atOld {
			news = append(news, a)
		} else {
			a.now = a.item
		}
	}
	if err := s.look(ctx, t.Old, olds, names, func(a *sight) (key attribute.Item, found *attribute.Item) { return a.it.old, &a.old }); err != nil {
		return err
	}
	for _, a := range news {
		if t.Step == reshard.Closing && seenOf(a.old) == reshard.Item {
			if _, err := s.settle(ctx, a.it, reshard.Read(t.Step)); err != nil {
				return err
			}
		}
	}
	if err := s.look(ctx, t.New, news, names, func(a *sight) (key attribute.Item, found *attribute.Item) { return a.it.now, &a.now }); err != nil {
		return err
	}
	for _, a := range moving {
		a.decide(ix, began)
	}
	return nil
}

// decide decides whether to show an item that moves, now that both of its places are known.
func (a *sight) decide(ix *schema.Index, began reshard.Step) {
	fits := func(item attribute.Item) bool {
		return item != nil && !plan.IsEmptyStub(item) && (ix == nil || plan.HasEntry(ix, item, a.key))
	}
	now := seenOf(a.now)
	if ix != nil && !a.atOld {
		now = reshard.Item // the entry itself
	}
	if a.show = reshard.Shows(began, a.atOld, seenOf(a.old), now, fits(a.old), fits(a.now)); !a.show || !a.atOld {
		return
	}
	if a.newer = a.now; a.newer == nil {
		a.newer = a.old
	}
}

func isException(err error) bool { return exception.Of(err).Kind != exception.InternalServerError }

// look reads one of the places of items that move, in a table's old or new layout.
func (s *Store) look(ctx context.Context, in *plan.Table, all []*sight, names []string, at func(*sight) (key attribute.Item, found *attribute.Item)) error {
	for len(all) > 0 {
		some := all[:min(len(all), api.MaxBatchGet)]
		all = all[len(some):]
		found := make(map[string][]*attribute.Item, len(some))
		part := api.BatchGetTable{Table: in.Physical, Consistent: true}
		if names != nil {
			part.Projection = in.StoredAs(names)
		}
		for _, a := range some {
			key, to := at(a)
			text := string(key.Encode())
			if found[text] == nil {
				part.Keys = append(part.Keys, key)
			}
			found[text] = append(found[text], to)
		}
		if err := s.batch(ctx, part, func(item attribute.Item) {
			for _, to := range found[string(in.StoredKey(item).Encode())] {
				*to = item
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// batch reads items of a physical table with the door's rights: the client may have the right to
// read only an index.
func (s *Store) batch(ctx context.Context, part api.BatchGetTable, found func(attribute.Item)) error {
	return s.Retried(ctx, func() error {
		var left []attribute.Item
		err := s.Own(ctx, &api.BatchGetItem{Tables: []api.BatchGetTable{part}}, func(a api.Response) error {
			r := a.(*api.BatchGetResponse)
			for _, t := range r.Tables {
				for _, text := range t.Items {
					item, err := kept(text)
					if err != nil {
						return err
					}
					found(item)
				}
			}
			for _, u := range r.Unprocessed {
				for _, key := range u.Keys {
					own, err := kept(key.Encode())
					if err != nil {
						return err
					}
					left = append(left, own)
				}
			}
			return nil
		})
		if err == nil && len(left) > 0 {
			part.Keys = left
			return exception.New(exception.ProvisionedThroughputExceeded, "%d items were not read", len(left))
		}
		return err
	})
}

// began returns the step by which a read that goes on began: reshard.Settled if it shows only new
// places. It returns an error if the read cannot go on.
func (t *Table) began(generation int64) (reshard.Step, error) {
	switch {
	case generation > t.Generation:
		return reshard.None, ErrBehind
	case generation < t.Floor:
		return reshard.None, errBegun
	case t.Settled > 0 && generation >= t.Settled, t.Step == reshard.None:
		return reshard.Settled, nil
	}
	return reshard.None, nil
}

// errBegun is the error for a read that began before a change of the table's layout.
var errBegun = exception.Invalid("The provided starting key is invalid: it is from before the table got another layout, or lacks the attributes evenkeel.began and evenkeel.pk, " +
	"which LastEvaluatedKey has since then, and the read cannot be gone on with; begin it anew")

// queryIndex carries out a Query of an index.
func (s *Store) queryIndex(ctx context.Context, q *api.Query, t *Table, use func(api.Response) error) error {
	ix, _ := t.New.Logical.Index(q.Index)
	if ix == nil || t.New.InStoresOrder(ix) {
		return s.scan(ctx, q, t, use)
	}
	generation := t.Generation
	if q.Start != nil {
		var err error
		if generation, err = t.New.Began(q.Start); err != nil {
			return err
		}
	}
	began, err := t.began(generation)
	if err == nil && q.Start != nil {
		err = s.know(ctx, t, q.Start)
	}
	if err != nil {
		return err
	}
	by := t.New
	if began < reshard.Settled {
		by = by.MovingFrom(t.Old)
	}
	p, err := plan.Make(q, func(string) *plan.Table { return by })
	if err != nil {
		return err
	}
	names := plan.Fetched(t.New.Logical, &q.Read, ix)
	return s.Carry(ctx, p, q, func(rows []plan.Row) ([]plan.Row, error) { return s.resolveEntries(ctx, t, ix, began, names, rows) }, use)
}

// resolveEntries returns the rows to show among rows of an index.
func (s *Store) resolveEntries(ctx context.Context, t *Table, ix *schema.Index, began reshard.Step, names []string, rows []plan.Row) ([]plan.Row, error) {
	all := make([]sight, len(rows))
	for i := range rows {
		all[i] = sight{key: rows[i].Key, at: rows[i].At}
	}
	if err := s.decide(ctx, t, ix, began, names, all); err != nil {
		return nil, err
	}
	out := rows[:0:0]
	for i := range rows {
		if !all[i].show {
			continue
		}
		row := rows[i]
		if newer := all[i].newer; newer != nil {
			shown := entryOf(newer, names)
			row.Text, row.Size = shown.Encode(), shown.Size()
		}
		out = append(out, row)
	}
	return out, nil
}

// entryOf returns the attributes of an item that an index has; names is nil for all.
func entryOf(item attribute.Item, names []string) attribute.Item {
	if names != nil {
		item = item.Only(names...)
	}
	return plan.Visible(item)
}
