// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
)

// Requests on tables whose layout is being changed, or was, go by package shift.

// changing readies an entry in use for its change of layout. The error is that this
// version of the door does not know the change's step.
func (e *entry) changing() error {
	c := e.Change
	if c == nil {
		if e.Floor > 0 {
			e.table = e.table.Strict()
			e.shift = &shift.Table{Old: e.table, New: e.table, Generation: e.Layout.Generation, Floor: e.Floor}
		}
		return nil
	}
	step, err := protocol.ParseStep(c.Step)
	if err != nil {
		return err
	}
	if e.Floor > 0 {
		e.table = e.table.Strict()
	}
	target, err := e.target(c)
	if err != nil {
		return err
	}
	t := &shift.Table{Old: e.table, New: e.table.To(target), Key: target.Key, Step: step, Generation: e.Layout.Generation, Floor: e.Floor}
	switch {
	case step < protocol.Settled:
		t.New = t.New.MovingFrom(t.Old)
	case step == protocol.Settled:
		t.Settled = e.Layout.Generation
	default:
		t.Settled = e.Floor
	}
	e.shift = t
	return nil
}

// shifts tells whether a request is package shift's.
func (p *pinned) shifts(q api.Request) bool {
	for _, e := range p.used {
		if e.shift == nil {
			continue
		}
		if _, scans := q.(*api.Scan); scans || e.shift.Step != protocol.None {
			return true
		}
	}
	return false
}

// of returns the table with a name whose layout is being changed.
func (p *pinned) of(name string) *shift.Table {
	name = simpleName(name)
	for _, e := range p.used {
		if e.Table == name {
			return e.shift
		}
	}
	return nil
}

// shiftStore is what package shift carries requests out on, by certain entries.
func (r *Router) shiftStore(by *pinned, until time.Time) *shift.Store {
	s := &shift.Store{
		Answer:  r.backend.Answer,
		Retried: func(ctx context.Context, do func() error) error { return retried(ctx, until, do) },
		Stamp:   func() string { return strconv.FormatUint(r.draw(), 36) + strconv.FormatInt(r.stamps.Add(1), 36) },
		Of:      by.of,
		Tables: func(name string) *plan.Table {
			name = simpleName(name)
			for _, e := range by.used {
				if e.Table == name {
					return e.table
				}
			}
			return nil
		},
	}
	s.Carry = func(ctx context.Context, p plan.Plan, q api.Request, use func(api.Response) error) error {
		f, ok := p.(*plan.Fanout)
		if !ok {
			return r.carryOut(ctx, p, q, use)
		}
		query, ok := q.(*api.Query)
		if !ok {
			return errors.New("a request that is no Query goes to several shards")
		}
		t := by.of(query.Table)
		var resolve func([]plan.Row) ([]plan.Row, error)
		if t.Step < protocol.Settled {
			resolve = func(rows []plan.Row) ([]plan.Row, error) { return s.Resolve(ctx, t, rows) }
		}
		if err := r.merge(ctx, f, resolve, use); err != nil {
			return f.Err(err)
		}
		return nil
	}
	return s
}

// shifted carries out a request on tables whose layout is being changed.
func (r *Router) shifted(ctx context.Context, q api.Request, by *pinned, use func(api.Response) error) error {
	err := r.shiftStore(by, time.Now().Add(r.retry)).Do(ctx, q, use)
	if errors.Is(err, shift.ErrBehind) && r.lease > 0 {
		if err := r.renew(ctx, 0); err != nil {
			return err
		}
		return errOver
	}
	return err
}
