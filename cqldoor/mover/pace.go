// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"sync"
	"time"
)

// maxParallel is the largest number of rows that the mover handles at a time.
const maxParallel = 32

// pace sets the number of rows that the mover handles at a time. It raises the number while the
// store answers about as fast as it did when it was least busy. It lowers the number when the store
// slows down or refuses. So the mover uses only the capacity that the store has to spare.
type pace struct {
	mu     sync.Mutex
	limit  float64
	recent float64 // seconds, a moving average of all requests
	best   float64 // seconds, of an undisturbed request; rises slowly, so that it reflects the last minutes
}

func newPace() *pace { return &pace{limit: 4} }

// parallel returns the number of rows that the mover may handle at a time.
func (p *pace) parallel() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(1, int(p.limit))
}

// latency returns the store's response time in seconds: now, and when it was least busy.
func (p *pace) latency() [2]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return [2]float64{p.recent, p.best}
}

// observe takes the duration of a request and whether the store failed to serve it.
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
	const slack = 0.002 // seconds; smaller delays do not count
	switch {
	case failed:
		p.limit = max(1, p.limit/2)
	case s > 3*p.best+slack:
		p.limit = max(1, p.limit*0.97)
	default:
		p.limit = min(maxParallel, p.limit+1/p.limit)
	}
}
