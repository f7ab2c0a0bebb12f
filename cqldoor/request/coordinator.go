// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/observe"
)

// Coordinator serves a client's request for which the door sends several requests to the store. It wraps
// the client's link, and the door sends these requests over it. The coordinator collects the warnings and
// the trace of their responses. It also notes whether the door has sent any.
type Coordinator struct {
	store.Forwarder
	attempts *Attempts
	username string
	traced   bool
	Fan      observe.Fan
	Span     observe.Span // span of the client's request; nil: none

	state *tables.State // the present State when the attempt began; it counts the attempt as under way
	of    uint32        // number of the counter in state.Under
	plans []*Statement  // statements that the attempt executes; only the request's goroutine uses it

	// forwards says that the attempt also sends statements on plain tables unchanged. term is the term
	// in which the door judged them.
	forwards bool
	term     uint32

	// forgotten says that the store has given up a statement during an earlier attempt.
	forgotten atomic.Bool

	// A read of partitions sets these. It names so many partition keys, and the first has so many shards.
	Keys, Shards int

	// Writes under strategy rollover set these. Only the request's goroutine uses them.
	Answered []func() // called before the door answers the request: they count the writes
	Reached  int64    // the latest timestamp of a write to all shards of a key; math.MinInt64: none

	mu       sync.Mutex
	asked    bool    // the door has sent a statement, so the store has checked the client's rights
	needs    []Need  // the permissions that the client needs
	alone    bool    // the client's request is one statement, even if the door sends a batch
	batch    Batched // the client's batch, if it sent one that the door changes
	warnings []string
	dropped  int    // number of warnings dropped because there were too many
	tracing  []byte // trace id of the first response that has one
}

// consistency returns the consistency level of the client's request.
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

// Planned notes a statement that the attempt executes. When the answer has arrived, the door uses it only if
// the statement's premise still holds.
func Planned(req *cqldoor.Request, s *Statement) {
	if e, ok := req.Link.(*Coordinator); ok {
		e.plans = append(e.plans, s)
	}
}

// Forwarder returns the client's link as a Forwarder. The link of a door always is one.
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

// Respond replies with a RESULT, with the given warnings and those of the store. If the door has not sent the
// store a statement, Respond first asks the store whether the client has the rights. Respond returns an error,
// and does not reply, if the client lacks them or if a statement's premise no longer holds.
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

// outgoing returns a request as the coordinator sends it, and counts it.
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

// Single notes that the client sent one statement and that the door carries it out as a batch.
func (e *Coordinator) Single() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alone = true
}

// Named notes how many partitions the client's batch names, and how many the door's batch has.
func (e *Coordinator) Named(b Batched) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batch = b
}
