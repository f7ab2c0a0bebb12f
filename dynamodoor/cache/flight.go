package cache

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
)

// flight is a request to the store that is under way, and that others may wait for.
type flight struct {
	who, key []byte // what is asked, all told
	at       view   // when it began
	waiting  int    // who waits for it; guarded by the group's mu
	cancel   context.CancelFunc
	done     chan struct{} // closed when what follows is there

	answer []byte
	err    error
	failed *failure
}

// failure is a panic of the store.
type failure struct {
	value any
	stack []byte
}

// share has the store carry out a request, or waits for an identical one that is
// under way; joined says that it was another's. now is called with the group's mu
// held. The answer is shared: it must not be changed.
//
// A request runs on a goroutine of its own, with a context that ends when nobody
// waits for it any more: that of the client who came first may end sooner.
func (c *Cache) share(ctx context.Context, operation string, body []byte, hash uint64, who, key []byte, now func() view) (answer []byte, began view, joined bool, err error) {
	g := c.fence.group(hash)
	g.mu.Lock()
	at := now()
	f := g.flights[hash]
	// Who waits for a request gets what was at some time since that began. Nothing
	// was written since: so it is what is now.
	if joined = f != nil && f.at.holds(at) && bytes.Equal(f.key, key) && bytes.Equal(f.who, who); joined {
		f.waiting++
		g.mu.Unlock()
		c.coalesced.Add(1)
	} else {
		text := make([]byte, 0, len(who)+len(key)+len(body))
		f = &flight{at: at, waiting: 1, done: make(chan struct{})}
		text, f.who = piece(text, who)
		text, f.key = piece(text, key)
		_, body = piece(text, body)
		var own context.Context
		own, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		g.flights[hash] = f
		g.mu.Unlock()
		go c.fly(own, f, g, hash, operation, body)
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		g.mu.Lock()
		if f.waiting--; f.waiting == 0 {
			f.leave(g, hash) // under the lock: nobody joins what is cancelled
			f.cancel()
		}
		g.mu.Unlock()
		return nil, f.at, joined, fmt.Errorf("%s: %w", operation, context.Cause(ctx))
	}
	if f.failed != nil && joined {
		// A bug fails the request that met it: whether it fails this one is to be seen.
		answer, err = c.store.Do(ctx, operation, body, nil)
		return answer, view{}, false, err
	}
	if f.failed != nil {
		panic(fmt.Sprintf("%v\n\n%s", f.failed.value, f.failed.stack))
	}
	return f.answer, f.at, joined, f.err
}

func (c *Cache) fly(ctx context.Context, f *flight, g *group, hash uint64, operation string, body []byte) {
	defer func() {
		if p := recover(); p != nil {
			f.failed = &failure{p, debug.Stack()}
		}
		g.mu.Lock()
		f.leave(g, hash)
		g.mu.Unlock()
		f.cancel()
		close(f.done)
	}()
	f.answer, f.err = c.store.Do(ctx, operation, body, nil)
}

// leave lets nobody else join. The caller holds the group's mu.
func (f *flight) leave(g *group, hash uint64) {
	if g.flights[hash] == f {
		delete(g.flights, hash)
	}
}
