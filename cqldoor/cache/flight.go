// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/fence"
)

// flight is a read that is under way, and that others may wait for. Its group's lock guards it.
type flight struct {
	asked   *asked
	at      fence.View // when it began
	waiting []waiting  // who has joined, beside who sent it
	left    int        // how many have not given up
	cancel  context.CancelFunc
}

// waiting is one who has joined.
type waiting struct {
	taking
	stop func() bool // of the look at whether it has given up
}

// read answers a read that may be kept: from the cache, by the request of another that is under
// way, or by send.
func (l *link) read(ctx context.Context, a *asked, to taking, send func(context.Context, *seen)) {
	c := l.c
	if body, ok := c.find(a); ok {
		c.hits.Add(1)
		to.take(wire.Message{Op: wire.OpResult, Body: body})
		to.flush()
		return
	}
	c.misses.Add(1)
	g := c.fence.Group(a.part)
	g.Lock()
	at := c.view(a)
	// Who joins a request gets what was at some time since that began. Nothing was written since:
	// so it is what is now. Nobody joins while a write whose outcome is not known may still be
	// carried out: a read at another level may have seen it.
	if f := g.Flights[a.hash]; f != nil && at.Fresh && f.at.Holds(at) && bytes.Equal(f.asked.text, a.text) {
		f.left++
		f.waiting = append(f.waiting, waiting{to, context.AfterFunc(ctx, func() { c.giveUp(f) })})
		g.Unlock()
		c.coalesced.Add(1)
		return
	}
	f := &flight{asked: a, at: at, left: 1}
	var own context.Context
	own, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.Flights[a.hash] = f // in the place of one that nobody may join
	g.Unlock()
	stop := context.AfterFunc(ctx, func() { c.giveUp(f) })
	send(own, &seen{to, func(resp wire.Message) {
		stop()
		g.Lock()
		c.leave(f)
		joined := f.waiting
		f.waiting = nil
		g.Unlock()
		f.cancel()
		if whole(resp) {
			c.keep(a, at, resp.Body)
		}
		resp.Arrival = nil // it is the sender's own
		for _, t := range joined {
			t.stop()
			t.take(resp)
			t.flush()
		}
	}})
}

// giveUp is one less to wait. The last cancels the request, which nobody may join from then on.
func (c *Cache) giveUp(f *flight) {
	g := c.fence.Group(f.asked.part)
	g.Lock()
	defer g.Unlock()
	if f.left--; f.left == 0 {
		c.leave(f)
		f.cancel()
	}
}

// leave lets nobody else join. The caller holds the group's lock.
func (c *Cache) leave(f *flight) {
	g := c.fence.Group(f.asked.part)
	if g.Flights[f.asked.hash] == f {
		delete(g.Flights, f.asked.hash)
	}
}
