// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"sync"
	"time"
)

// maxParallel is how many rows the mover handles at a time at most.
const maxParallel = 32

// pace says how many rows are handled at a time: more while the store answers as fast
// as it did when it was least busy, fewer when it slows down or refuses. So what the
// store has to spare is used, and no more.
type pace struct {
	mu     sync.Mutex
	limit  float64
	recent float64 // seconds, a moving average of all requests
	best   float64 // seconds, of an undisturbed request; rises slowly, so that it is of these minutes
}

func newPace() *pace { return &pace{limit: 4} }

// parallel is how many rows are handled at a time.
func (p *pace) parallel() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(1, int(p.limit))
}

// latency is how long the store takes to answer, in seconds: now, and when it is least busy.
func (p *pace) latency() [2]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return [2]float64{p.recent, p.best}
}

// observe is told how long a request took, and whether the store could not do it.
func (p *pace) observe(took time.Duration, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := took.Seconds()
	if p.best == 0 || s < p.best {
		p.best = s
	}
	p.best *= 1.0005
	if p.recent == 0 {
		p.recent = s
	}
	p.recent += (s - p.recent) / 16
	const slack = 0.002 // seconds: what does not matter to anybody
	switch {
	case failed:
		p.limit = max(1, p.limit/2)
	case s > 3*p.best+slack:
		p.limit = max(1, p.limit*0.97)
	default:
		p.limit = min(maxParallel, p.limit+1/p.limit)
	}
}
