// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/observe"
)

// Coordinator serves a client's request for which the door sends several requests to the store. It wraps
// the client's link: the door sends these requests over the coordinator, which collects the warnings and
// the trace of their responses. It also notes whether the door has sent any.
type Coordinator struct {
	store.Forwarder
	attempts *Attempts
	username string
	traced   bool
	Fan      observe.Fan
	Span     observe.Span // span of the client's request; nil: none

	state *tables.State // the present State when the attempt began, which counts the attempt as under way
	of    uint32        // index of the counter in state.under
	plans []*Statement  // statements that the attempt executes; only the request's goroutine uses it

	// forwards says that the attempt also sends statements on plain tables as they are. term is the term
	// in which they were judged.
	forwards bool
	term     uint32

	// forgotten says that the store had given up a statement of an earlier attempt.
	forgotten atomic.Bool

	// For a read of partitions: how many partition keys it names, and how many shards the first has.
	Keys, Shards int

	// For writes under strategy rollover. Only the request's goroutine uses these fields.
	Answered []func() // what to do when the request is answered: the writes are counted
	Reached  int64    // the latest timestamp of a write to all shards of a key; math.MinInt64: none

	mu       sync.Mutex
	asked    bool    // a statement was sent, so the store has checked the client's rights
	needs    []Need  // what the client must be allowed to do
	alone    bool    // the client's request is one statement, even if the door's is a batch
	batch    Batched // the client's batch, if it sent one that the door changes
	warnings []string
	dropped  int    // number of warnings dropped because there were too many
	tracing  []byte // of the first response that has one
}

// Attempts serves requests that need several requests to the store. If the schema has changed during an
// attempt, it makes another one.
type Attempts struct {
	Cache    *PlanCache
	State    *tables.States
	Schema   *tables.Schemas
	Premises *Premises
	Standing *Standing
	Timeout  time.Duration // see Options
}

// Carry serves a claimed request by calling f, for at most Options.Timeout. If f fails, Carry answers
// with the error, except in two cases, in which it calls f again. In the first, the store has forgotten
// a physical statement; the client did not prepare it and so cannot prepare it again. In the second, the
// schema has changed: another door may have dropped or altered the table, and the store's error may be
// about a table that this door did not know.
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
		err = e.without(a.Schema.View.Load().LogicalError(Judged(whole, req, err)))
	}
	p := e.prefix(nil)
	req.Reply(wire.Message{Op: wire.OpError, Flags: p.Flags(), Body: wire.AsError(err).Append(p.Append(nil), req.Version)})
}

// attempt calls f on the present State. The State counts the request as under way until f returns.
func (e *Coordinator) attempt(ctx context.Context, changed bool, f func(ctx context.Context, changed bool) error) error {
	st := e.attempts.State.Begin(e.of)
	defer st.Under.End(e.of) // also if f panics: a change of layout waits for the count
	e.state, e.plans, e.Answered, e.Reached, e.forwards = st, e.plans[:0], e.Answered[:0], math.MinInt64, false
	return f(ctx, changed)
}

// consistency returns the level that the client asked for.
func consistency(req *cqldoor.Request) wire.Consistency {
	body, err := BodyOf(req.Message)
	if err != nil {
		return wire.One
	}
	switch req.Op {
	case wire.OpExecute:
		if e, err := wire.ParseExecute(req.Version, body); err == nil {
			return e.Params.Consistency
		}
	case wire.OpQuery:
		if q, err := wire.ParseQuery(req.Version, body); err == nil {
			return q.Params.Consistency
		}
	case wire.OpBatch:
		if b, err := wire.ParseBatch(req.Version, body); err == nil {
			return b.Params.Consistency
		}
	}
	return wire.One
}

// Planned notes a statement that the attempt executes. The door uses the answer only if the statement's
// premise still holds when the answer has arrived.
func Planned(req *cqldoor.Request, s *Statement) {
	if e, ok := req.Link.(*Coordinator); ok {
		e.plans = append(e.plans, s)
	}
}

// ofSchema reports whether the store may have returned err because a table is not as this door knows it.
func ofSchema(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Code == wire.CodeInvalid || e.Code == wire.CodeUnprepared || e.Code == wire.CodeServer || e.Code == wire.CodeUnauthorized)
}

// Forwarder returns the client's link as a Forwarder, which a door's link always is.
func Forwarder(l store.Link) store.Forwarder {
	if f, ok := l.(store.Forwarder); ok {
		return f
	}
	return sender{l}
}

// sender makes a Forwarder of a link that is not one.
type sender struct{ store.Link }

func (s sender) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	s.Send(ctx, req, func(resp wire.Message) {
		to.Receive(tag, resp)
		to.Flush()
	})
}

func (sender) Flush() {}

// Respond answers with a RESULT and with the store's warnings. If the store was not asked
// anything, Respond first asks it for the client's rights.
func Respond(ctx context.Context, req *cqldoor.Request, warnings []string, body []byte) error {
	var p wire.Prefix
	if e, ok := req.Link.(*Coordinator); ok {
		if err := e.Ask(ctx, req.Version, false); err != nil {
			return err
		}
		if err := e.stand(ctx); err != nil {
			return err
		}
		for _, do := range e.Answered {
			do()
		}
		p = e.prefix(warnings)
	} else if len(warnings) > 0 {
		p.Warnings = wire.AppendStringList(nil, warnings)
	}
	if p.Flags() != 0 {
		body = append(p.Append(nil), body...)
	}
	req.Reply(wire.Message{Op: wire.OpResult, Flags: p.Flags(), Body: body})
	return nil
}

// Send implements store.Link.
func (e *Coordinator) Send(ctx context.Context, req wire.Message, reply func(resp wire.Message)) {
	child := e.child(ctx, req)
	st := e.state
	st.Under.Begin(e.of)
	e.Forwarder.Send(ctx, e.outgoing(req), func(resp wire.Message) {
		cqldoor.EndSpan(child, resp)
		reply(e.hear(resp))
		st.Under.End(e.of)
	})
}

// Forward implements store.Forwarder.
func (e *Coordinator) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	e.state.Under.Begin(e.of)
	e.Forwarder.Forward(ctx, e.outgoing(req), &listener{e, e.state, to, e.child(ctx, req)}, tag)
}

// listener is a receiver whose responses the coordinator inspects first.
type listener struct {
	coordinator *Coordinator
	state       *tables.State // the state when the request was sent
	to          store.Receiver
	child       observe.Span
}

func (l *listener) Receive(tag uint32, resp wire.Message) {
	cqldoor.EndSpan(l.child, resp)
	l.to.Receive(tag, l.coordinator.hear(resp))
	l.state.Under.End(l.coordinator.of)
}

func (l *listener) Flush() { l.to.Flush() }

// outgoing returns a request in the form that is sent.
func (e *Coordinator) outgoing(req wire.Message) wire.Message {
	if req.Op == wire.OpPrepare {
		return req
	}
	e.Fan.Requests.Add(1)
	e.mu.Lock()
	e.asked = true
	e.mu.Unlock()
	if e.traced {
		req.Flags |= wire.FlagTracing
	}
	return req
}

// Single notes that the client sent one statement, which the door carries out as a batch.
func (e *Coordinator) Single() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alone = true
}

// Named notes which of the client's batch's partitions the door's batch is on.
func (e *Coordinator) Named(b Batched) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batch = b
}

// ofDoor says whether an error is an UNPREPARED with an id that the client has not sent. It then
// concerns a statement of the door's own, which another request may already be preparing again.
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
