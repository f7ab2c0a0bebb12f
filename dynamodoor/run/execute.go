// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// execute carries out a request on items.
func (r *Router) execute(ctx context.Context, q api.Request, use func(api.Response) error) error {
	for attempt := 1; ; attempt++ {
		var by pinned
		err := r.attempt(ctx, q, &by, func(a api.Response) error {
			ok, err := r.holds(ctx, &by)
			if err == nil && !ok {
				err = errOver
			}
			if err != nil {
				return err
			}
			return use(a)
		})
		done := err == errOver
		if err != nil && !done && len(by.used) > 0 && verdict(err) {
			ok, e := r.holds(ctx, &by)
			if e != nil {
				err = e
			} else if !ok {
				err = errOver
			}
		}
		if err == errOver && (done && !onlyReads(q) || attempt == attempts) {
			err = unknown(&by)
		}
		by.release()
		if err != errOver {
			return err
		}
	}
}

// attempt carries out a request once, by entries that it pins.
func (r *Router) attempt(ctx context.Context, q api.Request, by *pinned, use func(api.Response) error) error {
	p, err := r.plan(ctx, q, by)
	if err != nil {
		return r.permitted(ctx, q, err)
	}
	if by.shifts(q) {
		return r.shifted(ctx, q, by, use)
	}
	if s, ok := p.(*plan.Search); ok {
		return r.search(ctx, s, q, by, use)
	}
	return r.carryOut(ctx, p, q, use)
}

// carryOut carries out the plan of a request.
func (r *Router) carryOut(ctx context.Context, p plan.Plan, q api.Request, use func(api.Response) error) (err error) {
	switch p := p.(type) {
	case nil:
		return r.backend.Answer(ctx, q, use)
	case *plan.Direct:
		err = r.backend.Answer(ctx, p.Request, func(a api.Response) error {
			visible, err := p.Answer(a)
			if err != nil {
				return err
			}
			return use(visible)
		})
	case *plan.Fanout:
		err = r.merge(ctx, p, nil, use)
	default:
		err = fmt.Errorf("a plan of type %T", p)
	}
	if err != nil {
		return p.Err(err)
	}
	return nil
}

// plan makes the plan of a request on items. Another door may have changed a table:
// what seems wrong is looked at again with the table as it is now.
func (r *Router) plan(ctx context.Context, q api.Request, by *pinned) (plan.Plan, error) {
	for again := false; ; again = true {
		stale, changed := "", false
		by.release()
		p, err := r.planWith(ctx, q, func(e *entry) {
			changed = changed || !r.pin(by, e)
			if r.lease > 0 && e.stale() {
				stale = e.Table
			}
		})
		if changed {
			again = false
			continue
		}
		if err == nil || again || stale == "" || exception.Of(err).Kind != exception.Validation {
			return p, err
		}
		if _, err := r.refresh(ctx, stale); err != nil {
			return nil, doorError(err)
		}
	}
}

// planWith makes the plan, and tells of which sharded tables it is.
func (r *Router) planWith(ctx context.Context, q api.Request, of func(*entry)) (plan.Plan, error) {
	all := *r.tables.Load()
	var wrong error
	p, err := plan.Make(q, func(name string) *plan.Table {
		name = simpleName(name)
		if name == catalog.Table {
			wrong = exception.New(exception.ResourceNotFound, "Requested resource not found")
			return nil
		}
		e := all[name]
		if e == nil {
			return nil
		}
		if e.pins != nil {
			of(e)
		}
		if e.filling() && (r.lease == 0 || time.Since(e.described) > glance) {
			if e, wrong = r.refresh(ctx, name); wrong != nil || e == nil {
				return nil
			}
		}
		if e.wrong != nil {
			wrong = e.wrong
			return nil
		}
		return e.table
	})
	if wrong != nil {
		return nil, wrong
	}
	return p, err
}
