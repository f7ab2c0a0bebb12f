// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the engine's clock.
type clock struct{ at atomic.Int64 }

// epoch is the time at which the demo begins on its clock.
var epoch = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

func newClock() *clock {
	c := new(clock)
	c.at.Store(epoch.UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *clock) set(t time.Time)      { c.at.Store(t.UnixNano()) }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

// pace ties a clock to the wall clock. speed is the clock's seconds per second of the wall clock;
// 0: as fast as possible.
type pace struct {
	speed float64
	begun time.Time // on the demo's clock
	from  time.Time // on the demo's clock
}

// wait returns when the clock may reach t.
func (p *pace) wait(ctx context.Context, t time.Time) error {
	if p.speed <= 0 {
		return ctx.Err()
	}
	until := p.begun.Add(time.Duration(float64(t.Sub(p.from)) / p.speed))
	left := time.Until(until)
	if left < time.Millisecond {
		return ctx.Err()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
