// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// executes serves EXECUTE.
type executes struct {
	holds      func() bool // reports whether the lease holds
	cache      *request.PlanCache
	schema     *tables.Schemas
	doors      *tables.Membership
	statements *request.Statements
	passer     *passer
	answers    *answers
	attempts   *request.Attempts
	relays     *request.Relays
}

// execute serves EXECUTE. If it returns an error, the caller ends the request with it.
func (x *executes) execute(ctx context.Context, req *cqldoor.Request) error {
	body, err := request.BodyOf(req.Message)
	if err != nil {
		return err
	}
	e, err := wire.ParseExecute(req.Version, body)
	if err != nil {
		return err
	}
	k := x.cache.Known.Get(e.ID)
	switch {
	case k != nil && !req.Once(x.holds):
		req.Go(func(ctx context.Context) { finish(ctx, req, x.executeFresh(ctx, req, k)) })
		return nil
	case k == nil || k.Passed != nil: // the door does not know the id, or the store no longer handles the statement
		return request.Unprepared(e.ID)
	case k.Schema != nil:
		req.Go(func(ctx context.Context) { finish(ctx, req, k.Schema(ctx, req)) })
		return nil
	}
	s, err := x.statements.Current(k.Statement)
	if err != nil {
		return err
	}
	if err := s.CheckCount(e.Params.Values.Count); err != nil && !e.Params.Values.Named {
		return err
	}
	if s.Physical != nil && !s.Conditional() && !s.GoesOn(&e.Params) && !buckets.Expires(s.Write) {
		if ids := s.Physical.Named.Load(); ids != nil {
			if passed, err := x.passer.executeOne(req, s, &e, ids); passed || err != nil && err != buckets.ErrUnannounced && !errors.Is(err, request.ErrWaits) {
				return s.Wrong(err)
			}
		}
	}
	if s.Write != nil && s.Write.AnyShard() != nil {
		// If the door has not prepared the statement yet, carryExecute prepares it.
		ids := x.cache.Physical(s.Write.AnyShard().Text).Named.Load()
		if ids != nil && (req.Version < wire.V5 || ids.Metadata != nil) {
			if passed, err := x.passer.executeDrawn(req, s, e, ids); passed || err != nil && !errors.Is(err, request.ErrWaits) {
				return s.Wrong(err)
			}
		}
	}
	if s.InPlace != nil && x.passer.executeInPlace(req, s, &e) {
		return nil
	}
	req.Go(func(ctx context.Context) { x.carryExecute(ctx, req, s) })
	return nil
}

// carryExecute executes an EXECUTE that needs several requests.
func (x *executes) carryExecute(ctx context.Context, req *cqldoor.Request, s *request.Statement) {
	x.attempts.Carry(ctx, req, func(ctx context.Context, changed bool) error {
		now, err := x.statements.Current(s)
		if err != nil {
			return err // the next attempt begins with s again
		}
		return x.answers.executeSlowly(ctx, req, now)
	})
}

// executeFresh reads the present schema and then serves an EXECUTE.
func (x *executes) executeFresh(ctx context.Context, req *cqldoor.Request, k *request.Known) error {
	late := x.doors.Renew(ctx)
	x.relays.Standing.JudgeAnew(req)
	switch {
	case k.Schema != nil:
		return k.Schema(ctx, req)
	case k.Passed != nil && x.relays.Passes(k.Passed):
		if err := x.relays.Standing.MayForward(ctx, late); err != nil {
			return err
		}
		return x.relays.Relay(ctx, req)
	case k.Passed != nil:
		return request.Unprepared(k.ID[:])
	case late != nil:
		return late
	}
	s, err := x.statements.Current(k.Statement)
	if err != nil {
		return err
	}
	x.carryExecute(ctx, req, s)
	return nil
}
