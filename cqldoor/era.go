// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// The door judges a request once, when it arrives: it forwards the request unchanged or gives it to
// the router. A router that begins to claim requests that were forwarded before must know when all
// requests judged earlier have been answered. So the door counts each request in the era in which
// the request arrived, and two eras take turns.

// Eras counts the requests under way of several doors by era. Doors share it with their router,
// which waits for the requests that they have forwarded. The zero value is ready for use.
type Eras struct {
	now  atomic.Uint32                 // how many eras have ended; its lowest bit is the current era
	wake atomic.Pointer[chan struct{}] // signals that requests of an ended era were answered; nil: nobody waits

	mu    sync.Mutex
	doors []*Door
	turn  chan struct{} // has one place, for the call that waits; nil: no call has waited yet
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
	if i := slices.Index(e.doors, d); i >= 0 {
		e.doors = slices.Delete(e.doors, i, i+1)
	}
	e.mu.Unlock()
	e.signal()
}

// Passed waits until all requests that were judged before the call have been answered.
//
// Calls take turns. A call that finds, when its turn comes, that another has ended the era of its
// requests does not end one more: callers that come while one call waits share the next wait.
func (e *Eras) Passed(ctx context.Context) error {
	called := e.now.Load()
	turn := e.turns()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-turn }()
	wake := make(chan struct{}, 1)
	e.wake.Store(&wake)
	defer e.wake.Store(nil)
	// Another call may have ended an era and given up.
	if err := e.drain(ctx, wake); err != nil || e.now.Load() != called {
		return err
	}
	e.now.Add(1)
	return e.drain(ctx, wake)
}

// turns returns the channel whose one place the waiting call takes.
func (e *Eras) turns() chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turn == nil {
		e.turn = make(chan struct{}, 1)
	}
	return e.turn
}

// drain waits until no request of the era before the current one is under way. The caller has
// stored wake, and takes its turn.
func (e *Eras) drain(ctx context.Context, wake chan struct{}) error {
	for before := (e.now.Load() + 1) & 1; e.under(before); {
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// answered makes the waiting call look again if a connection has no request of an ended era left.
// The call misses no answer: it stores wake and ends the era before it looks at the counts. A request
// that finds no wake, or finds its era current, was counted out before that look.
func (e *Eras) answered(era uint32, left int) {
	if left == 0 && e.wake.Load() != nil && e.now.Load()&1 != era {
		e.signal()
	}
}

// signal wakes the waiting call, if there is one.
func (e *Eras) signal() {
	if wake := e.wake.Load(); wake != nil {
		select {
		case *wake <- struct{}{}:
		default:
		}
	}
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
			if c.inFlight.n.of(era) > 0 {
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

// end counts a request out and returns how many of its era are left.
func (f *flights) end(era uint32) int { return ofEra(f.n.Add(-one(era)), era) }

// Load returns the number of requests under way.
func (f *flights) Load() int { return total(f.n.Load()) }

// of returns the number of requests of an era under way.
func (f *flights) of(era uint32) int { return ofEra(f.n.Load(), era) }

// ofEra returns the half of a count that an era has.
func ofEra(n int64, era uint32) int {
	if era == 0 {
		return int(n & (eraOne - 1))
	}
	return int(n >> 32)
}

// inFlight counts a connection's requests under way. Only the reader uses the fields besides n.
type inFlight struct {
	n    flights
	eras *Eras

	era  uint32 // the era in which the present request began
	open bool   // the present request is counted, and the reader has to count it out
}

// begin counts the present request in the current era and returns the number of requests under way
// on the connection. Only the reader calls it.
func (f *inFlight) begin() int {
	for {
		f.era = f.eras.now.Load() & 1
		n := f.n.begin(f.era)
		if f.eras.now.Load()&1 == f.era {
			f.open = true
			return n
		}
		f.end(f.era) // this era has ended meanwhile
	}
}

// rejoin moves a request from an era to the current one, and returns that.
func (f *inFlight) rejoin(from uint32) uint32 {
	for {
		era := f.eras.now.Load() & 1
		if era == from {
			return era
		}
		f.n.begin(era)
		if f.eras.now.Load()&1 == era {
			f.end(from)
			return era
		}
		f.end(era) // this era has ended meanwhile
	}
}

// finish counts the present request out. Only the reader calls it, for a request that it has not
// passed on.
func (f *inFlight) finish() {
	f.open = false
	f.end(f.era)
}

// end counts a request of an era out.
func (f *inFlight) end(era uint32) { f.eras.answered(era, f.n.end(era)) }

// Load returns the number of requests under way.
func (f *inFlight) Load() int { return f.n.Load() }

// tagEra marks a request of era 1 in the tag of a forwarded request.
const tagEra = 1 << 30

// tag returns the bits that the era of the present request adds to its tag. Only the reader calls
// it.
func (f *inFlight) tag() uint32 { return f.era * tagEra }
