// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/reshard"
)

// If other doors use the same store, what this door knows of tables is valid for one lease
// (package fleet). The poller renews the lease. If the poller is late, the store is slow or the
// machine was suspended, requests wait until the lease is renewed.

// renewals holds the requests that wait for a new lease.
type renewals struct {
	wake    chan struct{}
	mu      sync.Mutex
	waiting []chan<- error
}

// lapsed says whether the lease has ended. Another door may then have given a table's name to
// another table.
func (x *schemas) lapsed() bool { return !x.lease.Holds() }

// renew waits until the door, after this call, has asked the store whether the schema has changed
// and has read the changes. One question serves all waiting requests.
func (x *schemas) renew(ctx context.Context) error {
	done := make(chan error, 1)
	x.renewals.mu.Lock()
	x.renewals.waiting = append(x.renewals.waiting, done)
	x.renewals.mu.Unlock()
	select {
	case x.renewals.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renewForAll serves the waiting requests. Only the poller calls it.
func (x *schemas) renewForAll(ctx context.Context) {
	x.renewals.mu.Lock()
	waiting := x.renewals.waiting
	x.renewals.waiting = nil
	x.renewals.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	err := x.pulse(within)
	if err != nil {
		x.r.opts.Log.Warn("the store cannot be asked whether tables have changed; statements on sharded tables are refused until it can", "error", err)
		err = errLapsed
	}
	for _, done := range waiting {
		done <- err
	}
}

// errLapsed refuses statements on sharded tables while the door cannot renew its lease.
var errLapsed = wire.Errorf(wire.CodeOverloaded, "evenkeel: this door cannot ask the store whether another door has changed the table; the request was not executed")

// newMember makes this door a member of the fleet, if other doors may use the store.
func (x *schemas) newMember(ctx context.Context) error {
	o := x.r.opts
	rows, err := x.session.Query(ctx, wire.One, "SELECT data_center, rack, release_version FROM system.local")
	if err != nil {
		return fmt.Errorf("read the data centre of the node: %w", err)
	}
	for _, r := range rows {
		o.Self.DataCentre, o.Self.Rack = string(r["data_center"]), cmp.Or(o.Self.Rack, string(r["rack"]))
		x.nodes.release = string(r["release_version"])
	}
	x.nodes.self = o.Self
	if o.Lease == 0 {
		return nil
	}
	x.lease.Watch()
	o.Self.Steps = reshard.Steps()
	x.member = fleet.New(fleet.Options{Session: x.session, Now: o.Now, UUID: o.UUID, Self: o.Self, Lease: o.Lease, Longest: o.Longest, Log: o.Log})
	return nil
}

// beat registers this door with the others, or renews its registration. It returns nil if there
// is nobody to register with: no other door can use the store, or there is no catalogue and so no
// sharded table.
func (x *schemas) beat(ctx context.Context) (*fleet.Seen, error) {
	if x.member == nil {
		return nil, nil
	}
	if !x.view.Load().present {
		if there, err := x.catalog.Present(ctx); err != nil || !there {
			return nil, err
		}
	}
	seen, err := x.member.Beat(ctx)
	if err != nil {
		return nil, fmt.Errorf("register this door: %w", err)
	}
	x.lease.SetLength(seen.Lease)
	x.beaten.Store(seen)
	x.nodes.look(x.lease.Now(), seen.Lease, seen.Doors)
	return seen, nil
}

// register registers this door and then reads the version of the store's schema. The lease on
// what is read afterwards counts from asked.
func (x *schemas) register(ctx context.Context) (seen *fleet.Seen, version [16]byte, asked time.Time, err error) {
	asked = x.lease.Now()
	if seen, err = x.beat(ctx); err != nil {
		return nil, version, asked, err
	}
	if seen != nil {
		asked = seen.Asked
	}
	version, err = x.catalog.Version(ctx)
	return seen, version, asked, err
}

// pulse renews the lease: it tells the other doors that this one is alive, checks whether they
// have changed anything, and reads the changes.
func (x *schemas) pulse(ctx context.Context) error {
	v := x.view.Load()
	seen, version, asked, err := x.register(ctx)
	if err != nil {
		return err
	}
	if version != v.version || v != x.view.Load() || !sameSeen(seen, v.seen) {
		return x.refresh(ctx)
	}
	if err := x.rollovers.adopt(ctx); err != nil {
		return err
	}
	x.lease.Renew(asked)
	x.acknowledge()
	return nil
}

// sameSeen says whether a door that has read a has nothing new to read in b.
func sameSeen(a, b *fleet.Seen) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Self == b.Self && a.Same(b)
}

// acknowledge tells the other doors, with the next beat, which generations of tables this door
// uses. It names a generation only when no request planned on an older one is under way.
func (x *schemas) acknowledge() {
	v := x.view.Load()
	if v.seen == nil {
		return
	}
	st := x.retired.oldest(&x.r.state)
	generations := map[[16]byte]int64{}
	for _, p := range v.seen.Publications {
		t := st.Table(p.Table.Keyspace, p.Table.Name)
		switch {
		case t != nil && t.ID == p.Table.ID && !x.claims.have(t):
			// Statements that doors forwarded to the plain table may be under way.
		case t != nil && t.ID == p.Table.ID:
			generations[p.Table.ID] = t.Layout.Generation
		case v.unserved[syntax.Name{Keyspace: p.Table.Keyspace, Name: p.Table.Name}] && st == x.r.state.Load():
			generations[p.Table.ID] = p.Generation // this door uses none
		}
	}
	x.member.Acknowledge(v.seen.Self, generations)
}

// tell tells the other doors which schema this one uses.
func (x *schemas) tell(ctx context.Context) {
	if x.member == nil {
		return
	}
	if err := x.member.Tell(ctx, x.view.Load().version); err != nil {
		x.r.opts.Log.Debug("the other doors are told later which schema this one goes by", "error", err)
	}
}

// leave removes the door from the fleet. No request may be under way.
func (x *schemas) leave() {
	if x.member == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	if err := x.member.Leave(ctx); err != nil {
		x.r.opts.Log.Warn("the other doors are not told that this one ends; they will find out", "error", err)
	}
}

// leaveLimit bounds how long a stopping door waits for the store.
const leaveLimit = 2 * time.Second

// waitForDoors waits until no other door uses the older state.
func (x *schemas) waitForDoors(ctx context.Context) {
	if x.member == nil {
		return
	}
	if alone, err := x.member.Alone(ctx); err == nil && alone {
		return
	}
	t := time.NewTimer(x.lease.Length())
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
