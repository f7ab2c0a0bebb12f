// SPDX-License-Identifier: Apache-2.0

package deadline

import (
	"context"
	"sync/atomic"
	"time"
)

type key struct{}

// clock is a context's deadline.
type clock struct {
	timer  *time.Timer
	d      time.Duration
	passed atomic.Bool
	outer  *clock
}

// With returns a context that is done when d has passed since the last Progress, or when ctx is
// done. When d has passed, it calls passed, if that is not nil and stop was not called. A d of 0
// means no deadline.
func With(ctx context.Context, d time.Duration, passed func()) (_ context.Context, stop func()) {
	if d <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &clock{d: d}
	c.outer, _ = ctx.Value(key{}).(*clock)
	ctx = context.WithValue(ctx, key{}, c)
	c.timer = time.AfterFunc(d, func() {
		if ctx.Err() == nil {
			c.passed.Store(true)
		}
		cancel()
		if passed != nil {
			passed()
		}
	})
	return ctx, func() {
		c.timer.Stop()
		cancel()
	}
}

// Progress restarts the time of the context's innermost deadline, unless that has passed.
func Progress(ctx context.Context) {
	if c, ok := ctx.Value(key{}).(*clock); ok && ctx.Err() == nil {
		c.timer.Reset(c.d)
	}
}

// Passed reports whether a context is done because one of its deadlines has passed.
func Passed(ctx context.Context) bool {
	c, _ := ctx.Value(key{}).(*clock)
	for c != nil && !c.passed.Load() {
		c = c.outer
	}
	return c != nil
}
