// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// pollEvery is how often the door reads the catalogue if no event asks for it. Events may be
// lost, and operations of dead doors must be ended.
const pollEvery = 30 * time.Second

// lookEvery is how often the door checks whether the store's schema has changed. After that time
// it knows of another door's change even if the event is late.
const lookEvery = time.Second

// refreshLimit bounds one reading of the catalogue and the schema.
const refreshLimit = 10 * time.Second

// ErrDoor says that the store is itself a front door.
var ErrDoor = errors.New("there is a front door at that address, not a cluster: it hides the catalogue of sharded tables")

// Start reads the catalogue and the schema, and keeps both up to date until Close. A door that
// cannot read the catalogue does not serve. ctx bounds the reading.
func (r *Router) Start(ctx context.Context) error {
	x := r.schema
	s, err := x.catalog.Schema(ctx, "system_schema", "system")
	if err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	x.system = s.Keyspaces
	if err := x.newMember(ctx); err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	if r.opts.Found && x.member != nil {
		var refused *wire.Error
		switch err := x.catalog.Found(ctx); {
		case errors.As(err, &refused) && refused.Message == errReserved.Message:
			return ErrDoor
		case err != nil:
			r.opts.Log.Warn("there is no catalogue yet, and this door cannot make it: until the first sharded table is created, drivers see no other door", "error", err)
		}
	}
	rules, err := x.rules.start(ctx)
	if err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	if err := x.refresh(ctx); err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	x.rollovers.since(x.view.Load())
	x.rules.warn(rules, x.view.Load())
	x.movers = newMovers(x)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x.stop = cancel
	x.done.Go(func() { x.poll(ctx) })
	x.done.Go(func() { x.movers.run(ctx) })
	x.done.Go(func() { newKeeper(x).run(ctx) })
	x.done.Go(func() { x.rollovers.run(ctx) })
	return nil
}

// Close stops what Start began. The door must have stopped before.
func (r *Router) Close() {
	r.schema.stop()
	r.schema.done.Wait()
	r.schema.rollovers.leave()
	r.schema.leave()
	r.schema.lease.Stop()
	r.schema.session.Close()
}

func (x *schemas) poll(ctx context.Context) {
	every := x.lookEvery()
	all, look := time.NewTicker(pollEvery), time.NewTicker(every)
	defer all.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-all.C:
			x.refreshOrReport(ctx)
		case <-x.renewals.wake:
			x.renewForAll(ctx)
		case <-look.C:
			within, cancel := context.WithTimeout(ctx, refreshLimit)
			_ = x.pulse(within) // the refresh reports errors
			cancel()
			if now := x.lookEvery(); now != every { // the catalogue was just made and gives another lease
				every = now
				look.Reset(every)
			}
		}
	}
}

// lookEvery returns how often the door checks: at least three times in a lease.
func (x *schemas) lookEvery() time.Duration {
	if length := x.lease.Length(); length > 0 {
		return min(lookEvery, max(length/3, time.Millisecond))
	}
	return lookEvery
}

// refreshOrReport refreshes in the background. If that fails it logs the error and keeps the old
// state.
func (x *schemas) refreshOrReport(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	if err := x.refresh(within); err != nil && ctx.Err() == nil {
		x.r.opts.Log.Warn("the catalogue cannot be read; what was read before goes on being served", "error", err)
	}
}
