// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// While others may move an item, the door writes to its old place on the condition that no stub is
// there, and gives the item a new stamp. A move takes the item only with the stamp with which the
// move read it. An update that only removes attributes cannot give a stamp to an item that does not
// exist, and must not create one. So it has one more condition: the item exists, or does not, as
// the door saw it.

func (s *Store) stamp() attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: plan.Stamp, Value: attribute.String(s.Stamp())})
}

// guardOf is the addition to a write at the old place of an item.
type guardOf struct {
	condition *expression.Condition
	stamp     attribute.Item // nil: none
	presence  bool           // the condition also says whether the item exists
}

// guard returns the addition to a write.
func (s *Store) guard(ctx context.Context, it *item, update *expression.Update) (guardOf, error) {
	g := guardOf{condition: plan.NoStub, stamp: s.stamp()}
	if !update.OnlyRemoves() {
		return g, nil
	}
	found, err := s.read(ctx, it.t.Old, it.old)
	if err != nil {
		return g, err
	}
	there := found != nil
	if g.presence = true; !there {
		g.stamp = nil
	}
	g.condition = plan.Both(g.condition, it.t.Old.There(there))
	return g, nil
}

// missed reports, for a write whose condition failed and the item then found at the place, whether
// the guard failed: a stub is there, or the item's presence has changed.
func (g *guardOf) missed(found attribute.Item) (stubbed, again bool) {
	if found != nil && plan.IsStub(found) {
		return true, false
	}
	return false, g.presence && (found != nil) != (g.stamp != nil)
}

// guarded carries out a write at the old place of an item if no stub is there.
func (s *Store) guarded(ctx context.Context, q api.Request, it *item, use func(api.Response) error) (stubbed bool, err error) {
	for range mostActs {
		p, err := plan.Make(q, s.in(false))
		if err != nil {
			return false, err
		}
		d, ok := p.(*plan.Direct)
		if !ok {
			return false, errors.New("a write of one item is more than one request")
		}
		var update *expression.Update
		if u, ok := d.Request.(*api.UpdateItem); ok {
			update = u.Update
		}
		g, err := s.guard(ctx, it, update)
		if err != nil {
			return false, err
		}
		request, asked := g.onto(d.Request)
		answered, err := s.Announce(ctx, q, d.Buckets)
		if err != nil {
			return false, err
		}
		err = s.Answer(ctx, request, func(a api.Response) error {
			visible, err := d.Answer(a)
			if err == nil {
				err = answered()
			}
			if err != nil {
				return err
			}
			return use(visible)
		})
		var e *exception.Error
		if !errors.As(err, &e) || e.Kind != exception.ConditionalCheckFailed {
			return false, d.Err(err)
		}
		found, bad := kept(e.Item)
		if bad != nil {
			return false, bad
		}
		stubbed, again := g.missed(found)
		switch {
		case stubbed:
			return true, nil
		case again:
			continue
		}
		shown := *e
		if shown.Raw = nil; !asked {
			shown.Item = nil
		}
		return false, d.Err(&shown)
	}
	return false, errBusy
}

// onto returns a physical write with the guard, and whether its client asked for the item if the
// client's own condition fails.
func (g *guardOf) onto(q api.Request) (_ api.Request, asked bool) {
	switch q := q.(type) {
	case *api.PutItem:
		p := *q
		asked, p.ReturnOnFailure = p.ReturnOnFailure, true
		p.Item, p.Condition = with(p.Item, g.stamp), plan.Both(g.condition, p.Condition)
		return &p, asked
	case *api.DeleteItem:
		p := *q
		asked, p.ReturnOnFailure = p.ReturnOnFailure, true
		p.Condition = plan.Both(g.condition, p.Condition)
		return &p, asked
	case *api.UpdateItem:
		p := *q
		asked, p.ReturnOnFailure = p.ReturnOnFailure, true
		p.Condition = plan.Both(g.condition, p.Condition)
		if g.stamp != nil {
			p.Update = expression.SetAttributes(g.stamp, p.Update)
		}
		return &p, asked
	}
	return q, false
}

// with returns an item with the attributes of another added.
func with(item, more attribute.Item) attribute.Item {
	for _, a := range more {
		item = item.With(a.Name, a.Value)
	}
	return item
}

// action returns an action of a transaction with the guard.
func (g *guardOf) action(a api.TransactAction) api.TransactAction {
	a.Condition, a.ReturnOnFailure = plan.Both(g.condition, a.Condition), true
	switch {
	case a.Kind == api.TransactPut:
		a.Item = with(a.Item, g.stamp)
	case a.Kind == api.TransactUpdate && g.stamp != nil:
		a.Update = expression.SetAttributes(g.stamp, a.Update)
	}
	return a
}
