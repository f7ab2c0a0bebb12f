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

// link is a store.Forwarder over a pool. Between two flushes it stays on one
// connection where it can, so that what a client sent together leaves together.
type link struct {
	p     *pool
	cur   atomic.Pointer[conn]
	close sync.Once

	wide, backlog lane.Flow // in the pool's queues
	queued        atomic.Int64

	// others are the connections beside cur that have something to flush: to replicas
	// of what was sent.
	mu        sync.Mutex
	others    []*conn
	scattered atomic.Bool // there are others
}

func (l *link) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	if ctx.Err() != nil {
		l.refuse(to, tag, whyGone)
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

// forward sends a request, or has it wait for a connection that takes it. It reports
// whether the request has been answered, which is then an error.
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

// try sends a request if there is a connection that takes it, else it says why it has not.
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
			l.cur.Store(c)
		}
		if l.put(c, req, to, tag) {
			// Another goroutine may have flushed and let go of c between our look
			// and our Append: then nobody but us will flush what we appended.
			if l.cur.Load() != c {
				c.t.Flush()
			}
			return true, ""
		}
		l.cur.CompareAndSwap(c, nil)
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

// replica returns a connection to a replica of what a request is about: to the node that a
// part of a fan-out names, or the one that the link is on, if that will do. It returns nil
// where nothing tells the replicas, or none of them can be reached.
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

// named is replica by the nodes that a part names: the second where the first is down or
// silent.
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

// routed is replica by what the request says itself.
func (l *link) routed(live *liveHosts, req wire.Message) *conn {
	to := l.p.cluster.target(l.p.options.Version, req)
	if to.topology == nil {
		return nil
	}
	if c := l.cur.Load(); c != nil && !to.ordered && to.nearest(c.host) {
		return c
	}
	return live.pickOf(to, l.p.next.Add(1))
}

// written notes that a connection has something to flush.
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

// Close is the link's end. What waits to be sent for a client that has gone is dropped.
func (l *link) Close() {
	l.p.queues.wide.Drop(&l.wide)
	l.p.queues.backlog.Drop(&l.backlog)
	l.close.Do(l.p.release)
}

// replier makes a receiver of a function.
type replier struct{ reply func(wire.Message) }

func (r *replier) Receive(_ uint32, resp wire.Message) { r.reply(resp) }
func (r *replier) Flush()                              {}
