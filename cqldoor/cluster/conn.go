// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
)

const (
	maxStreams   = 32768    // the protocol's limit
	maxKeptBody  = 64 << 10 // a longer EXECUTE is not kept to be sent again
	keptCapacity = 4 << 10  // largest buffer of a kept body that outlives its request
	maxKept      = 16 << 20 // bytes kept per connection
	maxPending   = 4 << 20  // bytes that may wait to be written; further requests wait in a queue from which they can be dropped
	maxCures     = 64       // cures of one request: a BATCH may need one per statement
)

// conn is one connection to one host after its handshake. Its streams are slots: each slot holds
// the receiver of a response and the request that may have to be sent again.
//
// A goroutine that has locked mu neither appends to t nor flushes it. t may call the pool, which
// then sends waiting requests, also on this connection.
type conn struct {
	t       *transport.Conn
	version wire.Version
	host    *host
	pool    *pool // nil: the control connection
	prep    *prepared

	inFlight atomic.Int32 // for choosing a connection; accurate enough for that
	most     int32        // largest number of requests in flight
	full     atomic.Bool  // more than maxPending bytes waited to be written
	out      atomic.Bool  // no stream is free; set under mu
	ended    atomic.Bool  // set under mu
	leaving  atomic.Bool  // the host has left the cluster: no new requests
	tick     atomic.Uint32
	heard    atomic.Uint32 // tick at which something arrived last

	unused int // beats without a request since the host left; only beat uses it

	mu      sync.Mutex
	slots   []slot // grows in steps; the indexes are stream ids
	free    []int16
	kept    int // bytes of kept bodies
	orphans int // slots that were given up before their response came
	why     string

	done chan struct{} // closed when the reader has ended and every slot has its answer
}

// slot is one stream. The connection's mu guards it.
type slot struct {
	to    store.Receiver // nil: the slot is free, or its request was given up
	tag   uint32
	since uint32 // tick
	op    wire.Op
	flags wire.Flags
	read  bool // a QUERY that is a SELECT
	cures uint8
	gone  bool   // the request was given up; the response is still to come
	body  []byte // of an EXECUTE or BATCH, to send it again after a cure
}

func newConn(t *transport.Conn, v wire.Version, h *host, p *pool, prep *prepared) *conn {
	c := &conn{t: t, version: v, host: h, pool: p, prep: prep, most: maxStreams, done: make(chan struct{})}
	if p != nil {
		o := &p.cluster.opts
		c.most = int32((o.InFlight + o.ConnsPerHost - 1) / o.ConnsPerHost)
	}
	return c
}

// forward queues a request and reports whether it did. It does not if the connection has ended, has
// no free stream, or has too much to write already.
func (c *conn) forward(req wire.Message, to store.Receiver, tag uint32) bool {
	_, ok := c.queue(req, to, tag)
	return ok
}

// queue is forward. It also returns the request's stream.
func (c *conn) queue(req wire.Message, to store.Receiver, tag uint32) (id int16, ok bool) {
	if !c.takes() {
		return 0, false
	}
	paged := pages(c.version, req)
	c.mu.Lock()
	if c.ended.Load() {
		c.mu.Unlock()
		return 0, false
	}
	if id, ok = c.takeFree(); !ok {
		c.mu.Unlock()
		return 0, false
	}
	var after int16
	if paged {
		if after, ok = c.takeFree(); !ok {
			c.free = append(c.free, id)
			c.mu.Unlock()
			return 0, false
		}
		o := &c.slots[after]
		o.to, o.op, o.since, o.gone, o.read = ignore{}, wire.OpOptions, c.tick.Load(), false, false
	}
	s := &c.slots[id]
	s.to, s.tag, s.op, s.flags, s.since = to, tag, req.Op, req.Flags, c.tick.Load()
	s.cures, s.gone, s.read = 0, false, false
	switch req.Op {
	case wire.OpExecute, wire.OpBatch:
		if len(req.Body) <= maxKeptBody && c.kept+len(req.Body) <= maxKept {
			s.body = append(s.body[:0], req.Body...)
			c.kept += len(req.Body)
		}
	case wire.OpQuery:
		if text, err := wire.QueryText(req.Body); err == nil && req.Flags&wire.FlagCustomPayload == 0 {
			s.read = isSelect(text)
		}
	}
	c.mu.Unlock()
	h := wire.Header{Version: c.version, Flags: req.Flags, Stream: id, Op: req.Op}
	var pending int
	if paged {
		c.inFlight.Add(2)
		pending = c.t.AppendBoth(h, req.Body, wire.Header{Version: c.version, Stream: after, Op: wire.OpOptions})
	} else {
		c.inFlight.Add(1)
		pending = c.t.Append(h, req.Body)
	}
	if pending > maxPending {
		c.full.Store(true)
	}
	return id, true
}

// requestOf returns the unanswered request of a receiver on a stream. It returns false if the
// receiver has its answer, or if the body was too long to be kept.
func (c *conn) requestOf(id int16, to store.Receiver) (req wire.Message, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if int(id) >= len(c.slots) {
		return wire.Message{}, false // the connection has ended
	}
	s := &c.slots[id]
	if s.to != to || len(s.body) == 0 {
		return wire.Message{}, false
	}
	return wire.Message{Op: s.op, Flags: s.flags, Body: slices.Clone(s.body)}, true
}

// takes reports whether the connection takes another request. It does not if it has ended, its host
// has left the cluster, it has too much to write already, or it has too many requests in flight.
func (c *conn) takes() bool {
	if c.full.Load() {
		if c.t.Full() {
			return false
		}
		c.full.Store(false)
	}
	return !c.ended.Load() && !c.leaving.Load() && !c.out.Load() && c.inFlight.Load() < c.most
}

// takeFree takes a free stream. The caller holds mu.
func (c *conn) takeFree() (int16, bool) {
	if len(c.free) == 0 {
		if len(c.slots) == maxStreams {
			c.out.Store(true)
			return 0, false
		}
		from := len(c.slots)
		to := min(max(2*from, 64), maxStreams)
		grown := make([]slot, to)
		copy(grown, c.slots)
		c.slots = grown
		for id := to - 1; id >= from; id-- {
			c.free = append(c.free, int16(id))
		}
	}
	id := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	return id, true
}

// release frees a stream. The caller holds mu.
func (c *conn) release(id int16) {
	s := &c.slots[id]
	c.kept -= len(s.body)
	if cap(s.body) > keptCapacity {
		s.body = nil
	}
	s.body = s.body[:0]
	s.to = nil
	c.free = append(c.free, id)
	c.out.Store(false)
}

// read hands out responses until the connection ends. It runs in the connection's only goroutine.
func (c *conn) read() {
	var err error
	var touched []store.Receiver
	var arrival wire.Arrival
	flush := func() {
		arrival.Checked = nil // the next response arrives later
		for i, to := range touched {
			to.Flush()
			touched[i] = nil
		}
		touched = touched[:0]
	}
	for {
		var h wire.Header
		var body []byte
		if h, body, err = c.t.Next(); err != nil {
			break
		}
		c.heard.Store(c.tick.Load())
		c.host.speaks()
		if to := c.response(h, body, &arrival); to != nil && (len(touched) == 0 || touched[len(touched)-1] != to) {
			touched = append(touched, to)
		}
		if !c.t.Buffered() {
			flush()
		}
	}
	flush()
	c.end(reason(err))
	close(c.done)
}

// response hands one response to its receiver.
func (c *conn) response(h wire.Header, body []byte, arrival *wire.Arrival) store.Receiver {
	if h.Stream < 0 {
		if h.Op == wire.OpEvent && c.host != nil && c.pool == nil {
			c.host.cluster.event(body)
		}
		return nil
	}
	c.mu.Lock()
	if int(h.Stream) >= len(c.slots) {
		c.mu.Unlock()
		return nil
	}
	s := &c.slots[h.Stream]
	to, tag := s.to, s.tag
	if to == nil {
		if s.gone {
			s.gone = false
			c.orphans--
			c.release(h.Stream)
		}
		c.mu.Unlock()
		return nil
	}
	if h.Op == wire.OpError && len(s.body) > 0 && s.cures < maxCures {
		if id, prepare, ok := c.mayCure(h, s, body); ok {
			c.mu.Unlock()
			c.t.Append(wire.Header{Version: c.version, Stream: id, Op: wire.OpPrepare}, prepare)
			c.t.Flush()
			return nil
		}
	}
	c.release(h.Stream)
	c.mu.Unlock()
	c.left()
	to.Receive(tag, wire.Message{Op: h.Op, Flags: h.Flags, Body: body, Arrival: arrival})
	if h.Op == wire.OpResult && wire.KindOf(body) == wire.ResultSetKeyspace && c.pool != nil {
		// A USE got through, for example one that was prepared before the door was started. The
		// connection is shared and must not keep a keyspace other than its pool's.
		c.close("its keyspace was changed")
	}
	return to
}

// left counts a request out whose stream is free or given up, and lets waiting requests take its
// place. The caller does not hold mu.
func (c *conn) left() {
	c.inFlight.Add(-1)
	if c.pool != nil {
		c.pool.roomy()
	}
}

// end answers every waiting request after the reader has ended.
func (c *conn) end(why string) {
	c.t.Close()
	c.mu.Lock()
	c.ended.Store(true)
	if c.why != "" {
		why = c.why
	}
	var lost []slot
	for i := range c.slots {
		s := &c.slots[i]
		if s.to != nil {
			lost = append(lost, *s)
		}
	}
	c.slots, c.free = nil, nil
	c.mu.Unlock()
	if c.pool != nil {
		c.pool.remove(c)
	}
	for i := range lost {
		c.answerLost(&lost[i], "the connection to "+c.host.addr+" was lost ("+why+")")
	}
	for i := range lost {
		lost[i].to.Flush()
	}
}

func (c *conn) answerLost(s *slot, why string) {
	var text []byte
	switch {
	case s.read:
		text = []byte("SELECT")
	case s.op == wire.OpExecute && s.flags&wire.FlagCustomPayload == 0:
		if id, err := wire.ExecuteID(s.body); err == nil {
			if st, ok := c.prep.get(id); ok {
				text = []byte(st.text)
			}
		}
	}
	c.left()
	s.to.Receive(s.tag, wire.Message{Op: wire.OpError, Body: errLost(s.op, text, why).Append(nil, c.version)})
}

// close ends the connection. The reader then answers the waiting requests.
func (c *conn) close(why string) {
	c.mu.Lock()
	if c.why == "" {
		c.why = why
	}
	c.ended.Store(true)
	c.mu.Unlock()
	c.t.Close()
}

// beat runs once a second. It gives up requests that are too old, asks a silent host for a sign of
// life, and closes a connection to a host that has left when all requests are answered. A tick is a
// second.
func (c *conn) beat(timeout, heartbeat uint32) {
	now := c.tick.Add(1)
	if c.leaving.Load() && c.inFlight.Load() == 0 {
		// A request that found the connection just before the host left may not be counted yet.
		if c.unused++; c.unused > 1 {
			c.close("the host left the cluster")
			return
		}
	}
	silent := now - c.heard.Load()
	switch {
	case silent == heartbeat:
		if c.forward(wire.Message{Op: wire.OpOptions}, ignore{}, 0) {
			c.t.Flush()
		}
	case silent > 2*heartbeat:
		c.close("no sign of life")
		return
	}
	var old []slot
	c.mu.Lock()
	for i := range c.slots {
		s := &c.slots[i]
		if s.to == nil || now-s.since <= timeout {
			continue
		}
		gone := *s
		gone.body = append([]byte(nil), s.body...)
		old = append(old, gone)
		s.to, s.gone = nil, true
		c.orphans++
	}
	tooMany := c.orphans > maxStreams/4
	c.mu.Unlock()
	for i := range old {
		c.answerLost(&old[i], "the time for a request was up")
		old[i].to.Flush()
	}
	if tooMany {
		c.close("too many requests without a response")
	}
}

// ignore is a receiver for responses that nobody needs.
type ignore struct{}

func (ignore) Receive(uint32, wire.Message) {}
func (ignore) Flush()                       {}

// reason describes the end of a connection without addresses.
func reason(err error) string {
	if errors.Is(err, net.ErrClosed) {
		return "it was closed"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
