// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
)

// kind is the kind of a request that the mover sends to the store.
type kind int

const (
	scan        kind = iota // a page of rows
	look                    // rows of one partition
	lookSeveral             // rows of several partitions
	write
	kinds
)

// These bound the level of a pace. A change comes to an end however busy the store is, because the
// level is never below lowest. At lowest, the mover rests three times as long as its requests take.
const (
	lowest      = 0.25
	maxParallel = 32
	unwatched   = 8 // the first level of a pace that cannot watch clients
)

// pace sets how much the mover does at a time: its level. It raises the level while the store
// answers about as fast as it did when it was least busy, and while clients are served about as fast
// as without the mover. It lowers the level when the store slows down or refuses, or clients wait
// longer. So the mover uses only the capacity that the store has to spare.
//
// The level is the number of units that the mover handles at a time. A low level keeps the mover's queue at the store
// short. A client's request waits behind that queue if the store has few processors. Below 1, the level is the part of the
// time in which the mover has a request at the store: it rests after each request.
//
// The pace compares a request only with others of its kind. A write waits for the disk, so it takes
// longer than a read, also while the store is idle.
type pace struct {
	now     func() time.Time
	clients func() Served // nil: nobody knows how clients are served

	mu    sync.Mutex
	level float64
	of    [kinds]struct {
		recent float64 // seconds, a moving average
		best   float64 // seconds, of an undisturbed request; rises slowly, so that it reflects the last thousands
	}
	slow, seen int // requests since the level was set

	served Served // at the time looked
	looked time.Time
	recent float64 // seconds that a client's request takes, a moving average
	quiet  float64 // seconds that a client's request took at the lowest level, when the pace measured it last
	round  int     // judgements since the pace began to measure quiet
	base   Served  // what clients had got when it began
	before float64 // the level when it began
}

// Served are the requests of clients that a door has answered so far, and how long they took
// together.
type Served struct {
	Requests uint64
	Took     time.Duration
}

func newPace(now func() time.Time, clients func() Served) *pace {
	p := &pace{now: now, clients: clients, level: lowest, before: lowest}
	if clients == nil {
		p.level = unwatched
	}
	return p
}

// parallel returns the number of units that the mover may handle at a time.
func (p *pace) parallel() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(1, int(p.level))
}

// longestRest is the longest time for which the mover rests after a request.
const longestRest = time.Second

// rest waits after a request, if the level is below 1. took is how long the store took for the request.
func (p *pace) rest(ctx context.Context, took time.Duration) error {
	p.mu.Lock()
	level := p.level
	p.mu.Unlock()
	if level >= 1 {
		return nil
	}
	return deadline.Sleep(ctx, min(longestRest, time.Duration((1/level-1)*float64(took))))
}

// latency returns the store's response time in seconds, now and when it was least busy, for the kind
// of request that takes longest.
func (p *pace) latency() [2]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out [2]float64
	for _, k := range p.of {
		if k.recent > out[0] {
			out = [2]float64{k.recent, k.best}
		}
	}
	return out
}

// window is the number of requests after which pace adjusts the level.
const window = 16

// observe takes the duration of a request and whether the store failed to serve it.
func (p *pace) observe(of kind, took time.Duration, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, k := took.Seconds(), &p.of[of]
	if k.best == 0 || s < k.best {
		k.best = s
	}
	k.best *= 1.0005
	if k.recent == 0 {
		k.recent = s
	}
	k.recent += (s - k.recent) / 16
	if failed {
		p.set(p.level / 2)
		return
	}
	const slack = 0.002 // seconds; smaller delays do not count
	if p.seen++; s > 3*k.best+slack {
		p.slow++
	}
	if p.seen < window {
		return
	}
	switch {
	case p.slow > window/4:
		p.set(p.level * 0.7)
	case p.clients != nil: // judge raises it
		p.set(p.level)
	default:
		p.set(p.level + 1)
	}
}

// set sets the level. The caller holds mu.
func (p *pace) set(level float64) {
	p.level = min(maxParallel, max(lowest, level))
	p.slow, p.seen = 0, 0
}

// Before its first unit the mover waits for settle. So the pace sees how the door serves clients without the mover.
// Then the pace watches clients for glance before it judges. If they send fewer than few requests in that time, it
// watches them for stare.
const (
	settle = 100 * time.Millisecond
	glance = 50 * time.Millisecond
	stare  = 500 * time.Millisecond
	few    = 20
)

// The pace keeps the lowest level for probe judgements, and measures how long clients' requests take meanwhile. It judges
// by this figure. It measures again every cycle judgements, because the figure can change without the mover. For example,
// clients begin to send longer requests. Or the change enters a step in which a read asks more places.
const (
	probe = 8
	cycle = 64
)

// watch sets the level by how the door serves clients. The mover calls watch before each page and before each unit. The
// first call waits for settle.
func (p *pace) watch(ctx context.Context) error {
	if p.update() {
		return deadline.Sleep(ctx, settle)
	}
	return nil
}

// update sets the level by the requests that the door has served since the previous call. update reports whether this is the
// first call.
func (p *pace) update() (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clients == nil {
		return false
	}
	now := p.now()
	if p.looked.IsZero() {
		p.looked, p.served = now, p.clients()
		p.base = p.served
		return true
	}
	if past := now.Sub(p.looked); past >= glance {
		if served := p.clients(); past >= stare || served.Requests-p.served.Requests >= few {
			p.judge(served)
			p.looked = now
		}
	}
	return false
}

// judge lowers the level if clients wait longer than at the lowest level. Otherwise it raises the level by a small step,
// because the pace notices a level that is too high only when clients have waited. The caller holds mu.
func (p *pace) judge(served Served) {
	n, took := served.Requests-p.served.Requests, served.Took-p.served.Took
	p.served = served
	if n == 0 { // there are no clients to disturb
		p.set(maxParallel)
		return
	}
	p.recent += (took.Seconds()/float64(n) - p.recent) / 4
	const slack = 0.0001 // seconds; smaller delays do not count
	switch p.round++; {
	case p.round < probe:
		p.set(lowest)
	case p.round == probe:
		p.quiet = (served.Took - p.base.Took).Seconds() / float64(served.Requests-p.base.Requests)
		p.recent = p.quiet
		p.set(p.before)
	case p.round == cycle:
		p.round, p.base, p.before = 0, served, p.level
		p.set(lowest)
	case p.recent > 1.2*p.quiet+slack:
		p.set(p.level * 0.7)
	default:
		p.set(p.level + min(0.5, p.level/4))
	}
}
