// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// flight is a read under way that others may join. Its group's lock guards it.
type flight struct {
	asked   *asked
	at      cachefence.View // view at the beginning
	waiting []waiting       // readers that have joined, without the one that sent the request
	left    int             // how many readers have not given up
	cancel  context.CancelFunc
}

// waiting is a reader that has joined.
type waiting struct {
	taking
	stop func() bool // stops watching whether the reader has given up
}

// read answers a read whose answer may be kept: from the cache, by another reader's request, or
// by send.
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
	// A reader that joins gets data read at some moment after the request began. No write has
	// begun since then, and no earlier write was still to be applied when it began (Fresh). So the
	// data is current.
	if f := g.Flights[a.hash]; f != nil && f.at.Fresh && f.at.Holds(at) && bytes.Equal(f.asked.text, a.text) {
		f.left++
		f.waiting = append(f.waiting, waiting{to, context.AfterFunc(ctx, func() { c.giveUp(f) })})
		g.Unlock()
		c.coalesced.Add(1)
		return
	}
	f := &flight{asked: a, at: at, left: 1}
	var own context.Context
	own, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.Flights[a.hash] = f // replaces one that nobody may join
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
		resp.Arrival = nil // belongs to the sender's request only
		for _, t := range joined {
			t.stop()
			t.take(resp)
			t.flush()
		}
	}})
}

// giveUp removes one waiting reader. The last one cancels the request, and nobody may join it
// from then on.
func (c *Cache) giveUp(f *flight) {
	g := c.fence.Group(f.asked.part)
	g.Lock()
	defer g.Unlock()
	if f.left--; f.left == 0 {
		c.leave(f)
		f.cancel()
	}
}

// leave makes a flight impossible to join. The caller holds the group's lock.
func (c *Cache) leave(f *flight) {
	g := c.fence.Group(f.asked.part)
	if g.Flights[f.asked.hash] == f {
		delete(g.Flights, f.asked.hash)
	}
}
