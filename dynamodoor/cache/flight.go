// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/fence"
)

// flight is a request to the store that is under way, and that others may wait for.
// The group's mu guards it, but for what is there when done is closed.
type flight struct {
	who, key []byte     // what is asked, all told; the memory of who sends it
	at       fence.View // when it began
	waiting  int        // who waits for it, its sender included
	cancel   context.CancelFunc
	done     chan struct{} // made by the first to join

	answer []byte
	err    error
	failed bool // by a panic
}

// shared is what came of a request that may have been shared.
type shared struct {
	out    []byte // dst, with the answer appended unless the request was joined
	answer []byte // not to be changed
	began  fence.View
	joined bool // it was another's request
}

// share has the store carry out a request, or waits for an identical one that is
// under way. now is called with the group's mu held.
//
// The request is sent by who comes first, with a context that ends when nobody waits
// for the answer any more: its sender may give up sooner than others.
func (c *Cache) share(ctx context.Context, operation string, body, dst []byte, hash uint64, who, key []byte, now func() fence.View) (shared, error) {
	g := c.fence.Group(hash)
	g.Lock()
	at := c.fresh(now())
	f := g.Flights[hash]
	// A caller that joins a request gets the state of some moment since the request began.
	// No write has begun since then. No earlier write was still to be carried out, either:
	// the request began when the store's reads had all of them (Fresh). So that state is
	// the present one.
	if f != nil && f.at.Fresh && f.at.Holds(at) && bytes.Equal(f.key, key) && bytes.Equal(f.who, who) {
		f.waiting++
		if f.done == nil {
			f.done = make(chan struct{})
		}
		done := f.done
		g.Unlock()
		return c.join(ctx, operation, body, dst, g, hash, f, done)
	}
	f = &flight{who: who, key: key, at: at, waiting: 1}
	g.Flights[hash] = f
	var own context.Context
	own, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.Unlock()
	stop := context.AfterFunc(ctx, func() { f.giveUp(g, hash) })
	out, err := c.send(own, operation, body, dst, g, hash, f)
	stop()
	if err != nil {
		return shared{out: dst}, err
	}
	return shared{out: out, answer: out[len(dst):], began: at}, nil
}

// join waits for the request of another.
func (c *Cache) join(ctx context.Context, operation string, body, dst []byte, g *fence.Group[*flight], hash uint64, f *flight, done chan struct{}) (shared, error) {
	c.coalesced.Add(1)
	select {
	case <-done:
	case <-ctx.Done():
		f.giveUp(g, hash)
		return shared{out: dst}, fmt.Errorf("%s: %w", operation, context.Cause(ctx))
	}
	if f.failed {
		// A bug fails the request that met it: whether it fails this one is to be seen.
		out, err := c.store.Do(ctx, operation, body, dst)
		if err != nil {
			return shared{out: dst}, err
		}
		return shared{out: out, answer: out[len(dst):]}, nil
	}
	return shared{out: dst, answer: f.answer, joined: true}, f.err
}

// send sends the request, and gives those who have joined the answer.
func (c *Cache) send(ctx context.Context, operation string, body, dst []byte, g *fence.Group[*flight], hash uint64, f *flight) (out []byte, err error) {
	failed := true
	defer func() {
		g.Lock()
		f.leave(g, hash)
		done := f.done
		g.Unlock()
		f.cancel()
		if done == nil {
			return
		}
		if f.failed, f.err = failed, err; !failed && err == nil {
			f.answer = bytes.Clone(out[len(dst):]) // the sender goes on with its own
		}
		close(done)
	}()
	out, err = c.store.Do(ctx, operation, body, dst)
	failed = false
	return out, err
}

// giveUp is one less to wait. The last cancels the request, which nobody may join
// from then on.
func (f *flight) giveUp(g *fence.Group[*flight], hash uint64) {
	g.Lock()
	defer g.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.leave(g, hash)
		f.cancel()
	}
}

// leave lets nobody else join. The caller holds the group's mu.
func (f *flight) leave(g *fence.Group[*flight], hash uint64) {
	if g.Flights[hash] == f {
		delete(g.Flights, hash)
	}
}
