// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// eventTypes are what clients may REGISTER for; a connection's registered is a
// set of bits by index.
var eventTypes = [...]string{wire.EventTopology, wire.EventStatus, wire.EventSchema}

func (c *conn) register(h wire.Header, body []byte) {
	types, err := wire.ParseRegister(body)
	if err != nil {
		c.d.counts.malformed.Add(1)
		c.replyError(h.Stream, wire.AsError(err))
		return
	}
	set := uint32(0)
next:
	for _, t := range types {
		for i, known := range eventTypes {
			if t == known {
				set |= 1 << i
				continue next
			}
		}
		c.replyError(h.Stream, wire.Errorf(wire.CodeProtocol, "Invalid value '%s' for Type", t))
		return
	}
	c.registered.Or(set)
	c.reply(h.Stream, wire.OpReady, nil)
}

// eventQueue holds events until the router has time for them, so that the store
// never waits: its one connection for events is also how it finds its hosts.
type eventQueue struct {
	mu     sync.Mutex
	bodies [][]byte
	closed bool
	wake   chan struct{}
}

// maxEvents is how many may wait. Where there are more, what they say is looked up
// instead.
const maxEvents = 1024

func newEventQueue() *eventQueue { return &eventQueue{wake: make(chan struct{}, 1)} }

// put takes an event, or nil for some that were missed.
func (q *eventQueue) put(body []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if len(q.bodies) == maxEvents {
		q.bodies = append(q.bodies[:0], nil)
	}
	if body != nil {
		body = append([]byte{}, body...)
	}
	q.bodies = append(q.bodies, body)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take waits for events and takes all; false when the queue is closed.
func (q *eventQueue) take() ([][]byte, bool) {
	for range q.wake {
		q.mu.Lock()
		bodies, closed := q.bodies, q.closed
		q.bodies = nil
		q.mu.Unlock()
		if closed {
			return nil, false
		}
		if len(bodies) > 0 {
			return bodies, true
		}
	}
	return nil, false
}

func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.wake)
}

// events shows events of the store to the clients that registered for them.
//
// Of the store's events only changes of the schema are: the nodes that come and go are its
// own, and a driver that heard of them would connect to them, round the door. The nodes of
// clients are the doors, of which the router tells (Announce).
func (d *Door) events(bodies [][]byte) {
	shown := bodies[:0]
	for _, body := range bodies {
		if body != nil {
			if e, err := wire.ParseEvent(body); err != nil || e.Type != wire.EventSchema {
				continue
			}
		}
		shown = append(shown, body)
	}
	if d.opts.Router != nil && len(shown) > 0 {
		shown = d.opts.Router.Events(shown, nil)
	}
	for _, body := range shown {
		if body != nil {
			d.Announce(body)
		}
	}
}

// Announce sends the body of an EVENT to the clients that registered for its type: for
// changes that the store does not see, too.
func (d *Door) Announce(body []byte) {
	e, err := wire.ParseEvent(body)
	if err != nil {
		return
	}
	bit := uint32(1) << slices.Index(eventTypes[:], e.Type)
	d.mu.Lock()
	conns := make([]*conn, 0, len(d.conns))
	for c := range d.conns {
		if c.registered.Load()&bit != 0 {
			conns = append(conns, c)
		}
	}
	d.mu.Unlock()
	for _, c := range conns {
		// A client that has registered is past its handshake: its version is settled.
		c.t.Append(wire.Header{Version: c.version, Response: true, Stream: -1, Op: wire.OpEvent}, body)
		c.t.Flush()
	}
}
