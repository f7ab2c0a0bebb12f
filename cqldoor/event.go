// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// eventTypes lists the event types that clients may REGISTER for. A connection's field registered
// is a set of bits by index in this list.
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

// eventQueue holds events until the router has time for them. So the store never waits: it also
// finds its hosts over its one connection for events.
type eventQueue struct {
	mu     sync.Mutex
	bodies [][]byte
	closed bool
	wake   chan struct{}
}

// maxEvents is how many events may wait. If more come, the door looks up their content instead.
const maxEvents = 1024

func newEventQueue() *eventQueue { return &eventQueue{wake: make(chan struct{}, 1)} }

// put adds an event. A nil body stands for events that were missed.
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

// take waits for events and takes all of them. It returns false when the queue is closed.
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

// events shows the store's events to the clients that registered for them.
//
// Of the store's events it shows only schema changes. It hides the store's own nodes: a driver
// that heard of them would connect to them and bypass the door. To clients, the nodes are the
// doors. The router announces these (Announce).
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

// Announce sends the body of an EVENT to the clients that registered for its type. It also serves
// changes that the store does not see.
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
		// A client that has registered has ended its handshake, so its version is known.
		c.t.Append(wire.Header{Version: c.version, Response: true, Stream: -1, Op: wire.OpEvent}, body)
		c.t.Flush()
	}
}
