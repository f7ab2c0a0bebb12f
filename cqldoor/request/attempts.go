// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"context"
	"errors"
	"math"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/deadline"
)

// Attempts serves requests that need several requests to the store. If the schema has changed during an
// attempt, it makes another one.
type Attempts struct {
	Cache    *PlanCache
	State    *tables.States
	Schema   *tables.Schemas
	Premises *Premises
	Standing *Standing
	Timeout  time.Duration // see run.Options
}

// Carry serves a claimed request by calling f, for at most Timeout. If f fails, Carry replies with the error.
// In two cases Carry first calls f again:
//
//   - The store has forgotten a physical statement. The client did not prepare it, so the client cannot
//     prepare it again.
//   - The schema has changed. Another door may have dropped or altered the table. Then the store's error may
//     be about a table that this door did not know.
func (a *Attempts) Carry(whole context.Context, req *cqldoor.Request, f func(ctx context.Context, changed bool) error) {
	ctx, stop := deadline.With(whole, a.Timeout, nil)
	defer stop()
	link := Forwarder(req.Link)
	if within, ok := link.(*Coordinator); ok {
		link = within.Forwarder // another attempt at the request found that its table is sharded
	}
	e := &Coordinator{Forwarder: link, attempts: a, username: req.Username, traced: req.Flags&wire.FlagTracing != 0, of: req.Connection()}
	req.Link, req.Fan, e.Span = e, &e.Fan, req.Span()
	const attempts = 4
	changed := false
	var err error
	for range attempts {
		if err = e.attempt(ctx, changed, f); err == nil {
			return // already answered
		}
		var was bool
		if was, changed, err = e.again(req, err); was {
			if !changed {
				break
			}
			continue
		}
		gaveUp := a.Cache.gaveUp(err) || ofDoor(req, err)
		if !gaveUp && !ofSchema(err) {
			break
		}
		// If the schema cannot be read, it counts as unchanged.
		changed = a.Schema.RefreshIfChanged(ctx) == nil && a.State.Load() != e.state
		if !gaveUp && !changed {
			break
		}
		if gaveUp {
			e.forgotten.Store(true)
			err = wire.Errorf(wire.CodeOverloaded, "evenkeel: the store gives up prepared statements as fast as they are prepared; give it room for more of them")
		}
	}
	if deadline.Passed(ctx) {
		err = e.late(req)
	} else if refused := e.Ask(whole, req.Version, false); refused != nil {
		err = refused
	} else {
		err = e.without(a.Schema.View.Load().LogicalError(ErrorFor(whole, req, err)))
	}
	p := e.prefix(nil)
	req.Reply(wire.Message{Op: wire.OpError, Flags: p.Flags(), Body: wire.AsError(err).Append(p.Append(nil), req.Version)})
}

// attempt calls f on the present State, and returns its error. The State counts the request as under way until
// f returns.
func (e *Coordinator) attempt(ctx context.Context, changed bool, f func(ctx context.Context, changed bool) error) error {
	st := e.attempts.State.Begin(e.of)
	defer st.Under.End(e.of) // also if f panics: a change of layout waits for the count
	e.state, e.plans, e.Answered, e.Reached, e.forwards = st, e.plans[:0], e.Answered[:0], math.MinInt64, false
	return f(ctx, changed)
}

// ofSchema reports whether the store may have returned err because a table is not as this door knows it.
func ofSchema(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Code == wire.CodeInvalid || e.Code == wire.CodeUnprepared || e.Code == wire.CodeServer || e.Code == wire.CodeUnauthorized)
}

// ofDoor reports whether an error is an UNPREPARED with an id that the client has not sent. Such an error is
// about one of the door's own statements. Another request may already be preparing that statement again.
func ofDoor(req *cqldoor.Request, err error) bool {
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != wire.CodeUnprepared {
		return false
	}
	switch req.Op {
	case wire.OpQuery:
		return true
	case wire.OpExecute:
		body, err := BodyOf(req.Message)
		if err != nil {
			return false
		}
		id, err := wire.ExecuteID(body)
		return err == nil && !bytes.Equal(id, e.ID)
	}
	return false
}
