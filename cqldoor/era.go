// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The door judges a request once, when it arrives: it forwards the request unchanged or gives it to
// the router. A router that begins to claim requests that were forwarded before must know when all
// requests judged earlier have been answered. So the door counts each request in the era in which
// the request arrived, and two eras take turns.

// Eras counts the requests under way of several doors by era. Doors share it with their router,
// which waits for the requests that they have forwarded. The zero value is ready for use.
type Eras struct {
	now     atomic.Uint32 // its lowest bit is the current era
	waiting sync.Mutex    // held by the one call that ends an era

	mu    sync.Mutex
	doors []*Door
}

// join makes Passed wait for a door's requests, too.
func (e *Eras) join(d *Door) {
	e.mu.Lock()
	e.doors = append(e.doors, d)
	e.mu.Unlock()
}

// leave undoes join for a door that has ended.
func (e *Eras) leave(d *Door) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, other := range e.doors {
		if other == d {
			e.doors = append(e.doors[:i:i], e.doors[i+1:]...)
			return
		}
	}
}

// Passed waits until all requests that were judged before the call have been answered.
func (e *Eras) Passed(ctx context.Context) error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	// An earlier wait that was given up may have left requests of the other era.
	for range 2 {
		before := (e.now.Add(1) - 1) & 1
		tick := time.NewTicker(2 * time.Millisecond)
		for e.under(before) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				return ctx.Err()
			}
		}
		tick.Stop()
	}
	return nil
}

// under reports whether requests of an era are under way.
func (e *Eras) under(era uint32) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.doors {
		if d.under(era) {
			return true
		}
	}
	return false
}

// under reports whether the door has requests of an era under way. It includes requests of clients
// that have disconnected.
func (d *Door) under(era uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, all := range []map[*conn]struct{}{d.conns, d.gone} {
		for c := range all {
			if c.inFlight.of(era) > 0 {
				return true
			}
		}
	}
	return false
}

// flights counts a connection's requests under way by era: era 0 in the low half, era 1 in the high
// half. A request ends in the era in which it began, so neither half falls below 0.
type flights struct{ n atomic.Int64 }

const eraOne = 1 << 32

func one(era uint32) int64 { return 1 + int64(era)*(eraOne-1) }

func total(n int64) int { return int(n&(eraOne-1)) + int(n>>32) }

// begin counts a request and returns the number under way.
func (f *flights) begin(era uint32) int { return total(f.n.Add(one(era))) }

func (f *flights) end(era uint32) { f.n.Add(-one(era)) }

// Load returns the number of requests under way.
func (f *flights) Load() int { return total(f.n.Load()) }

// of returns the number of requests of an era under way.
func (f *flights) of(era uint32) int {
	n := f.n.Load()
	if era == 0 {
		return int(n & (eraOne - 1))
	}
	return int(n >> 32)
}

// begin counts the current request in the current era and returns the number of requests under way
// on the connection. Only the reader calls it.
func (c *conn) begin() int {
	eras := c.d.opts.Eras
	for {
		c.era = eras.now.Load() & 1
		n := c.inFlight.begin(c.era)
		if eras.now.Load()&1 == c.era {
			return n
		}
		c.inFlight.end(c.era) // nobody waits for this era any more
	}
}

// tagEra marks a request of era 1 in the tag of a forwarded request.
const tagEra = 1 << 30

// eraTag returns the bits that the era of the current request adds to its tag.
func (c *conn) eraTag() uint32 { return c.era * tagEra }
