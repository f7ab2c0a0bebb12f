// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// link sends requests with one current keyspace.
type link struct {
	engine   *Engine
	version  wire.Version
	keyspace string
	own      bool // the door's own account

	flows flows

	mu    sync.Mutex
	dirty []store.Receiver // receivers that Forward has answered since Flush
}

var (
	_ store.Forwarder = (*link)(nil)
	_ store.Pacer     = (*link)(nil)
)

// Close implements store.Link. It ends the requests of a client that has gone and that wait for
// their turn.
func (l *link) Close() {
	for k, way := range l.engine.lanes {
		way.Drop(&l.flows[k])
	}
}

// Pace implements store.Pacer.
func (l *link) Pace(begin bool) {
	for k, way := range l.engine.lanes {
		if begin {
			way.Release(&l.flows[k])
		} else {
			way.Hold(&l.flows[k])
		}
	}
}

// Send implements store.Link.
func (l *link) Send(ctx context.Context, req wire.Message, reply func(resp wire.Message)) {
	l.serve(ctx, req, &callback{reply}, 0)
}

// callback is a Receiver for one response.
type callback struct{ reply func(resp wire.Message) }

func (c *callback) Receive(_ uint32, resp wire.Message) { c.reply(resp) }
func (c *callback) Flush()                              {}

// Forward implements store.Forwarder.
func (l *link) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	if !l.serve(ctx, req, to, tag) {
		return
	}
	l.mu.Lock()
	if !slices.Contains(l.dirty, to) {
		l.dirty = append(l.dirty, to)
	}
	l.mu.Unlock()
}

// Flush implements store.Forwarder.
func (l *link) Flush() {
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = nil
	l.mu.Unlock()
	for _, to := range dirty {
		to.Flush()
	}
}

// serve answers a request or arranges for its answer. It returns whether the request has been
// answered.
func (l *link) serve(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) bool {
	if !l.engine.begin() {
		to.Receive(tag, errorMessage(errClosing, l.version))
		return true
	}
	c := newCall(ctx, l, to, tag)
	out := answered
	if gone(ctx) != nil {
		c.fail(errGone)
	} else if out = c.atOnce(req); out == refused {
		l.later(c, req)
		return false
	}
	c.end()
	return out == answered
}

var errClosing = wire.Errorf(wire.CodeOverloaded, "the server is shutting down")
