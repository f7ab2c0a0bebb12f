// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/lane"
)

// link is a store.Forwarder on a pool. Between two flushes it stays on one connection if it can, so
// that requests that a client sent together leave together.
type link struct {
	p     *pool
	cur   atomic.Pointer[conn]
	close sync.Once

	wide, backlog lane.Flow // in the pool's queues
	queued        atomic.Int64

	// others lists the connections besides cur that have something to flush. They lead to replicas
	// for some requests.
	mu        sync.Mutex
	others    []*conn
	scattered atomic.Bool // others is not empty
}

func (l *link) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	if ctx.Err() != nil {
		l.refuse(to, tag, whyGone)
		return
	}
	if e := undecodable(l.p.options.Version, req); e != nil {
		to.Receive(tag, wire.Message{Op: wire.OpError, Body: e.Append(nil, l.p.options.Version)})
		return
	}
	if req.Op == wire.OpPrepare {
		to = l.p.cluster.prepared.learn(l.p.options.Version, l.p.options.Keyspace, req, to, tag)
	}
	if store.IsWide(ctx) && !l.p.options.Own {
		l.forwardWide(ctx, req, to, tag)
		return
	}
	l.forward(ctx, req, to, tag)
}

// forward sends a request, or queues it until a connection takes it. It reports whether it has
// answered the request, always with an error.
func (l *link) forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) (answered bool) {
	why := whyTooMany
	if l.p.queues.behind.Load() == 0 {
		var sent bool
		if sent, why = l.try(req, to, tag); sent {
			return false
		}
	}
	if why == whyTooMany {
		return l.delay(ctx, req, to, tag)
	}
	l.refuse(to, tag, why)
	return true
}

// try sends a request if a connection takes it. Otherwise it returns the reason.
func (l *link) try(req wire.Message, to store.Receiver, tag uint32) (sent bool, why string) {
	if c := l.replica(req, to); c != nil && l.put(c, req, to, tag) {
		l.written(c)
		return true, ""
	}
	for range 4 {
		c := l.cur.Load()
		if c == nil {
			if c = l.p.pick(); c == nil {
				break
			}
		}
		if l.put(c, req, to, tag) {
			l.written(c)
			return true, ""
		}
		// The link goes on with another connection. Earlier requests may wait for a flush on c.
		if l.cur.CompareAndSwap(c, nil) {
			c.t.Flush()
		}
	}
	if !l.p.connected() {
		l.p.wake()
		return false, "there is no connection to the cluster"
	}
	return false, whyTooMany
}

// refuse answers a request that was not sent.
func (l *link) refuse(to store.Receiver, tag uint32, why string) {
	to.Receive(tag, wire.Message{Op: wire.OpError, Body: errNotSent(why).Append(nil, l.p.options.Version)})
}

// replica returns a connection to a replica for a request. It prefers the node that a part of a
// fan-out names, or the link's current connection if that leads to a replica. It returns nil if the
// replicas are unknown or none can be reached.
func (l *link) replica(req wire.Message, to store.Receiver) *conn {
	live := l.p.live.Load()
	if len(live.hosts) < 2 {
		return nil
	}
	if p, ok := to.(*part); ok && p.node >= 0 {
		return l.named(live, p)
	}
	return l.routed(live, req)
}

// named returns a connection to a node that a part names: to the second node if the first is down
// or silent.
func (l *link) named(live *liveHosts, p *part) *conn {
	t := l.p.cluster.topology.Load()
	var first *conn
	for _, n := range [...]int{p.node, p.other} {
		if h := t.host(n); h != nil {
			c := live.of[h].pick()
			if c != nil && !h.silent() {
				return c
			}
			if first == nil {
				first = c
			}
		}
	}
	return first
}

// routed returns a connection to a replica of the partition that the request itself binds.
func (l *link) routed(live *liveHosts, req wire.Message) *conn {
	to := l.p.cluster.target(l.p.options.Version, req)
	if to.topology == nil {
		return nil
	}
	if c := l.cur.Load(); c != nil && !to.ordered && !c.host.silent() && to.nearest(c.host) {
		return c
	}
	return live.pickOf(to, l.p.next.Add(1))
}

// written notes that a connection has something to flush. It is called after the request was
// appended: a goroutine that flushes the link before that may not send the request.
func (l *link) written(c *conn) {
	if l.cur.CompareAndSwap(nil, c) || l.cur.Load() == c {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.others, c) {
		l.others = append(l.others, c)
	}
	l.scattered.Store(true)
}

func (l *link) Flush() {
	if c := l.cur.Swap(nil); c != nil {
		c.t.Flush()
	}
	if !l.scattered.Swap(false) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.others {
		c.t.Flush()
	}
	clear(l.others)
	l.others = l.others[:0]
}

func (l *link) Send(ctx context.Context, req wire.Message, reply func(resp wire.Message)) {
	l.Forward(ctx, req, &replier{reply}, 0)
	l.Flush()
}

// Close ends the link. Requests that still wait to be sent are dropped, because their client has
// gone.
func (l *link) Close() {
	l.p.queues.wide.Drop(&l.wide)
	l.p.queues.backlog.Drop(&l.backlog)
	l.close.Do(l.p.release)
}

// replier turns a function into a receiver.
type replier struct{ reply func(wire.Message) }

func (r *replier) Receive(_ uint32, resp wire.Message) { r.reply(resp) }
func (r *replier) Flush()                              {}
