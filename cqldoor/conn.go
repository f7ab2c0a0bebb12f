// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
	"github.com/evenkeel/evenkeel/observe"
)

// conn is one client's connection. The first group of fields belongs to the reader, the goroutine
// that runs serve.
type conn struct {
	d        *Door
	number   uint32 // numbers the connections of the door
	t        *transport.Conn
	ctx      context.Context // cancelled when the client has gone
	state    state
	version  wire.Version // 0 until STARTUP
	link     store.Link
	fwd      store.Forwarder // forwards through link
	identity store.LinkOptions
	keyspace string
	driver   string // DRIVER_NAME of STARTUP
	passed   *passed
	term     uint32         // Standing's term when the present request arrived, cut by TermMask
	memory   *budget.Client // nil: memory is not bounded
	arriving budget.Account // memory of the present request, until the next one is read
	asked    bool           // whether Request.Once has had a yes for the requests that were read together
	handed   bool           // the answer of the present request is on its way: do not answer it again
	sending  bool           // the store is taking the present request
	spare    *Request       // for the next request to use; it belonged to one that was passed on

	measure measure

	inFlight   inFlight
	reqs       requests
	requests   atomic.Int64
	draining   atomic.Bool
	registered atomic.Uint32 // event types of REGISTER, as bits of eventTypes

	pacer atomic.Pointer[store.Pacer] // link, if it is a Pacer
	paces atomic.Int32                // how often pace is still to look

	running chan struct{} // one place for each goroutine of the router that runs for this connection
}

// state is a stage of a connection's handshake.
type state uint8

const (
	stateNew            state = iota // before STARTUP
	stateAuthenticating              // AUTHENTICATE was sent
	stateReady
)

// maxRunning is how many goroutines of the router may run for one connection at a time.
const maxRunning = 64

func newConn(d *Door, nc net.Conn) *conn {
	c := &conn{d: d, number: uint32(d.counts.accepted.Load()), memory: d.opts.Memory.Client(), running: make(chan struct{}, maxRunning)}
	c.inFlight.eras = d.opts.Eras
	c.measure.set(d.opts.Observe)
	o := transport.Options{
		Server:       true,
		MaxFrame:     d.opts.MaxFrameUnauthenticated,
		Unread:       d.opts.MaxUnread,
		Paced:        c.pace,
		WriteTimeout: d.opts.UnreadTimeout,
	}
	if c.memory != nil {
		o.Held, o.Expect = c.memory.Hold, c.expect
	}
	c.t = transport.New(nc, o)
	return c
}

// pace makes the store begin no more of the client's requests while the client has too much to
// read. The store still answers requests that it has begun, because an answer may be long.
func (c *conn) pace() {
	if c.paces.Add(1) != 1 {
		return // the goroutine that is in pace looks again
	}
	for {
		n := c.paces.Load()
		if p := c.pacer.Load(); p != nil {
			(*p).Pace(!c.t.Full())
		}
		if c.paces.CompareAndSwap(n, 0) {
			return
		}
	}
}

// serve reads requests until the connection ends.
func (c *conn) serve() {
	ctx, cancel := context.WithCancel(c.d.ctx)
	c.ctx = budget.WithClient(ctx, c.memory)
	defer func() {
		cancel()
		c.arriving.Close()
		c.t.Close()
		if c.link != nil {
			c.closeLink()
		}
		c.d.counts.requests.Add(c.requests.Load())
		c.requests.Store(0)
	}()
	c.t.NetConn().SetReadDeadline(time.Now().Add(c.d.opts.HandshakeTimeout))
	waited := true
	for {
		c.arriving.Close() // the next request may come much later
		h, body, err := c.t.Next()
		if err != nil && err != wire.ErrSkipped {
			c.refuse(h, err)
			return
		}
		if waited && c.measure.on() {
			c.measure.present.begun = observe.Now() // requests that came together have the same beginning
		}
		if err != nil {
			c.passedOver(h)
		} else if !c.guarded(h, body) {
			c.lastWords()
			return
		}
		// The store may have answered some of these requests already. The client must be able to
		// read those answers before all requests that came together are answered.
		if waited = !c.t.Buffered() || c.t.Pending() > c.unread(); !waited {
			continue
		}
		c.asked = false
		if c.fwd != nil {
			c.fwd.Flush()
		}
		c.t.Flush()
		if most := c.unread(); c.t.Pending() > most {
			c.t.WaitPending(most / 2)
		}
	}
}

// unread returns how many bytes the client may leave unread before the door stops reading its
// requests. The number is small while unread answers take much of the memory.
func (c *conn) unread() int {
	if c.d.opts.Memory.Crowded() {
		return min(longMessage, c.d.opts.MaxUnread)
	}
	return c.d.opts.MaxUnread
}

// refuse tells the client why its bytes are invalid, if they are, before the connection is
// closed.
func (c *conn) refuse(h wire.Header, err error) {
	var bad *wire.Error
	if !errors.As(err, &bad) {
		if errors.Is(err, transport.ErrSlow) {
			c.d.counts.slow.Add(1)
			c.d.opts.Log.Warn("the door closes a client's connection: the client has stopped reading its answers",
				"client", c.t.NetConn().RemoteAddr(), "for", c.d.opts.UnreadTimeout, "requests in flight", c.inFlight.Load())
			return
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
			c.d.opts.Log.Debug("a client's connection ended", "client", c.t.NetConn().RemoteAddr(), "error", err)
		}
		return
	}
	if c.version == 0 && !h.Version.Supported() {
		c.refuseVersion(h) // drivers then find the newest version that both sides speak
		return
	}
	c.d.counts.malformed.Add(1)
	c.d.opts.Log.Info("the door closes a client's connection because of a malformed message", "client", c.t.NetConn().RemoteAddr(), "error", bad)
	c.reply(h.Stream, wire.OpError, bad.Append(nil, c.wireVersion()))
	c.lastWords()
}

// lastWords waits until the last messages are written before the connection is closed. Over TLS,
// closing at once would drop what could not be written immediately.
func (c *conn) lastWords() {
	c.t.Flush()
	c.t.WaitPending(0)
}

// refuseVersion answers a protocol version that the door does not speak.
func (c *conn) refuseVersion(h wire.Header) {
	c.lastWords()
	c.t.NetConn().SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.t.NetConn().Write(c.d.appendVersionError(nil, h)) // the connection is closed anyway
}

// appendVersionError is wire.AppendVersionError with the versions of the store.
func (d *Door) appendVersionError(dst []byte, h wire.Header) []byte {
	if d.maxVersion == wire.Highest || h.Version == 1 || h.Version == 2 {
		return wire.AppendVersionError(dst, h)
	}
	e := wire.Errorf(wire.CodeProtocol, "Invalid or unsupported protocol version (%d); supported versions are (%s)", uint8(h.Version), wire.SupportedVersions[0])
	return wire.AppendFrame(dst, wire.Header{Version: d.maxVersion, Response: true, Stream: h.Stream, Op: wire.OpError}, e.Append(nil, d.maxVersion))
}

// wireVersion returns the protocol version in which answers are written.
func (c *conn) wireVersion() wire.Version {
	if c.version == 0 {
		return c.d.maxVersion
	}
	return c.version
}

// guarded dispatches a frame. If that panics, it answers the frame with an error. It reports
// whether the connection goes on.
func (c *conn) guarded(h wire.Header, body []byte) (goOn bool) {
	defer func() {
		if p := recover(); p != nil {
			c.d.panicked(p)
			goOn = c.recovered(h) && c.state == stateReady
		}
	}()
	c.inFlight.open, c.handed, c.sending = false, false, false
	return c.dispatch(h, body)
}

// recovered ends the present request after a panic. It reports whether the connection may go on.
// It may not if the store was taking the request. The store may have it and still answer, and the
// client could take that answer for another request's.
func (c *conn) recovered(h wire.Header) bool {
	if c.inFlight.open {
		c.inFlight.finish()
	}
	if c.sending {
		c.measure.present.fail(errInternal)
		return false
	}
	if !c.handed {
		c.measure.present.fail(errInternal)
		c.replyError(h.Stream, errInternal)
	}
	return true
}

var errInternal = &wire.Error{Code: wire.CodeServer, Message: "evenkeel: internal error"}

func (d *Door) panicked(p any) {
	d.counts.panics.Add(1)
	d.opts.Log.Error("a request panicked", "panic", p, "stack", string(debug.Stack()))
}

// reply appends a response made by the door. The reader's loop flushes it.
func (c *conn) reply(stream int16, op wire.Op, body []byte) {
	c.handed = true
	c.t.Append(wire.Header{Version: c.wireVersion(), Response: true, Stream: stream, Op: op}, body)
}

func (c *conn) replyError(stream int16, e *wire.Error) {
	c.reply(stream, wire.OpError, e.Append(nil, c.wireVersion()))
}

// These are tags of forwarded requests. A tag below tagRequest is the stream of a response that
// passes through unchanged. A tag from tagRequest on is the index of a Request. A tag with
// tagPassed or tagForwarded is a stream again. tagEra is added to a stream if the request is of era 1.
const tagRequest = 1 << 16

// Receive passes a response on to the client. The store's goroutines call it.
func (c *conn) Receive(tag uint32, resp wire.Message) {
	era := tag / tagEra & 1
	switch tag &^= tagEra; {
	case tag&tagPassed != 0:
		var settled bool
		if resp, settled = c.receivePassed(tag, era, resp); !settled {
			return
		}
	case tag&tagForwarded != 0:
		if !c.receiveForwarded(tag, era, resp) {
			return
		}
	case tag >= tagRequest:
		c.reqs.at(tag - tagRequest).received(resp)
		return
	}
	stream := int16(uint16(tag))
	w := c.measure.passing.take(stream)
	c.t.Append(wire.Header{Version: c.version, Response: true, Flags: resp.Flags, Stream: stream, Op: resp.Op}, resp.Body)
	w.endAt(c.measure.answeredAt(&w), resp)
	c.inFlight.end(era)
}

// Flush sends what Receive has appended.
func (c *conn) Flush() {
	c.measure.flushed()
	c.t.Flush()
}

// forward passes a request and its response on unchanged. The response must stand if s is not nil.
func (c *conn) forward(h wire.Header, body []byte, s Standing) {
	c.measure.watch(h.Stream, c.measure.begin(h, body))
	tag := uint32(uint16(h.Stream)) | c.inFlight.tag()
	if s != nil {
		tag |= tagForwarded | c.term<<tagTerm
	}
	c.send(wire.Message{Op: h.Op, Flags: h.Flags, Body: body}, tag)
}

// send passes a request on to the store, which answers it. Only the reader calls it.
func (c *conn) send(req wire.Message, tag uint32) {
	c.sending, c.inFlight.open = true, true // a panic of the store would leave the request in inFlight
	c.fwd.Forward(c.ctx, req, c, tag)
	c.sending, c.handed, c.inFlight.open = false, true, false
}

// setLink makes l the link that requests go to.
func (c *conn) setLink(l store.Link, keyspace string) {
	if c.link != nil {
		c.fwd.Flush()
		c.closeLink()
	}
	c.link, c.keyspace = l, keyspace
	if p, ok := l.(store.Pacer); ok {
		c.pacer.Store(&p)
		c.pace()
	}
	if f, ok := l.(store.Forwarder); ok {
		c.fwd = f
	} else {
		c.fwd = plain{l}
	}
}

// closeLink closes the link. Requests that were sent over it go on.
func (c *conn) closeLink() {
	if p := c.pacer.Swap(nil); p != nil {
		(*p).Pace(true)
	}
	c.link.Close()
}

// plain makes a Forwarder of a link that is not one.
type plain struct{ store.Link }

func (p plain) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	p.Send(ctx, req, func(resp wire.Message) {
		to.Receive(tag, resp)
		to.Flush()
	})
}

func (plain) Flush() {}
