package cluster

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// link is a store.Forwarder over a pool. Between two flushes it stays on one
// connection, so that what a client sent together leaves together.
type link struct {
	p     *pool
	cur   atomic.Pointer[conn]
	close sync.Once
}

func (l *link) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	if ctx.Err() != nil {
		to.Receive(tag, wire.Message{Op: wire.OpError, Body: errNotSent("nobody waits for the answer any more").Append(nil, l.p.options.Version)})
		return
	}
	if req.Op == wire.OpPrepare {
		to = l.p.cluster.prepared.learn(l.p.options.Version, l.p.options.Keyspace, req, to, tag)
	}
	for range 4 {
		c := l.cur.Load()
		if c == nil {
			if c = l.p.pick(); c == nil {
				break
			}
			l.cur.Store(c)
		}
		if c.forward(req, to, tag) {
			// Another goroutine may have flushed and let go of c between our look
			// and our Append: then nobody but us will flush what we appended.
			if l.cur.Load() != c {
				c.t.Flush()
			}
			return
		}
		l.cur.CompareAndSwap(c, nil)
	}
	why := "there is no connection to the cluster"
	if !l.p.connected() {
		l.p.wake()
	} else {
		why = "too many requests are in flight to the cluster"
	}
	to.Receive(tag, wire.Message{Op: wire.OpError, Body: errNotSent(why).Append(nil, l.p.options.Version)})
}

func (l *link) Flush() {
	if c := l.cur.Swap(nil); c != nil {
		c.t.Flush()
	}
}

func (l *link) Send(ctx context.Context, req wire.Message, reply func(resp wire.Message)) {
	l.Forward(ctx, req, &replier{reply}, 0)
	l.Flush()
}

func (l *link) Close() { l.close.Do(l.p.release) }

// replier makes a receiver of a function.
type replier struct{ reply func(wire.Message) }

func (r *replier) Receive(_ uint32, resp wire.Message) { r.reply(resp) }
func (r *replier) Flush()                              {}
