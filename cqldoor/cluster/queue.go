// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/lane"
)

// A request that cannot be sent yet waits in its pool, where links take turns. What waits
// for a client that goes is dropped and never sent. There are two reasons to wait:
//
//   - The connections have enough to write (maxPending), or enough in flight
//     (Options.InFlight). Not many times more wait than may be in flight (waitingFor): a
//     cluster that is behind by more is not to get it, and the client is to know at once. A host that is slow to read
//     would otherwise be sent all that a client has asked for and no longer waits for.
//   - The request is a part of a fan-out (store.Wide), and enough of those are in flight.
//     The host carries out what it gets in the order in which it comes: one client's
//     thousand parts would be ahead of another's single read.

const (
	// widePerHost is how many parts of fan-outs a host is sent at a time, of all links:
	// fewer than the requests that a Cassandra works on at a time (128, see
	// native_transport_max_threads). One link has half of them.
	widePerHost = 96

	// maxQueued bounds the bytes that wait in a queue, and those of one link.
	maxQueued     = 64 << 20
	maxQueuedEach = maxQueued / 4
)

// queues are a pool's.
type queues struct {
	wide    *lane.Lane // a place is left when the response has come
	backlog *lane.Lane // a place is left when the request has been written to a connection
	bytes   atomic.Int64
	behind  atomic.Int64 // requests in the backlog
	mayWait atomic.Int64 // there
}

func newQueues() queues {
	return queues{wide: lane.New(widePerHost, widePerHost/2), backlog: lane.New(maxStreams, maxStreams)}
}

// waitingFor is how many requests may wait for each that may be in flight: by default as many as
// one connection of a client has streams, all of which a client may use at once.
const waitingFor = 16

// setHosts makes room at so many hosts, of which each is sent some requests at a time.
func (q *queues) setHosts(n, inFlight int) {
	n = max(1, n)
	q.wide.Resize(n*widePerHost, n*widePerHost/2)
	q.mayWait.Store(int64(n * inFlight * waitingFor))
}

// waiting is how many requests wait.
func (q *queues) waiting() int {
	_, wide := q.wide.Counts()
	return wide + int(q.behind.Load())
}

// waiter is a request that waits in a queue.
type waiter struct {
	link   *link
	ctx    context.Context
	req    wire.Message
	to     store.Receiver
	tag    uint32
	memory budget.Account
}

// enqueue makes a waiter of a request, with a copy of its body, unless too many bytes
// wait.
func (l *link) enqueue(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) *waiter {
	n := int64(len(req.Body))
	if l.queued.Load()+n > maxQueuedEach && l.queued.Load() > 0 || l.p.queues.bytes.Load()+n > maxQueued {
		return nil
	}
	l.queued.Add(n)
	l.p.queues.bytes.Add(n)
	req.Body = slices.Clone(req.Body)
	w := &waiter{link: l, ctx: ctx, req: req, to: to, tag: tag, memory: budget.Open(ctx)}
	w.memory.Add(n)
	return w
}

// leave lets go of what a waiter holds.
func (w *waiter) leave() {
	n := int64(len(w.req.Body))
	w.link.queued.Add(-n)
	w.link.p.queues.bytes.Add(-n)
	w.memory.Close()
}

// gone answers a request that nobody waits for, and that has not been sent.
func (w *waiter) gone() {
	w.leave()
	w.link.refuse(w.to, w.tag, whyGone)
	w.to.Flush()
}

const (
	whyGone    = "nobody waits for the answer any more"
	whyTooMany = "too many requests are in flight to the cluster"
)

// forwardWide sends a part of a fan-out when it is its turn.
func (l *link) forwardWide(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	q := &l.p.queues
	node, other := store.NodesOf(ctx)
	if q.wide.Try(&l.wide) {
		l.forward(ctx, req, l.newPart(req, to, tag, node, other), tag)
		return
	}
	w := l.enqueue(ctx, req, to, tag)
	if w == nil {
		l.refuse(to, tag, whyTooMany)
		return
	}
	q.wide.Queue(ctx, &l.wide, func(ok bool) {
		if !ok {
			w.gone()
			return
		}
		w.leave()
		to := l.newPart(w.req, w.to, w.tag, node, other)
		if l.forward(w.ctx, w.req, to, w.tag) {
			to.Flush()
			return
		}
		l.Flush()
	})
}

// delay has a request wait until a connection can take it.
func (l *link) delay(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) (answered bool) {
	q := &l.p.queues
	if q.behind.Load() >= q.mayWait.Load() {
		l.refuse(to, tag, whyTooMany)
		return true
	}
	w := l.enqueue(ctx, req, to, tag)
	if w == nil {
		l.refuse(to, tag, whyTooMany)
		return true
	}
	q.behind.Add(1)
	l.p.full()
	q.backlog.Queue(ctx, &l.backlog, w.send)
	return false
}

// full has the backlog wait until a connection takes requests again.
func (p *pool) full() {
	p.queues.backlog.Pause()
	p.roomy() // one may have become free meanwhile, which does not say so again
}

// roomy goes on with the backlog if a connection takes requests.
func (p *pool) roomy() {
	if p.queues.behind.Load() > 0 && p.takes() {
		p.queues.backlog.Resume()
	}
}

// takes reports whether there is a connection that takes requests.
func (p *pool) takes() bool {
	for _, h := range p.live.Load().hosts {
		if slices.ContainsFunc(h, (*conn).takes) {
			return true
		}
	}
	return false
}

// send sends a request that has waited for a connection, or has it wait on.
func (w *waiter) send(ok bool) {
	l, q := w.link, &w.link.p.queues
	if !ok {
		q.behind.Add(-1)
		w.gone()
		return
	}
	switch sent, why := l.try(w.req, w.to, w.tag); {
	case sent:
		l.Flush()
	case why == whyTooMany:
		l.p.full()
		q.backlog.Return(w.ctx, &l.backlog, w.send)
		return
	default:
		l.refuse(w.to, w.tag, why)
		w.to.Flush()
	}
	q.behind.Add(-1)
	w.leave()
	q.backlog.Leave(&l.backlog)
}
