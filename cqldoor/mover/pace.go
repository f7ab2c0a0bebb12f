// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"sync"
	"time"
)

// maxParallel is the largest number of rows that the mover handles at a time.
const maxParallel = 32

// kind is what a request of the mover asks of the store.
type kind int

const (
	scan  kind = iota // a page of rows
	look              // one row
	write             // one row
	kinds
)

// pace sets the number of rows that the mover handles at a time. It raises the number while the
// store answers about as fast as it did when it was least busy. It lowers the number when the store
// slows down or refuses. So the mover uses only the capacity that the store has to spare.
//
// A request is compared with those of its kind: a write, which waits for the disk, is no sign of a
// busy store because a read takes less.
type pace struct {
	mu    sync.Mutex
	limit float64
	of    [kinds]struct {
		recent float64 // seconds, a moving average
		best   float64 // seconds, of an undisturbed request; rises slowly, so that it reflects the last thousands
	}
}

func newPace() *pace { return &pace{limit: 4} }

// parallel returns the number of rows that the mover may handle at a time.
func (p *pace) parallel() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(1, int(p.limit))
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
	const slack = 0.002 // seconds; smaller delays do not count
	switch {
	case failed:
		p.limit = max(1, p.limit/2)
	case s > 3*k.best+slack:
		p.limit = max(1, p.limit*0.97)
	default:
		p.limit = min(maxParallel, p.limit+1/p.limit)
	}
}
