// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"sync"

	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// When a mover announces the change of a plain table to a sharded one, the router claims statements
// that the doors forwarded until then. Forwarded statements may still be under way, and they write
// to the plain table only. So this door acknowledges the announcement only after all of them have
// been answered.

// claims holds the tables whose statements the router claims and the doors forwarded before.
type claims struct {
	eras *cqldoor.Eras

	mu     sync.Mutex
	passed map[[16]byte]bool // by table; true: the forwarded statements have been answered; false: a goroutine waits for them
}

// have reports whether no statement on a table is under way that a door forwarded before the router
// claimed the table.
func (c *claims) have(t *plan.Table) bool {
	if t == nil || !t.Plain() || t.Change == nil || c.eras == nil {
		return true // without doors, nothing was forwarded
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed[t.ID]
}

// wait waits until have is true for a table. The caller has made sure that doors use a view that
// claims the table.
func (c *claims) wait(ctx context.Context, t *plan.Table) error {
	if c.have(t) {
		return nil
	}
	if err := c.eras.Passed(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.passed[t.ID] = true
	c.mu.Unlock()
	return nil
}

// await calls wait in the background, through run, unless another call has already done so.
func (c *claims) await(ctx context.Context, t *plan.Table, run func(func())) {
	if c.have(t) {
		return
	}
	c.mu.Lock()
	_, waited := c.passed[t.ID]
	if !waited {
		c.passed[t.ID] = false
	}
	c.mu.Unlock()
	if waited {
		return
	}
	run(func() {
		if c.wait(ctx, t) != nil {
			c.mu.Lock()
			delete(c.passed, t.ID)
			c.mu.Unlock()
		}
	})
}

// keep forgets the tables that are not under such a change in a state. The doors forward their
// statements again, or the tables are sharded.
func (c *claims) keep(s *State) {
	under := map[[16]byte]bool{}
	for _, tables := range s.Tables {
		for _, t := range tables {
			under[t.ID] = t.Plain() && t.Change != nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.passed {
		if !under[id] {
			delete(c.passed, id)
		}
	}
}
