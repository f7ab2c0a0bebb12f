// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"net/netip"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// A Router handles what the door does not forward: statements on sharded tables,
// the schema as clients are to see it, DDL. What it does not claim is forwarded
// to the backend unchanged.
//
// Claims and ClaimsID are asked on the way of every request, from many goroutines:
// they are an atomic load and a map look-up, take no lock, do not allocate, and do
// not keep their arguments.
type Router interface {
	// Claims reports whether a statement is the router's: of a QUERY, of a PREPARE,
	// or written out in a BATCH. keyspace is the one that an unqualified name means,
	// "" where there is none; the names in h are views into the request. For a
	// statement BEGIN BATCH it is asked with each table that the batch names, and
	// the kind syntax.StatementBatch; with no name where none is found. A USE that it
	// claims is one that it refuses; it is asked so about the keyspace of a single
	// request, too, and serves a request whose keyspace it claims. A PREPARE of anything
	// but a read of the system's tables is the router's, claimed or not: it may look up
	// first whether what it knows still holds.
	Claims(h syntax.Head, keyspace string) bool

	// ClaimsID reports whether a prepared id, of an EXECUTE or in a BATCH, is the
	// router's to answer: one that it gave, or one that no client has prepared here
	// (see Prepared), or not as what it stands for now. A BATCH is the router's when
	// one of its statements is. of is where an EXECUTE of it is measured, nil where that
	// is not known.
	ClaimsID(id []byte) (claimed bool, of *observe.Series)

	// Prepared tells the router of a PREPARE that it did not claim, or passed on, and
	// that the store has answered with an id. It keeps none of its arguments' bytes
	// but the strings, and is called before the client has the answer.
	Prepared(id []byte, keyspace, text string)

	// Spreads says whether a driver, by the DRIVER_NAME of its STARTUP, is not to learn which
	// values of a prepared statement are the partition key, so that it takes the doors in turn.
	Spreads(driver string) bool

	// Serve handles a claimed QUERY, PREPARE, EXECUTE or BATCH. It is called on the
	// goroutine that reads the client's connection and holds up that client's next
	// requests, so it is brief. It does one of these and returns:
	//
	//	r.Reply(…), r.Error(…)    answer at once
	//	r.Pass(…)                 send one rewritten request; its response is the answer
	//	r.PassUnder(…)            the same, if what it was planned under still holds then
	//	r.Link.Send(ctx, …, callback)  and answer in the callback
	//	r.Go(func(ctx) { … })     and answer in a goroutine: fan-outs, waits
	//
	// One Reply, Error, Pass or PassUnder ends the request; r is not to be touched after it.
	// ctx is done when the client has gone or the door closes. A panic here or in
	// Go's function is answered by a server error.
	Serve(ctx context.Context, r *Request)

	// Events translates the bodies of SCHEMA_CHANGE events of the backend, all that
	// have come since the call before, into those that registered clients are shown,
	// appended to out: usually itself, none for a table of the router's own. Calls do
	// not overlap. A nil body says that events may have been missed, and that the
	// schema should be looked at anew.
	Events(bodies, out [][]byte) [][]byte
}

// Request is one request of a client that the router claimed. It belongs to its
// connection and is used again after its end.
type Request struct {
	// Message is what the client sent. Its Body is a view into the connection's
	// read buffer, valid until Serve returns; Retain keeps it.
	wire.Message

	Version  wire.Version
	Keyspace string     // the connection's current keyspace; one in the body overrides it
	Username string     // "" where the store wants no credentials
	Link     store.Link // the client's own: its rights, its current keyspace. Always a store.Forwarder

	// Scratch is room for a rewritten body. Its capacity outlives the request.
	Scratch []byte

	// Fan is what the router has asked of the store for the request, measured when it
	// ends; nil where that is not counted.
	Fan *observe.Fan

	// Stamp is for the router: the write time that it has given the request, if any, so
	// that it gives the same where it carries the request out anew.
	Stamp int64

	premise Premise // of one that is kept
	of      uint32

	c       *conn
	watched watched
	stream  int16
	index   uint32
	kept    []byte
	special special       // rewrite the response
	uses    atomic.Uint32 // how often it has ended
	next    *Request      // in the free list
}

// Driver is the DRIVER_NAME that the client gave in STARTUP, "" for none.
func (r *Request) Driver() string { return r.c.driver }

// Address is where the client is told that this door is, as far as no other is: the address
// that the client connected to, or the one that is advertised.
func (r *Request) Address() netip.AddrPort { return r.c.address() }

// Connection is the number of the request's connection.
func (r *Request) Connection() uint32 { return r.c.number }

// Once asks f, but not for a request that came together with one of which f said yes. Only
// within Serve.
func (r *Request) Once(f func() bool) bool {
	if r.c.asked {
		return true
	}
	r.c.asked = f()
	return r.c.asked
}

// Retain makes Body valid until the request ends. It is called within Serve.
func (r *Request) Retain() {
	r.kept = append(r.kept[:0], r.Body...)
	r.Body = r.kept
}

// Reply ends the request with a response, whose body is copied.
func (r *Request) Reply(resp wire.Message) {
	c := r.c
	if r.Op == wire.OpPrepare {
		resp = c.withoutKey(resp)
	}
	c.t.Append(wire.Header{Version: r.Version, Response: true, Flags: resp.Flags, Stream: r.stream, Op: resp.Op}, resp.Body)
	r.watched.end(resp, r.Fan)
	c.inFlight.Add(-1) // before the client, which has its answer, may send another
	c.t.Flush()
	r.end()
}

// Error ends the request with an error: a *wire.Error as it is, any other as a
// server error.
func (r *Request) Error(err error) {
	r.Reply(wire.Message{Op: wire.OpError, Body: wire.AsError(err).Append(nil, r.Version)})
}

// Pass ends the request by sending req, on the client's own link, as if the client
// had sent it: the response passes through, but for an UNPREPARED to an EXECUTE,
// which is made one of the client's id. req's body may be Scratch. Only within
// Serve, on its goroutine.
func (r *Request) Pass(req wire.Message) { r.pass(req, nil, 0) }

// PassUnder is Pass of a request that was planned under a premise: when the store has
// answered with a result, the premise must hold, or its Review ends the request. keep keeps
// the body of the client's request for that, which costs its being copied; that of a QUERY
// is always kept.
func (r *Request) PassUnder(req wire.Message, p Premise, of uint32, keep bool) {
	if !keep && r.Op == wire.OpExecute {
		r.pass(req, p, of)
		return
	}
	r.Retain()
	r.premise, r.of = p, of
	r.watched.sends()
	r.c.fwd.Forward(r.c.ctx, req, r.c, tagRequest+r.index)
}

func (r *Request) pass(req wire.Message, p Premise, of uint32) {
	c := r.c
	if req.Op == wire.OpPrepare {
		c.forwardPrepare(r, req)
		return
	}
	c.watch(r.stream, r.watched)
	c.fwd.Forward(c.ctx, req, c, r.passTag(p, of))
	r.trim()
	if c.spare == nil {
		c.spare = r
		return
	}
	c.giveBack(r)
}

// Go calls f in a goroutine of its own, if the door has room for one more; if it
// has not, it ends the request with Overloaded. Only within Serve, as the last
// thing there. f ends the request; Body is retained for it. The context that f gets
// is this request's own: it is done when the client has gone, when the door closes,
// and when f has returned, so that nothing f has asked of the store outlives f.
func (r *Request) Go(f func(ctx context.Context)) {
	c := r.c
	d := c.d
	select {
	case d.tasks <- struct{}{}:
	default:
		d.counts.overloaded.Add(1)
		r.Error(wire.Errorf(wire.CodeOverloaded, "evenkeel: too many requests on sharded tables are under way"))
		return
	}
	r.Retain()
	d.wg.Add(1)
	use := r.uses.Load()
	whole := store.Wide(budget.WithRequest(c.ctx))
	body := budget.Open(whole)
	if len(r.kept) > longMessage {
		body.Add(decoded * int64(len(r.kept)))
	}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				d.panicked(p)
				r.fail(use)
			}
			body.Close()
			<-d.tasks
			d.wg.Done()
		}()
		// Each may hold a long result. Those of a client that does not read what it
		// has got wait, and hold nothing but the request.
		select {
		case c.running <- struct{}{}:
			defer func() { <-c.running }()
		case <-c.ctx.Done():
		}
		if most := c.unread(); c.t.Pending() > most {
			c.t.WaitPending(most / 2)
		}
		if c.ctx.Err() != nil {
			r.Error(errGone)
			return
		}
		ctx, cancel := context.WithCancel(whole)
		defer cancel()
		f(ctx)
	}()
}

// errGone ends a request whose client has gone: nobody reads it.
var errGone = &wire.Error{Code: wire.CodeOverloaded, Message: "evenkeel: the client has gone; the request was not executed"}

// fail ends a request that panicked, unless it had ended before: use is what uses
// was when it began.
func (r *Request) fail(use uint32) {
	if r.uses.Load() == use {
		r.Error(errInternal)
	}
}

// end gives r back to its connection.
func (r *Request) end() {
	r.trim()
	r.c.giveBack(r)
}

// trim ends r's use and lets go of room that is more than most requests need.
func (r *Request) trim() {
	r.uses.Add(1)
	const keptCapacity = 16 << 10
	if cap(r.Scratch) > keptCapacity {
		r.Scratch = nil
	}
	if cap(r.kept) > keptCapacity {
		r.kept = nil
	}
}

func (c *conn) giveBack(r *Request) {
	c.mu.Lock()
	r.next, c.free = c.free, r
	c.mu.Unlock()
}

// newRequest takes a request from the free list, or makes one. Reader only.
func (c *conn) newRequest(h wire.Header, body []byte) *Request {
	r := c.spare
	c.spare = nil
	if r == nil {
		r = c.takeRequest()
	}
	r.next = nil
	r.Message = wire.Message{Op: h.Op, Flags: h.Flags, Body: body}
	r.Version, r.Keyspace, r.Username = c.version, c.keyspace, c.identity.Username
	r.Link, r.stream, r.special = c.fwd, h.Stream, specialNone
	r.Scratch, r.Stamp, r.premise = r.Scratch[:0], 0, nil
	r.watched, r.Fan = c.begun(h, body), nil
	return r
}

// takeRequest takes one from the free list, or makes one.
func (c *conn) takeRequest() *Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.free
	if r == nil {
		r = &Request{c: c, index: uint32(len(c.reqs))}
		c.reqs = append(c.reqs, r)
	} else {
		c.free = r.next
	}
	return r
}

// freshRequest is one to answer a stream with, whose request was not kept.
func (c *conn) freshRequest(stream int16) *Request {
	r := c.takeRequest()
	r.next, r.Message, r.Link, r.Keyspace = nil, wire.Message{}, nil, ""
	r.Version, r.Username = c.version, c.identity.Username
	r.stream, r.special, r.premise, r.Stamp = stream, specialNone, nil, 0
	r.Scratch = r.Scratch[:0]
	r.watched, r.Fan = c.passing.take(stream), nil
	return r
}

// Span is the request's span, nil where none is told.
func (r *Request) Span() observe.Span { return r.watched.span }

// request is the one with a tag.
func (c *conn) request(tag uint32) *Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reqs[tag-tagRequest]
}

// received answers a special request with the response as the client is to see it.
// It is called by the store's goroutines, whose flush follows.
func (r *Request) received(resp wire.Message) {
	c, use := r.c, r.uses.Load()
	r.watched.heard(resp)
	defer func() {
		if p := recover(); p != nil {
			c.d.panicked(p)
			r.fail(use)
		}
	}()
	if r.Op == wire.OpPrepare && c.d.opts.Router != nil {
		r.tell(resp)
		resp = c.withoutKey(resp)
	}
	if p := r.premise; p != nil {
		r.premise = nil
		if resp.Op == wire.OpError && r.Op == wire.OpExecute {
			resp = c.asKnown(r.clientsID(), resp)
		}
		if resp.Op != wire.OpError && !p.Holds(resp.Arrival) {
			r.review(p, r.of, resp)
			return
		}
		p.End(r.of)
	}
	if body, ok := c.rewrite(r.special, resp, r.Scratch[:0]); ok {
		resp.Body, r.Scratch = body, body
	}
	c.t.Append(wire.Header{Version: r.Version, Response: true, Flags: resp.Flags, Stream: r.stream, Op: resp.Op}, resp.Body)
	r.watched.end(resp, nil)
	c.inFlight.Add(-1)
	r.end()
}

// clientsID is the id in an EXECUTE that was kept.
func (r *Request) clientsID() []byte {
	_, body, err := wire.SplitPrefix(r.Op, r.Flags, r.Body)
	if err != nil {
		return nil
	}
	id, _ := wire.ExecuteID(body) // it was read before
	return id
}

// withoutKey is a RESULT Prepared as the client's driver is to see it.
func (c *conn) withoutKey(resp wire.Message) wire.Message {
	if c.d.opts.Router == nil || resp.Op != wire.OpResult || !c.d.opts.Router.Spreads(c.driver) {
		return resp
	}
	prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil || wire.KindOf(body) != wire.ResultPrepared {
		return resp
	}
	p, err := wire.ParsePrepared(c.version, body)
	if err != nil || len(p.KeyIndexes) == 0 {
		return resp
	}
	p.KeyIndexes = nil
	resp.Body = wire.AppendPrepared(prefix.Append(nil), c.version, &p)
	return resp
}

// tell tells the router what id the store has given to a statement.
func (r *Request) tell(resp wire.Message) {
	id, ok := preparedID(resp)
	if !ok {
		return
	}
	_, body, err := wire.SplitPrefix(r.Op, r.Flags, r.Body)
	if err != nil {
		return
	}
	p, err := wire.ParsePrepare(r.Version, body)
	if err != nil {
		return
	}
	keyspace := r.Keyspace
	if p.Keyspace != nil {
		keyspace = string(p.Keyspace)
	}
	r.c.d.opts.Router.Prepared(id, keyspace, string(p.Text))
}

// preparedID is the id in a RESULT Prepared.
func preparedID(resp wire.Message) ([]byte, bool) {
	if resp.Op != wire.OpResult {
		return nil, false
	}
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil || wire.KindOf(body) != wire.ResultPrepared {
		return nil, false
	}
	c := wire.NewCursor(body)
	c.Int()
	id := c.ShortBytes()
	return id, c.Err() == nil
}
