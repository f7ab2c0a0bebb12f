// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A request is judged once, when it arrives: it is forwarded as it came, or it is the
// router's. A router that begins to claim what was forwarded before must know when the
// requests that were judged before have all been answered. So each request counts in the era
// that it arrived in, and two eras take turns.

// Eras are shared by doors and their router, which waits for what they have forwarded. The
// zero value is ready for use.
type Eras struct {
	now     atomic.Uint32 // its lowest bit is the present era
	waiting sync.Mutex    // one ends an era at a time

	mu    sync.Mutex
	doors []*Door
}

// join has Passed wait for a door's requests, too.
func (e *Eras) join(d *Door) {
	e.mu.Lock()
	e.doors = append(e.doors, d)
	e.mu.Unlock()
}

// leave is the opposite of join, for a door that has ended.
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

// Passed waits until all requests have been answered that were judged before it was called.
func (e *Eras) Passed(ctx context.Context) error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	// A wait that was given up may have left requests of the other era.
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

// under says whether requests of an era are under way.
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

// under says whether the door has requests of an era under way: of clients that have gone, too.
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

// flights counts a connection's requests under way, by their eras: those of era 0 in the low
// half, those of era 1 in the high half. A request ends in the era that it began in, so that
// neither half is ever below 0.
type flights struct{ n atomic.Int64 }

const eraOne = 1 << 32

func one(era uint32) int64 { return 1 + int64(era)*(eraOne-1) }

func total(n int64) int { return int(n&(eraOne-1)) + int(n>>32) }

// begin counts a request and says how many there are.
func (f *flights) begin(era uint32) int { return total(f.n.Add(one(era))) }

func (f *flights) end(era uint32) { f.n.Add(-one(era)) }

// Load is how many requests are under way.
func (f *flights) Load() int { return total(f.n.Load()) }

// of is how many of an era are.
func (f *flights) of(era uint32) int {
	n := f.n.Load()
	if era == 0 {
		return int(n & (eraOne - 1))
	}
	return int(n >> 32)
}

// begin counts the present request in the present era, and says how many are under way on the
// connection. Reader only.
func (c *conn) begin() int {
	eras := c.d.opts.Eras
	for {
		c.era = eras.now.Load() & 1
		n := c.inFlight.begin(c.era)
		if eras.now.Load()&1 == c.era {
			return n
		}
		c.inFlight.end(c.era) // which nobody waits for any more
	}
}

// tagEra marks, in a tag of a forwarded request, one of era 1.
const tagEra = 1 << 30

// eraTag is what the era of the present request adds to its tag.
func (c *conn) eraTag() uint32 { return c.era * tagEra }
