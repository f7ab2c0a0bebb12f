// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// A Router handles the requests that the door does not forward: statements on sharded tables, reads
// of the schema, and DDL. The door forwards all other requests to the backend unchanged.
//
// The door calls Claims and ClaimsID for every request, from many goroutines. So they cost an
// atomic load and a map look-up, take no lock, do not allocate, and do not keep their arguments.
type Router interface {
	// Claims reports whether the router handles a statement of a QUERY, of a PREPARE, or written
	// out in a BATCH. keyspace is the keyspace of unqualified names, "" if there is none. The
	// names in h are views into the request. For a statement BEGIN BATCH the door asks once for
	// each table that the batch names, with the kind syntax.StatementBatch; it gives no name if
	// it finds none. If the router claims a USE, it refuses it. The door asks in the same way
	// about the keyspace of a single request, and the router serves a request whose keyspace it
	// claims. The router handles a PREPARE of anything but a read of system tables, claimed or
	// not: it may first check whether what it knows still holds.
	Claims(h syntax.Head, keyspace string) bool

	// ClaimsID reports whether the router answers for a prepared id of an EXECUTE or in a BATCH.
	// The router claims the ids that it gave, ids that no client has prepared here (see
	// Prepared), and ids whose statement has changed its meaning. The router handles a BATCH if
	// it claims one of its statements. of is the series in which an EXECUTE of the id is
	// measured, nil if it is not known.
	ClaimsID(id []byte) (claimed bool, of *observe.Series)

	// Prepared reports a PREPARE to the router, after the store has answered with an id. The router
	// did not claim this PREPARE, or passed it on. The router keeps the strings but not the bytes
	// of id. The door calls it before the client gets the answer.
	Prepared(id []byte, keyspace, text string)

	// Spreads says whether a driver should not learn which values of a prepared statement form
	// the partition key, so that it uses the doors in turn. driver is the DRIVER_NAME of STARTUP.
	Spreads(driver string) bool

	// Standing returns the judge of the answers to requests that the door forwards. Nil: no other
	// door uses the store, and the answers always count.
	Standing() Standing

	// Serve handles a claimed QUERY, PREPARE, EXECUTE or BATCH. The goroutine that reads the
	// client's connection calls it. It is brief, because that client's next requests wait for it.
	// It does one of these and returns:
	//
	//	r.Reply(…), r.Error(…)    answer at once
	//	r.Pass(…)                 send one rewritten request; its response is the answer
	//	r.PassUnder(…)            the same, if the request's premise still holds then
	//	r.Forward()               send the client's own message, as if the router had not claimed it
	//	r.Link.Send(ctx, …, callback)  and answer in the callback
	//	r.Go(func(ctx) { … })     and answer in a goroutine: fan-outs, waits
	//
	// One Reply, Error, Pass or PassUnder ends the request; the router does not touch r after it.
	// ctx is done when the client has gone or the door closes. A panic here or in the function of
	// Go is answered with a server error.
	Serve(ctx context.Context, r *Request)

	// Events translates the SCHEMA_CHANGE events of the backend that have come since the last
	// call, and appends those that registered clients see to out. Most events stay as they are;
	// an event for one of the router's own tables is left out. Calls do not overlap. A nil body
	// means that events may have been missed, so the schema must be read again.
	Events(bodies, out [][]byte) [][]byte
}

// Request is one request of a client that the router claimed. It belongs to its connection, which
// reuses it after its end.
type Request struct {
	// Message is the client's message. Its Body is a view into the connection's read buffer,
	// valid until Serve returns. Retain keeps it.
	wire.Message

	Version  wire.Version
	Keyspace string     // the connection's current keyspace; a keyspace in the body overrides it
	Username string     // "" if the store wants no credentials
	Link     store.Link // the client's own link, with its rights and current keyspace; always a store.Forwarder

	// Scratch is a buffer for a rewritten body. Its capacity outlives the request.
	Scratch []byte

	// Fan counts the requests that the router has sent to the store for this request. It is
	// measured when the request ends. Nil: not counted.
	Fan *observe.Fan

	// Stamp is the write time that the router has given the request; 0: none. The router uses the
	// same time if it executes the request again.
	Stamp int64

	// Term is the door's term when the router judged the request. See Standing.
	Term uint32

	premise Premise // of a request that is kept
	of      uint32

	c       *conn
	watched watched
	stream  int16
	era     uint32
	index   uint32
	kept    []byte
	special special       // how to rewrite the response
	uses    atomic.Uint32 // how many times this Request has ended
	next    *Request      // next in the free list
}

// Driver returns the DRIVER_NAME that the client gave in STARTUP, or "".
func (r *Request) Driver() string { return r.c.driver }

// Address returns the address that the door gives to the client: the advertised address, or the one
// that the client connected to.
func (r *Request) Address() netip.AddrPort { return r.c.address() }

// Connection returns the number of the request's connection.
func (r *Request) Connection() uint32 { return r.c.number }

// Once calls f and returns its result. It returns false without a call if f said yes for another
// of the requests that were read together. Only within Serve.
func (r *Request) Once(f func() bool) bool {
	if r.c.asked {
		return true
	}
	r.c.asked = f()
	return r.c.asked
}

// Retain keeps Body valid until the request ends. It is called within Serve.
func (r *Request) Retain() {
	r.kept = append(r.kept[:0], r.Body...)
	r.Body = r.kept
}

// Rejoin counts the request as one that arrives now. Eras.Passed waits for requests that arrived
// before; a request that itself waits for Passed calls Rejoin meanwhile, again and again. It must have
// no request to the store under way.
func (r *Request) Rejoin() { r.era = r.c.inFlight.rejoin(r.era) }

// Reply ends the request with a response. It copies the body.
func (r *Request) Reply(resp wire.Message) {
	c := r.c
	if r.Op == wire.OpPrepare {
		resp = c.withoutKey(resp)
	}
	c.t.Append(wire.Header{Version: r.Version, Response: true, Flags: resp.Flags, Stream: r.stream, Op: resp.Op}, resp.Body)
	r.watched.end(resp, r.Fan)
	c.inFlight.end(r.era) // before the client, which has its answer, may send another
	c.t.Flush()
	r.end()
}

// Error ends the request with an error. It sends a *wire.Error unchanged, and any other error as a
// server error.
func (r *Request) Error(err error) {
	r.Reply(wire.Message{Op: wire.OpError, Body: wire.AsError(err).Append(nil, r.Version)})
}

// Pass ends the request by sending req on the client's own link, as if the client had sent it.
// The response passes through, but an UNPREPARED to an EXECUTE gets the client's id. req's body
// may be Scratch. Only within Serve, on its goroutine.
func (r *Request) Pass(req wire.Message) { r.pass(req, nil, 0) }

// PassUnder is Pass for a request that was planned under a premise. When the store has answered
// with a result, the premise must hold; otherwise its Review ends the request. keep keeps the
// body of the client's request for Review, at the cost of a copy. The body of a QUERY is always
// kept.
func (r *Request) PassUnder(req wire.Message, p Premise, of uint32, keep bool) {
	passed := false
	defer func() {
		if !passed { // the store has panicked
			p.End(of)
		}
	}()
	r.passUnder(req, p, of, keep)
	passed = true
}

func (r *Request) passUnder(req wire.Message, p Premise, of uint32, keep bool) {
	if !keep && r.Op == wire.OpExecute {
		r.pass(req, p, of)
		return
	}
	r.Retain()
	r.premise, r.of = p, of
	r.watched.sends()
	r.c.send(req, tagRequest+r.index)
}

func (r *Request) pass(req wire.Message, p Premise, of uint32) {
	c := r.c
	if req.Op == wire.OpPrepare {
		c.forwardPrepare(r, req)
		return
	}
	c.measure.watch(r.stream, r.watched)
	c.send(req, r.passTag(p, of)|r.era*tagEra)
	r.trim()
	if c.spare == nil {
		c.spare = r
		return
	}
	c.reqs.giveBack(r)
}

// Forward is Pass for the client's own message, if the router does not handle the statement after all. The
// answer must stand (Standing).
func (r *Request) Forward() {
	if s := r.c.d.standing; s != nil && r.Op != wire.OpPrepare {
		r.PassUnder(r.Message, forwardedIn{s, r.Term}, 0, false)
		return
	}
	r.Pass(r.Message)
}

// Go calls f in a new goroutine if the door has room for one more, else it ends the request with
// Overloaded. Only within Serve, as its last call. f ends the request; Body stays valid for it. The
// context of f is done when the client has disconnected, when the door closes, and when f has
// returned. So no request that f has sent to the store outlives f.
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
	body.Add(c.arriving.Bytes())
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
		// Each goroutine may hold a long result. If a client does not read its results, its
		// further requests wait here and hold no result.
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

// errGone ends a request whose client has gone. Nobody reads it.
var errGone = &wire.Error{Code: wire.CodeOverloaded, Message: "evenkeel: the client has gone; the request was not executed"}

// fail ends a request that panicked, unless it had ended before. use is the value of uses when
// the request began.
func (r *Request) fail(use uint32) {
	if r.uses.Load() == use {
		r.Error(errInternal)
	}
}

// end returns r to its connection.
func (r *Request) end() {
	r.trim()
	r.c.reqs.giveBack(r)
}

// trim marks this use of r as ended, and frees buffers larger than most requests need.
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

// requests holds the Requests of a connection, for later requests to use again.
type requests struct {
	mu   sync.Mutex
	all  []*Request // by index
	free *Request
}

// take takes a free Request of c, or makes one.
func (q *requests) take(c *conn) *Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.free
	if r == nil {
		r = &Request{c: c, index: uint32(len(q.all))}
		q.all = append(q.all, r)
	} else {
		q.free = r.next
	}
	return r
}

// giveBack makes a Request free.
func (q *requests) giveBack(r *Request) {
	q.mu.Lock()
	r.next, q.free = q.free, r
	q.mu.Unlock()
}

// at returns the Request with an index.
func (q *requests) at(index uint32) *Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all[index]
}

// newRequest takes a Request from the free list or makes one, and fills it. Only the reader calls
// it.
func (c *conn) newRequest(h wire.Header, body []byte) *Request {
	r := c.spare
	c.spare = nil
	if r == nil {
		r = c.reqs.take(c)
	}
	r.next = nil
	r.Message = wire.Message{Op: h.Op, Flags: h.Flags, Body: body}
	r.Version, r.Keyspace, r.Username = c.version, c.keyspace, c.identity.Username
	r.Link, r.stream, r.special, r.era = c.fwd, h.Stream, specialNone, c.inFlight.era
	r.Scratch, r.Stamp, r.premise, r.Term = r.Scratch[:0], 0, nil, c.term
	r.watched, r.Fan = c.measure.begin(h, body), nil
	return r
}

// freshRequest returns a Request that answers a stream whose own Request was not kept.
func (c *conn) freshRequest(stream int16, era uint32) *Request {
	r := c.reqs.take(c)
	r.next, r.Message, r.Link, r.Keyspace = nil, wire.Message{}, nil, ""
	r.Version, r.Username = c.version, c.identity.Username
	r.stream, r.special, r.premise, r.Stamp, r.era = stream, specialNone, nil, 0, era
	r.Scratch = r.Scratch[:0]
	r.watched, r.Fan = c.measure.passing.take(stream), nil
	return r
}

// Span returns the request's span, or nil if it has none.
func (r *Request) Span() observe.Span { return r.watched.span }

// received answers a special request with the rewritten response. The store's goroutines call it
// and flush afterwards.
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
			resp = asKnown(c.version, r.clientsID(), resp)
		}
		if resp.Op != wire.OpError && !p.Holds(resp.Arrival) {
			r.review(p, r.of, resp)
			return
		}
		p.End(r.of)
	}
	if body, ok := c.d.rewrite(c.address(), r.special, resp, r.Scratch[:0]); ok {
		resp.Body, r.Scratch = body, body
	}
	c.t.Append(wire.Header{Version: r.Version, Response: true, Flags: resp.Flags, Stream: r.stream, Op: resp.Op}, resp.Body)
	r.watched.end(resp, nil)
	c.inFlight.end(r.era)
	r.end()
}

// clientsID returns the id in an EXECUTE whose body was kept.
func (r *Request) clientsID() []byte {
	_, body, err := wire.SplitPrefix(r.Op, r.Flags, r.Body)
	if err != nil {
		return nil
	}
	id, _ := wire.ExecuteID(body) // the door has parsed it before
	return id
}

// withoutKey removes the partition key from a RESULT Prepared for drivers that should use the
// doors in turn.
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

// tell tells the router which id the store has given to a statement.
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

// preparedID returns the id in a RESULT Prepared.
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
