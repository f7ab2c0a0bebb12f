// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// executes serves EXECUTE.
type executes struct {
	holds      func() bool // whether the lease holds
	cache      *planCache
	schema     *schemas
	doors      *membership
	statements *statements
	passer     *passer
	answers    *answers
	attempts   *attempts
	relays     *relays
}

// execute serves EXECUTE. If it returns an error, nothing else ends the request.
func (x *executes) execute(ctx context.Context, req *cqldoor.Request) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	e, err := wire.ParseExecute(req.Version, body)
	if err != nil {
		return err
	}
	k := x.cache.known.get(e.ID)
	switch {
	case k != nil && !req.Once(x.holds):
		req.Go(func(ctx context.Context) { finish(ctx, req, x.executeFresh(ctx, req, k)) })
		return nil
	case k == nil || k.passed != nil: // not known, or not the store's any more
		return unprepared(e.ID)
	case k.schema != nil:
		req.Go(func(ctx context.Context) { finish(ctx, req, k.schema(ctx, req)) })
		return nil
	}
	s, err := x.statements.current(k.statement)
	if err != nil {
		return err
	}
	if err := s.checkCount(e.Params.Values.Count); err != nil && !e.Params.Values.Named {
		return err
	}
	if s.physical != nil && !s.conditional() && !s.goesOn(&e.Params) && !expires(s.write) {
		if ids := s.physical.named.Load(); ids != nil {
			if passed, err := x.passer.executeOne(req, s, &e, ids); passed || err != nil && err != errUnannounced && !errors.Is(err, errWaits) {
				return s.wrong(err)
			}
		}
	}
	if s.write != nil && s.write.AnyShard() != nil {
		// If the statement is not prepared yet, the slow path prepares it.
		ids := x.cache.physical(s.write.AnyShard().Text).named.Load()
		if ids != nil && (req.Version < wire.V5 || ids.metadata != nil) {
			if passed, err := x.passer.executeDrawn(req, s, &e, ids); passed || err != nil && !errors.Is(err, errWaits) {
				return s.wrong(err)
			}
		}
	}
	req.Go(func(ctx context.Context) { x.carryExecute(ctx, req, s) })
	return nil
}

// carryExecute executes an EXECUTE that needs several requests.
func (x *executes) carryExecute(ctx context.Context, req *cqldoor.Request, s *statement) {
	x.attempts.carry(ctx, req, func(ctx context.Context, changed bool) error {
		now, err := x.statements.current(s)
		if err != nil {
			return err // s stays, for the next attempt
		}
		return x.answers.executeSlowly(ctx, req, now)
	})
}

// executeFresh serves an EXECUTE after the door has read the present schema.
func (x *executes) executeFresh(ctx context.Context, req *cqldoor.Request, k *known) error {
	late := x.doors.renew(ctx)
	x.relays.standing.judgeAnew(req)
	switch {
	case k.schema != nil:
		return k.schema(ctx, req)
	case k.passed != nil && x.relays.passes(k.passed):
		if err := x.relays.standing.forwards(ctx, late); err != nil {
			return err
		}
		return x.relays.relay(ctx, req)
	case k.passed != nil:
		return unprepared(k.id[:])
	case late != nil:
		return late
	}
	s, err := x.statements.current(k.statement)
	if err != nil {
		return err
	}
	x.carryExecute(ctx, req, s)
	return nil
}
