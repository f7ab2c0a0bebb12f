// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// ShiftStore returns the store on which package shift carries out requests, with the entries in by.
func (r *Runner) ShiftStore(by *tables.Pinned, until time.Time) *shift.Store {
	return r.shiftStore(by, until, new(bounds))
}

func (r *Runner) shiftStore(by *tables.Pinned, until time.Time, known *bounds) *shift.Store {
	s := &shift.Store{
		Answer:  r.Backend.Answer,
		Retried: func(ctx context.Context, do func() error) error { return backend.Retried(ctx, until, do) },
		Stamp:   func() string { return strconv.FormatUint(r.Draw(), 36) + strconv.FormatInt(r.stamps.Add(1), 36) },
		Of:      func(name string) *shift.Table { return known.shift(by.Of(name)) },
		Know: func(ctx context.Context, t *shift.Table, keys []attribute.Item) error {
			return r.know(ctx, t, keys, known)
		},
		Seconds: by.Seconds,
		Tables:  by.Table,
	}
	s.Announce = func(ctx context.Context, q api.Request, buckets []plan.Bucket) (func() error, error) {
		began := r.Now()
		return func() error { return r.announced(ctx, q, buckets, began) }, r.announce(ctx, q, buckets)
	}
	s.Own = func(ctx context.Context, q api.Request, use func(api.Response) error) error {
		return r.Backend.Answer(principal.With(ctx, principal.Principal{}), q, use)
	}
	s.Carry = func(ctx context.Context, p plan.Plan, q api.Request, resolve func([]plan.Row) ([]plan.Row, error), use func(api.Response) error) error {
		f, ok := p.(*plan.Fanout)
		if !ok {
			return r.carryOut(ctx, p, q, use)
		}
		if err := r.fanOut(ctx, f, resolve, use); err != nil {
			return f.Err(err)
		}
		return nil
	}
	return s
}

// shifted carries out a request on tables whose layout is being changed.
func (r *Runner) shifted(ctx context.Context, q api.Request, by *uses, use func(api.Response) error) error {
	known := new(bounds)
	for name, u := range by.rolled {
		known.add(name, &u.state.Rolled)
	}
	s := r.shiftStore(&by.Pinned, time.Now().Add(r.RetryFor), known)
	s.Tables = by.table
	err := s.Do(ctx, q, use)
	if errors.Is(err, shift.ErrBehind) && r.Tables.Shared() {
		if err := r.Tables.Renew(ctx, 0); err != nil {
			return err
		}
		if r.Tables.Changed(&by.Pinned) {
			return errOver
		}
	}
	return err
}

// table returns the table with a name, for a plan. One of strategy rollover knows the bounds of the
// partition keys that the request uses.
func (by *uses) table(name string) *plan.Table {
	return by.rolling(by.Table(name))
}

// rolling returns a table that knows these bounds.
func (by *uses) rolling(t *plan.Table) *plan.Table {
	if t == nil || !t.Rolls() {
		return t
	}
	return t.Rolling(func(key string, _ attribute.Value) *plan.Rolled {
		if u, ok := by.rolled[key]; ok {
			return &u.state.Rolled
		}
		return nil
	})
}
