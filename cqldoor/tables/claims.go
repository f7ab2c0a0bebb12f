// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"sync"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// A mover announces the change of a plain table to a sharded one. From then on the router claims the
// table's statements, which the doors forwarded before. Some forwarded statements may still be under
// way, and they write to the plain table only. So this door acknowledges the announcement only after
// all of them have been answered.

// Claims records, for each change or adoption of a table, whether the statements that the doors
// forwarded before it have been answered.
type Claims struct {
	// passed waits until all statements that the doors have forwarded have been answered. Nil: there
	// are no doors, and nothing was forwarded.
	passed func(ctx context.Context) error

	mu  sync.Mutex
	all map[claimed]*claim
}

// claimed identifies one change or adoption of one table. If the change or adoption is taken back,
// the doors forward the table's statements again until the next one.
type claimed struct {
	table   [16]byte
	started int64 // reshard.Change.Started, or plan.Table.Adopted
}

func claimOf(t *plan.Table) claimed {
	if t.Plain() {
		return claimed{t.ID, t.Change.Started}
	}
	return claimed{t.ID, t.Adopted}
}

// claim is the state of the statements that were forwarded before a change or adoption. Claims.mu
// guards it.
type claim struct {
	passed bool // the statements have been answered
	waited bool // a goroutine waits for them
}

func newClaims(passed func(ctx context.Context) error) *Claims {
	return &Claims{passed: passed, all: map[claimed]*claim{}}
}

// forwarded reports whether doors may have forwarded statements on a table before the router
// claimed them.
func (c *Claims) forwarded(t *plan.Table) bool {
	return t != nil && (t.Plain() && t.Change != nil || !t.Plain() && t.Adopted != 0) && c.passed != nil
}

// Have reports whether all statements on a table that doors forwarded before the router claimed it
// have been answered.
func (c *Claims) Have(t *plan.Table) bool {
	if !c.forwarded(t) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.all[claimOf(t)]
	return of != nil && of.passed
}

// of returns the claim for the change or the adoption of a table. The caller holds mu.
func (c *Claims) of(t *plan.Table) *claim {
	key := claimOf(t)
	of := c.all[key]
	if of == nil {
		of = new(claim)
		c.all[key] = of
	}
	return of
}

// Wait waits until Have is true for a table. It returns an error if ctx ends first. The caller makes
// sure that doors use a view that claims the table.
func (c *Claims) Wait(ctx context.Context, t *plan.Table) error {
	if c.Have(t) {
		return nil
	}
	c.mu.Lock()
	of := c.of(t)
	c.mu.Unlock()
	return c.settle(ctx, of)
}

// settle waits for the statements of a claim. If keep forgets the claim meanwhile, the result does
// not apply to a later claim.
func (c *Claims) settle(ctx context.Context, of *claim) error {
	err := c.passed(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	of.passed = of.passed || err == nil
	return err
}

// Await waits as Wait does, but in the background: it gives the wait to run. It does nothing if an
// earlier call of Await still waits, or if the statements have been answered.
func (c *Claims) Await(ctx context.Context, t *plan.Table, run func(func())) {
	if !c.forwarded(t) {
		return
	}
	c.mu.Lock()
	of := c.of(t)
	done := of.passed || of.waited
	of.waited = true
	c.mu.Unlock()
	if done {
		return
	}
	run(func() {
		if c.settle(ctx, of) != nil {
			c.mu.Lock()
			of.waited = false
			c.mu.Unlock()
		}
	})
}

// keep forgets the changes that are over in a state, and the adoptions of tables that were given
// back. The doors forward the statements of these tables again, or the tables are sharded.
func (c *Claims) keep(s *State) {
	under := map[claimed]bool{}
	for _, tables := range s.Tables {
		for _, t := range tables {
			if c.forwarded(t) {
				under[claimOf(t)] = true
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for change := range c.all {
		if !under[change] {
			delete(c.all, change)
		}
	}
}
