// SPDX-License-Identifier: Apache-2.0

package livetable

import (
	"context"
	"sync"
	"time"
)

// Limiter limits the rate of all readers together.
type Limiter struct {
	Rate float64 // per second; 0: no limit. Set it before the first Wait

	mu   sync.Mutex
	free time.Time // when the limit allows the next read
}

// Wait returns when n more may be read.
func (l *Limiter) Wait(ctx context.Context, n float64) error {
	if l.Rate <= 0 || n == 0 {
		return ctx.Err()
	}
	l.mu.Lock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n / l.Rate * float64(time.Second)))
	until := l.free
	l.mu.Unlock()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
