// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"sync"
)

// crew runs jobs in goroutines, as many at a time as the pace allows at that moment.
type crew struct {
	ctx  context.Context
	pace *pace

	mu    sync.Mutex
	free  sync.Cond // a job has ended
	busy  int
	first error
}

func newCrew(ctx context.Context, p *pace) *crew {
	c := &crew{ctx: ctx, pace: p}
	c.free.L = &c.mu
	return c
}

// do starts a job when there is room for it. After the first error it starts none.
func (c *crew) do(job func() error) {
	err := c.pace.watch(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.busy > 0 && c.busy >= c.pace.parallel() {
		c.free.Wait()
	}
	if c.first == nil {
		c.first = err
	}
	if c.first != nil {
		return
	}
	c.busy++
	go func() {
		err := job()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy--
		if c.first == nil {
			c.first = err
		}
		c.free.Broadcast()
	}()
}

// wait waits for all jobs and returns the first error of any.
func (c *crew) wait() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.busy > 0 {
		c.free.Wait()
	}
	return c.first
}
