// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"time"
)

// lookEvery is the longest interval at which the door checks whether the store's schema has changed.
// After that time it knows of another door's change even if the event is late.
const lookEvery = time.Second

// rereadEvery is how often the door reads the catalogue if no event asks for it. Events may be
// lost, and operations of dead doors must be ended.
const rereadEvery = 30 * time.Second

// RefreshLimit bounds one reading of the catalogue and the schema.
const RefreshLimit = 10 * time.Second

// RenewLease tells the other doors that this one is alive, and asks the store whether anything has
// changed. It reads what has changed, and renews the lease.
func (x *Schemas) RenewLease(ctx context.Context) error {
	seen, version, asked, err := x.Doors.register(ctx)
	if err != nil {
		return err
	}
	// A refresh may have replaced the view meanwhile. The new view is as good.
	if v := x.View.Load(); version != v.Version || !sameSeen(seen, v.Seen) {
		return x.Refresh(ctx)
	}
	if err := x.Rolled.CatchUpAll(ctx); err != nil {
		return err
	}
	x.Doors.Lease.Renew(asked)
	x.Doors.acknowledge()
	return nil
}

// Reread refreshes at intervals until ctx is done. The lease does not wait for it.
func (x *Schemas) Reread(ctx context.Context) {
	t := time.NewTicker(rereadEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			x.RefreshOrLog(ctx)
		}
	}
}

// Poll renews the lease at intervals and whenever a request waits for it, until ctx is done.
func (x *Schemas) Poll(ctx context.Context) {
	every := x.Doors.LookEvery()
	renew := time.NewTicker(every)
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.Doors.renewals.wake:
			x.renewForWaiting(ctx)
		case <-renew.C:
			within, cancel := context.WithTimeout(ctx, RefreshLimit)
			_ = x.RenewLease(within) // if this goes on to fail, the next refresh logs the error
			cancel()
			if now := x.Doors.LookEvery(); now != every { // the catalogue was just created: this door now has a lease
				every = now
				renew.Reset(every)
			}
		}
	}
}

// renewForWaiting renews the lease once for all requests that wait in Membership.Renew. Only Poll
// calls it.
func (x *Schemas) renewForWaiting(ctx context.Context) {
	x.Doors.renewals.mu.Lock()
	waiting := x.Doors.renewals.waiting
	x.Doors.renewals.waiting = nil
	x.Doors.renewals.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, RefreshLimit)
	defer cancel()
	err := x.RenewLease(within)
	if err != nil {
		x.Opts.Log.Warn("the door cannot ask the store whether tables have changed; until it can, it refuses statements on sharded tables", "error", err)
		err = ErrLapsed
	}
	for _, done := range waiting {
		done <- err
	}
}

// LookEvery returns the interval at which the door checks the schema and renews its lease. The door
// does so at least three times in a lease.
func (m *Membership) LookEvery() time.Duration {
	if length := m.Lease.Length(); length > 0 {
		return min(lookEvery, max(length/3, time.Millisecond))
	}
	return lookEvery
}
