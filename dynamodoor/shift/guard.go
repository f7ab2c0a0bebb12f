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

// A write in an old place while others may move what is there is done on condition that no
// stub is there, and gives the item another stamp: who moves the item takes it only with
// the stamp that it was read with. An update that only removes can give no stamp to an item
// that is not there, and must make none: it is done on condition that the item is there, or
// is not, whichever was seen.

func (s *Store) stamp() attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: plan.Stamp, Value: attribute.String(s.Stamp())})
}

// guardOf is what is added to a write in the old place of an item.
type guardOf struct {
	condition *expression.Condition
	stamp     attribute.Item // nil: none
	presence  bool           // the condition is also about whether the item is there
}

// guard returns what is added to a write.
func (s *Store) guard(ctx context.Context, it *item, update *expression.Update) (guardOf, error) {
	g := guardOf{condition: plan.NoStub, stamp: s.stamp()}
	if !update.OnlyRemoves() {
		return g, nil
	}
	found, err := s.read(ctx, it, it.old)
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

// missed tells of a write whose condition failed, with what is in the place, whether it was
// the guard that failed: a stub is there, or the presence of the item is another.
func (g *guardOf) missed(found attribute.Item) (stubbed, again bool) {
	if found != nil && plan.IsStub(found) {
		return true, false
	}
	return false, g.presence && (found != nil) != (g.stamp != nil)
}

// guarded carries out a write in the old place of an item, if no stub is there.
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
		err = s.Answer(ctx, request, func(a api.Response) error {
			visible, err := d.Answer(a)
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

// onto returns a physical write with the guard, and whether its client has asked for the
// item that its own condition does not hold of.
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

// with is an item with the attributes of another.
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
