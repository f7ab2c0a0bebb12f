// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"sync"

	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// When a change of a plain table to a sharded one is announced, the router claims what the
// doors forwarded until then. What they have forwarded may still be under way, and writes to
// the plain table alone. So this door has acknowledged the announcement only when all of it
// has been answered.

// claims are the tables whose statements the router claims, and that were forwarded before.
type claims struct {
	eras *cqldoor.Eras

	mu     sync.Mutex
	passed map[[16]byte]bool // by table: what was forwarded has been answered; false: it is waited for
}

// have says whether nothing of a table is under way that was forwarded before the router
// claimed it.
func (c *claims) have(t *plan.Table) bool {
	if t == nil || !t.Plain() || t.Change == nil || c.eras == nil {
		return true // without doors nothing was forwarded
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed[t.ID]
}

// wait waits until the router has a table. The caller has seen that doors ask a view in which
// the table is claimed.
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

// await is wait in the background, by go, unless somebody is at it.
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

// keep forgets the tables that are not under such a change in a state: they are forwarded
// again, or sharded.
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
