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

// A request that cannot be sent yet waits in its pool, where links take turns. If a client goes,
// its waiting requests are dropped and never sent. There are two reasons to wait:
//
//   - The connections have enough to write (maxPending), or enough in flight (Options.InFlight).
//     The number of waiting requests is limited to waitingFor times those in flight. If a cluster
//     falls further behind, it must not get more, and the client must know at once. Without the
//     wait, a host that reads slowly would get all requests, even those whose client no longer
//     waits.
//   - The request is a part of a fan-out (store.Wide), and enough of those are in flight. The host
//     executes requests in the order in which they arrive: one client's thousand parts would be
//     ahead of another's single read.

const (
	// widePerHost is the largest number of parts of fan-outs in flight to a host, of all links. It
	// is less than the number of requests that Cassandra works on at a time (128, see
	// native_transport_max_threads). One link gets half of it.
	widePerHost = 96

	// maxQueued limits the bytes that wait in a queue, and maxQueuedEach those of one link.
	maxQueued     = 64 << 20
	maxQueuedEach = maxQueued / 4
)

// queues holds the queues of a pool.
type queues struct {
	wide    *lane.Lane // a request leaves its place when its response has come
	backlog *lane.Lane // a request leaves its place when it has been written to a connection
	bytes   atomic.Int64
	behind  atomic.Int64 // requests in the backlog
	mayWait atomic.Int64 // largest number of requests in the backlog
}

func newQueues() queues {
	return queues{wide: lane.New(widePerHost, widePerHost/2), backlog: lane.New(maxStreams, maxStreams)}
}

// waitingFor is the number of requests that may wait for each that may be in flight. With the
// default options, that is as many as one client connection has streams; a client may use all of
// them at once.
const waitingFor = 16

// setHosts makes room for n hosts, each with inFlight requests at a time.
func (q *queues) setHosts(n, inFlight int) {
	n = max(1, n)
	q.wide.Resize(n*widePerHost, n*widePerHost/2)
	q.mayWait.Store(int64(n * inFlight * waitingFor))
}

// waiting returns the number of waiting requests.
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

// enqueue makes a waiter from a request, with a copy of its body. It returns nil if too many bytes
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

// leave releases the bytes that a waiter holds.
func (w *waiter) leave() {
	n := int64(len(w.req.Body))
	w.link.queued.Add(-n)
	w.link.p.queues.bytes.Add(-n)
	w.memory.Close()
}

// gone answers a request that was not sent and that nobody waits for.
func (w *waiter) gone() {
	w.leave()
	w.link.refuse(w.to, w.tag, whyGone)
	w.to.Flush()
}

const (
	whyGone    = "nobody waits for the answer any more"
	whyTooMany = "too many requests are in flight to the cluster"
)

// forwardWide sends a part of a fan-out when its turn comes.
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

// delay queues a request until a connection can take it.
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

// full pauses the backlog until a connection takes requests again.
func (p *pool) full() {
	p.queues.backlog.Pause()
	p.roomy() // a connection may have become free meanwhile, and it does not report that again
}

// roomy resumes the backlog if a connection takes requests.
func (p *pool) roomy() {
	if p.queues.behind.Load() > 0 && p.takes() {
		p.queues.backlog.Resume()
	}
}

// takes reports whether a connection takes requests.
func (p *pool) takes() bool {
	for _, h := range p.live.Load().hosts {
		if slices.ContainsFunc(h, (*conn).takes) {
			return true
		}
	}
	return false
}

// send sends a request that has waited for a connection, or lets it wait again.
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
