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
	scan  kind = iota // a page of rows
	look              // rows of one partition
	write             // rows of one partition
	kinds
)

// These bound the level of a pace. A change comes to an end however busy the store is, because the
// level is never below lowest.
const (
	lowest      = 1
	fewest      = 8  // units at a time; below that level the mover rests in between
	maxParallel = 32 // units at a time
)

// pace sets how much the mover does at a time: its level. It raises the level while the store
// answers about as fast as it did when it was least busy, and while clients are served about as fast
// as without the mover. It lowers the level when the store slows down or refuses, or clients wait
// longer. So the mover uses only the capacity that the store has to spare.
//
// The level is the number of units that the mover handles at a time. Below fewest the mover
// handles fewest units at a time, and rests in between.
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

	began  time.Time // the end of the last rest
	served Served    // at the time looked
	looked time.Time
	recent float64 // seconds that a client's request takes, a moving average
	quiet  float64 // the same without the mover; 0: not known
}

// Served are the requests of clients that a door has answered so far, and how long they took
// together.
type Served struct {
	Requests uint64
	Took     time.Duration
}

func newPace(now func() time.Time, clients func() Served) *pace {
	p := &pace{now: now, clients: clients, level: fewest}
	if clients != nil {
		p.level = lowest // the level rises as long as they do not wait longer
	}
	return p
}

// parallel returns the number of units that the mover may handle at a time.
func (p *pace) parallel() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(fewest, int(p.level))
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

// At the lowest level the mover rests twice as long as it has worked since its last rest. So it works for a third of the
// time, whether a unit takes the store long or not. It rests when it has worked for stretch. For a work longer than
// longest it rests as for one of that length.
//
// settle is how long the mover rests before it works, to see how the door serves clients without
// it. glance is how long it watches clients before it judges, if they send enough requests;
// otherwise it watches them for stare.
const (
	stretch = 4 * time.Millisecond
	longest = 50 * time.Millisecond
	settle  = 100 * time.Millisecond
	glance  = 50 * time.Millisecond
	stare   = 500 * time.Millisecond
	few     = 20
)

// rest waits as long as the mover is to do nothing. The mover calls it before it reads a page, and before it handles a unit.
func (p *pace) rest(ctx context.Context) error {
	if t := p.due(); t > 0 {
		return deadline.Sleep(ctx, t)
	}
	return nil
}

// due returns how long the mover is to rest now.
func (p *pace) due() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.clients != nil {
		if p.looked.IsZero() {
			p.looked, p.served = now, p.clients()
			p.began = now.Add(settle)
			return settle
		}
		if past := now.Sub(p.looked); past >= glance {
			if served := p.clients(); past >= stare || served.Requests-p.served.Requests >= few {
				p.judge(served)
				p.looked = now
			}
		}
	}
	worked := now.Sub(p.began)
	if worked < stretch {
		return 0
	}
	t := time.Duration(2 * max(0, (fewest-p.level)/(fewest-lowest)) * float64(min(worked, longest)))
	p.began = now.Add(t)
	return t
}

// judge lowers the level if clients wait longer than without the mover, and otherwise raises it, in
// small steps: a level that is too high is found only when clients have waited. The caller holds mu.
func (p *pace) judge(served Served) {
	n, took := served.Requests-p.served.Requests, served.Took-p.served.Took
	p.served = served
	if n == 0 { // there are no clients to disturb
		p.set(maxParallel)
		return
	}
	each := took.Seconds() / float64(n)
	if p.quiet == 0 {
		p.quiet, p.recent = each, each
	}
	p.recent += (each - p.recent) / 4
	if p.recent < p.quiet || p.level <= lowest { // at its lowest level the mover disturbs nobody
		p.quiet += (p.recent - p.quiet) / 8
	}
	const slack = 0.0003 // seconds; smaller delays do not count
	if p.recent > 1.3*p.quiet+slack {
		p.set(p.level * 0.7)
	} else {
		p.set(p.level + 0.5)
	}
}
