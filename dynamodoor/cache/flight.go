// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/cachefence"
)

// flight is a request to the store that is under way, and for which others may wait. The group's
// mutex guards it, except the fields that are set when done is closed.
type flight struct {
	who, key []byte          // the request as a whole; the sender's memory
	at       cachefence.View // the view when it began
	waiting  int             // number of waiting readers, including the sender
	cancel   context.CancelFunc
	done     chan struct{} // made by the first reader that joins

	answer []byte
	err    error
	failed bool // a panic ended it
}

// shared is the result of a request that may have been shared.
type shared struct {
	out    []byte // dst, with the answer appended unless the reader joined another request
	answer []byte // read-only
	began  cachefence.View
	joined bool // another reader sent the request
}

// share lets the store carry out a request, or waits for an identical one that is under way. It
// calls now while it holds the group's mutex.
//
// The first reader sends the request, with a context that ends when nobody waits for the answer
// any more, because the sender may give up before others.
func (c *Cache) share(ctx context.Context, operation string, body, dst []byte, hash uint64, who, key []byte, now func() cachefence.View) (shared, error) {
	g := c.fence.Group(hash)
	g.Lock()
	at := now().At(c.options.Now)
	f := g.Flights[hash]
	// A reader that joins a request gets the state of some moment since the request began. No write
	// has begun since then. No earlier write was pending, either: the store's reads saw all of them
	// when the request began (Fresh). So that state is the current one.
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

// join waits for another reader's request.
func (c *Cache) join(ctx context.Context, operation string, body, dst []byte, g *cachefence.Group[*flight], hash uint64, f *flight, done chan struct{}) (shared, error) {
	c.coalesced.Add(1)
	select {
	case <-done:
	case <-ctx.Done():
		f.giveUp(g, hash)
		return shared{out: dst}, fmt.Errorf("%s: %w", operation, context.Cause(ctx))
	}
	if f.failed {
		// A bug fails the request that meets it. It may not fail this one.
		out, err := c.store.Do(ctx, operation, body, dst)
		if err != nil {
			return shared{out: dst}, err
		}
		return shared{out: out, answer: out[len(dst):]}, nil
	}
	return shared{out: dst, answer: f.answer, joined: true}, f.err
}

// send sends the request and gives the answer to the readers that have joined.
func (c *Cache) send(ctx context.Context, operation string, body, dst []byte, g *cachefence.Group[*flight], hash uint64, f *flight) (out []byte, err error) {
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
			f.answer = bytes.Clone(out[len(dst):]) // the sender continues to use its own copy
		}
		close(done)
	}()
	out, err = c.store.Do(ctx, operation, body, dst)
	failed = false
	return out, err
}

// giveUp removes one waiting reader. The last one cancels the request, and nobody can join it from
// then on.
func (f *flight) giveUp(g *cachefence.Group[*flight], hash uint64) {
	g.Lock()
	defer g.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.leave(g, hash)
		f.cancel()
	}
}

// leave prevents others from joining. The caller holds the group's mutex.
func (f *flight) leave(g *cachefence.Group[*flight], hash uint64) {
	if g.Flights[hash] == f {
		delete(g.Flights, hash)
	}
}
