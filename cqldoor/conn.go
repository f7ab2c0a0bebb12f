// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
	"github.com/evenkeel/evenkeel/observe"
)

// conn is one client's connection. The fields of the first group are the reader's,
// the goroutine that runs serve.
type conn struct {
	d        *Door
	number   uint32 // of the connections of the door
	t        *transport.Conn
	ctx      context.Context // done when the client has gone
	state    state
	version  wire.Version // 0 until STARTUP
	link     store.Link
	fwd      store.Forwarder // link's
	identity store.LinkOptions
	keyspace string
	driver   string // as it calls itself
	passed   *passed
	memory   *budget.Client // nil where memory is not bounded
	arriving budget.Account // for the present request, until the next is read
	asked    bool           // the router, of the requests that were read at once, see Request.Once
	handed   bool           // the present request's answer is on its way: do not answer it again
	spare    *Request       // one that has been passed on, for the next
	present  watched        // the present request, as far as it is known
	passing  *passing       // those that were passed on; nil where nothing is measured

	answered   atomic.Int64 // when the first response came that was not flushed; 0: none, or not measured
	requests   atomic.Int64
	inFlight   atomic.Int32
	draining   atomic.Bool
	registered atomic.Uint32 // event types, bits of eventTypes

	pacer atomic.Pointer[store.Pacer] // link's, if it is one
	paces atomic.Int32                // how often pace is to look

	running chan struct{} // a place for each of the router's goroutines that is at work

	mu   sync.Mutex
	reqs []*Request // all that were made, by tag
	free *Request
}

// state is how far a connection has come.
type state uint8

const (
	stateNew            state = iota // before STARTUP
	stateAuthenticating              // AUTHENTICATE was sent
	stateReady
)

// maxRunning is how many of the router's goroutines are at work for one connection.
const maxRunning = 64

func newConn(d *Door, nc net.Conn) *conn {
	c := &conn{d: d, number: uint32(d.counts.accepted.Load()), memory: d.opts.Memory.Client(), running: make(chan struct{}, maxRunning)}
	if c.measures() {
		c.passing = new(passing)
	}
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

// pace has the store begin none of the client's requests while the client leaves too
// much unread. Those that have begun are answered: an answer may be long.
func (c *conn) pace() {
	if c.paces.Add(1) != 1 {
		return // whoever is at it looks again
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
		c.arriving.Close() // the next may be long in coming
		h, body, err := c.t.Next()
		if err != nil && err != wire.ErrSkipped {
			c.refuse(h, err)
			return
		}
		if waited && c.measures() {
			c.present.begun = observe.Now() // requests that came together began together
		}
		if err != nil {
			c.passedOver(h)
		} else if !c.guarded(h, body) {
			c.lastWords()
			return
		}
		// A store may have answered already: requests that came together are not all
		// answered before the client has read any.
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

// unread is how many bytes the client may leave unread before its next request is left
// unread in turn: few where unread answers take much of the memory that there is.
func (c *conn) unread() int {
	if c.d.opts.Memory.Crowded() {
		return min(longMessage, c.d.opts.MaxUnread)
	}
	return c.d.opts.MaxUnread
}

// refuse says what was wrong with the bytes that came, if anything was, before
// the connection is closed.
func (c *conn) refuse(h wire.Header, err error) {
	var bad *wire.Error
	if !errors.As(err, &bad) {
		if errors.Is(err, transport.ErrSlow) {
			c.d.counts.slow.Add(1)
			c.d.opts.Log.Warn("a client's connection is closed: it has stopped to read what it is sent",
				"client", c.t.NetConn().RemoteAddr(), "for", c.d.opts.UnreadTimeout, "requests in flight", c.inFlight.Load())
			return
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
			c.d.opts.Log.Debug("a client's connection ended", "client", c.t.NetConn().RemoteAddr(), "error", err)
		}
		return
	}
	if c.version == 0 && !h.Version.Supported() {
		c.refuseVersion(h) // so drivers find the newest version that both sides speak
		return
	}
	c.d.counts.malformed.Add(1)
	c.d.opts.Log.Info("a client's connection is closed for what it sent", "client", c.t.NetConn().RemoteAddr(), "error", bad)
	c.reply(h.Stream, wire.OpError, bad.Append(nil, c.wireVersion()))
	c.lastWords()
}

// lastWords sends what has been said before the connection is closed. What cannot be
// written at once, as over TLS, would be dropped by that.
func (c *conn) lastWords() {
	c.t.Flush()
	c.t.WaitPending(0)
}

// refuseVersion answers a version that is not spoken here.
func (c *conn) refuseVersion(h wire.Header) {
	c.lastWords()
	c.t.NetConn().SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.t.NetConn().Write(c.d.appendVersionError(nil, h)) // the connection ends in any case
}

// appendVersionError is wire.AppendVersionError for the versions of the store.
func (d *Door) appendVersionError(dst []byte, h wire.Header) []byte {
	if d.maxVersion == wire.Highest || h.Version == 1 || h.Version == 2 {
		return wire.AppendVersionError(dst, h)
	}
	e := wire.Errorf(wire.CodeProtocol, "Invalid or unsupported protocol version (%d); supported versions are (%s)", uint8(h.Version), wire.SupportedVersions[0])
	return wire.AppendFrame(dst, wire.Header{Version: d.maxVersion, Response: true, Stream: h.Stream, Op: wire.OpError}, e.Append(nil, d.maxVersion))
}

// wireVersion is the version that answers are written in.
func (c *conn) wireVersion() wire.Version {
	if c.version == 0 {
		return c.d.maxVersion
	}
	return c.version
}

// guarded dispatches a frame, and answers it where that panics. It reports whether
// the connection goes on.
func (c *conn) guarded(h wire.Header, body []byte) (goOn bool) {
	defer func() {
		if p := recover(); p != nil {
			c.d.panicked(p)
			if !c.handed {
				c.present.fail(errInternal)
				c.replyError(h.Stream, errInternal)
			}
			goOn = c.state == stateReady
		}
	}()
	c.handed = false
	return c.dispatch(h, body)
}

var errInternal = &wire.Error{Code: wire.CodeServer, Message: "evenkeel: internal error"}

func (d *Door) panicked(p any) {
	d.counts.panics.Add(1)
	d.opts.Log.Error("a request panicked", "panic", p, "stack", string(debug.Stack()))
}

// reply appends a response of the door's own; the reader's loop flushes it.
func (c *conn) reply(stream int16, op wire.Op, body []byte) {
	c.handed = true
	c.t.Append(wire.Header{Version: c.wireVersion(), Response: true, Stream: stream, Op: op}, body)
}

func (c *conn) replyError(stream int16, e *wire.Error) {
	c.reply(stream, wire.OpError, e.Append(nil, c.wireVersion()))
}

// Tags of forwarded requests: below tagRequest the stream itself, whose response
// passes through; from there on the index of a Request. With tagPassed a stream again.
const tagRequest = 1 << 16

// Receive passes a response on. It is called by the store's goroutines.
func (c *conn) Receive(tag uint32, resp wire.Message) {
	switch {
	case tag&tagPassed != 0:
		var settled bool
		if resp, settled = c.receivePassed(tag, resp); !settled {
			return
		}
	case tag >= tagRequest:
		c.request(tag).received(resp)
		return
	}
	stream := int16(uint16(tag))
	w := c.passing.take(stream)
	c.t.Append(wire.Header{Version: c.version, Response: true, Flags: resp.Flags, Stream: stream, Op: resp.Op}, resp.Body)
	w.endAt(c.answeredAt(&w), resp)
	c.inFlight.Add(-1)
}

// Flush sends what Receive has appended.
func (c *conn) Flush() {
	if c.answered.Load() != 0 {
		c.answered.Store(0)
	}
	c.t.Flush()
}

// forward passes a request on unchanged, and its response too.
func (c *conn) forward(h wire.Header, body []byte) {
	c.handed = true
	c.watch(h.Stream, c.begun(h, body))
	c.fwd.Forward(c.ctx, wire.Message{Op: h.Op, Flags: h.Flags, Body: body}, c, uint32(uint16(h.Stream)))
}

// setLink makes l what requests go to.
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

// closeLink ends the link. Requests that it has been sent go on.
func (c *conn) closeLink() {
	if p := c.pacer.Swap(nil); p != nil {
		(*p).Pace(true)
	}
	c.link.Close()
}

// plain makes a Forwarder of a link that is none.
type plain struct{ store.Link }

func (p plain) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	p.Send(ctx, req, func(resp wire.Message) {
		to.Receive(tag, resp)
		to.Flush()
	})
}

func (plain) Flush() {}
