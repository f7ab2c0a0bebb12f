// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Do carries out a request on items.
func (r *Runner) Do(ctx context.Context, q api.Request, use func(api.Response) error) error {
	for attempt := 1; ; attempt++ {
		var by uses
		err := r.attempt(ctx, q, &by, func(a api.Response) error {
			ok, err := r.hold(ctx, q, &by)
			if err == nil && !ok {
				err = errOver
			}
			if err != nil {
				return err
			}
			return use(a)
		})
		done := err == errOver
		if err != nil && !done && by.Any() && Verdict(err) {
			ok, e := r.hold(ctx, q, &by)
			if e != nil {
				err = e
			} else if !ok {
				err = errOver
			}
		}
		if err == errOver && (done && !OnlyReads(q) || attempt == attempts) {
			err = Unknown(&by.Pinned)
		}
		by.Release()
		if err != errOver {
			return err
		}
	}
}

// errOver reports that an answer does not count.
var errOver = exception.New(exception.InternalServerError, "the table was changed meanwhile")

// attempts is the number of times that a read is tried because of errOver.
const attempts = 8

// hold reports, after the store has answered, whether what a request used was valid within a lease of
// now.
func (r *Runner) hold(ctx context.Context, q api.Request, by *uses) (bool, error) {
	if ok, err := r.Tables.Holds(ctx, &by.Pinned); !ok || err != nil || by.rolled == nil {
		return ok, err
	}
	return r.rolledHold(ctx, q, by)
}

// attempt carries out a request once. It pins the entries that the request uses.
func (r *Runner) attempt(ctx context.Context, q api.Request, by *uses, use func(api.Response) error) error {
	p, err := r.plan(ctx, q, by)
	if err != nil {
		return r.Permitted(ctx, q, err)
	}
	if by.Shifts(q) {
		return r.shifted(ctx, q, by, use)
	}
	if d, ok := p.(*plan.Direct); ok && d.Filled != nil {
		if err := r.fill(ctx, d, q, by, use); err != errAgain {
			return err
		}
		return r.attempt(ctx, q, by, use)
	}
	if s, ok := p.(*plan.Search); ok {
		return r.search(ctx, s, q, by, use)
	}
	return r.carryOut(ctx, p, q, use)
}

// carryOut carries out the plan of a request.
func (r *Runner) carryOut(ctx context.Context, p plan.Plan, q api.Request, use func(api.Response) error) (err error) {
	switch p := p.(type) {
	case nil:
		return r.Backend.Answer(ctx, q, use)
	case *plan.Direct:
		var began time.Time
		if p.Buckets != nil {
			began = r.Now()
		}
		if err := r.announce(ctx, q, p.Buckets); err != nil {
			return err
		}
		err = r.Backend.Answer(ctx, p.Request, func(a api.Response) error {
			visible, err := p.Answer(a)
			if err == nil {
				err = r.announced(ctx, q, p.Buckets, began)
			}
			if err != nil {
				return err
			}
			return use(visible)
		})
	case *plan.Fanout:
		err = r.fanOut(ctx, p, nil, use)
	default:
		err = fmt.Errorf("a plan of type %T", p)
	}
	if err != nil {
		return p.Err(err)
	}
	return nil
}

// plan makes the plan of a request on items. Another door may have changed a table. So if the plan
// is an error and the door's knowledge may be stale, plan describes the table again and plans once
// more.
func (r *Runner) plan(ctx context.Context, q api.Request, by *uses) (plan.Plan, error) {
	by.rolled = nil
	for again := false; ; again = true {
		stale, changed := "", false
		by.Release()
		by.missing = nil
		of := func(e *tables.Entry) {
			changed = changed || !r.Tables.Pin(&by.Pinned, e)
			if r.Tables.Shared() && r.Tables.Stale(e) {
				stale = e.Table
			}
		}
		plain := func(name string) {
			if r.Tables.Shared() {
				by.Plain(name)
			}
		}
		p, err := r.planWith(ctx, q, by, false, of, plain)
		if err == nil && by.ToRollover() {
			_, _ = r.planWith(ctx, q, by, true, of, plain) // it notes the partition keys; package shift reports errors
		}
		if err == nil && by.missing != nil {
			if err := r.readMissing(ctx, q, by); err != nil {
				return nil, err
			}
			changed = true
		}
		if changed {
			again = false
			continue
		}
		if err == nil || again || stale == "" || exception.Of(err).Kind != exception.Validation {
			return p, err
		}
		if _, err := r.Tables.Refresh(ctx, stale); err != nil {
			return nil, tables.DoorError(err)
		}
	}
}

// planWith makes the plan. It calls of for each sharded table in it, and plain for each other one. If now is
// true, tables that get or leave strategy rollover have their new layouts.
func (r *Runner) planWith(ctx context.Context, q api.Request, by *uses, now bool, of func(*tables.Entry), plain func(name string)) (plan.Plan, error) {
	all := r.Tables.AllFor(&by.Pinned)
	var wrong error
	p, err := plan.Make(q, func(name string) *plan.Table {
		name = api.TableName(name)
		if catalog.Owns(name) {
			wrong = exception.New(exception.ResourceNotFound, "Requested resource not found")
			return nil
		}
		e := all[name]
		if e == nil {
			plain(name)
			return nil
		}
		if e.InUse() {
			of(e)
		}
		if r.Tables.Unready(e) {
			if e, wrong = r.Tables.Refresh(ctx, name); wrong != nil || e == nil {
				return nil
			}
		}
		if e.Wrong != nil {
			wrong = e.Wrong
			return nil
		}
		t := e.Plan
		if now && e.Freezes() > 0 {
			t = e.Shift.New
		}
		if t.Rolls() {
			return t.Rolling(func(name string, hash attribute.Value) *plan.Rolled {
				return r.bounds(by, missingKey{name, t, hash, e.Freezes()})
			})
		}
		return t
	})
	if wrong != nil {
		return nil, wrong
	}
	return p, err
}

// OnlyReads reports whether a request changes no item.
func OnlyReads(q api.Request) bool { return !api.OperationOf(q.Operation()).Writes }

// Refused reports whether an error says that the store did nothing, because of the state of the
// table.
func Refused(err error) bool {
	return exception.Is(err, exception.Validation) || exception.Is(err, exception.ResourceNotFound) || exception.Is(err, exception.TransactionCanceled)
}

// Verdict reports whether an error is the store's decision on a request that it has examined and
// not executed.
func Verdict(err error) bool {
	return Refused(err) || exception.Is(err, exception.ConditionalCheckFailed)
}

// Unknown returns the error of a write whose outcome nobody knows.
func Unknown(p *tables.Pinned) error {
	name := p.First()
	if name != "" {
		name = " " + name
	}
	return exception.New(exception.InternalServerError, "whether the write was done is not known: table%s was changed while it was under way, longer than the door's "+
		"knowledge of it lasts; read the item, or try again", name)
}
