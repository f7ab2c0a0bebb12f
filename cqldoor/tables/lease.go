// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
)

// If other doors use the same store, this door's knowledge of tables is valid for one lease (package
// fleet). Schemas.Poll renews the lease. The lease can end before that, if Poll is late, the store is
// slow or the machine was suspended. Then requests wait until the lease is renewed.

// renewals holds the requests that wait for a new lease.
type renewals struct {
	wake    chan struct{}
	mu      sync.Mutex
	waiting []chan<- error
}

// Membership is this door's place among the doors of the store. It holds the door's lease, and it
// exchanges messages with the other doors.
type Membership struct {
	opts    *Options
	session *catalog.StoreSession
	catalog *catalog.Catalog
	view    *atomic.Pointer[View]
	state   *States
	claims  *Claims
	Nodes   *Nodes

	Lease    *registry.Lease // how long the door's knowledge of tables is valid
	Member   *fleet.Member   // nil: no other door uses the store
	renewals renewals
	Beaten   atomic.Pointer[fleet.Seen] // result of the last beat; nil: this door is not registered
}

// Lapsed reports whether the lease has ended. If it has, another door may have given a table's name
// to another table.
func (m *Membership) Lapsed() bool { return !m.Lease.Holds() }

// Renew asks the store whether the schema has changed, and waits until the door has read the
// changes. One question serves all waiting requests. It is sent after the call of Renew. Renew
// returns ErrLapsed if the door cannot renew its lease.
func (m *Membership) Renew(ctx context.Context) error {
	done := make(chan error, 1)
	m.renewals.mu.Lock()
	m.renewals.waiting = append(m.renewals.waiting, done)
	m.renewals.mu.Unlock()
	select {
	case m.renewals.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ErrLapsed is the error for statements on sharded tables while the door cannot renew its lease.
var ErrLapsed = wire.Errorf(wire.CodeOverloaded, "evenkeel: this door cannot ask the store whether another door has changed the table; the request was not executed")

// NewMember reads the data centre, the rack and the release of the store's node. If other doors may
// use the store, it makes this door a member of the fleet.
func (m *Membership) NewMember(ctx context.Context) error {
	o := m.opts
	rows, err := m.session.Query(ctx, wire.One, "SELECT data_center, rack, release_version FROM system.local")
	if err != nil {
		return fmt.Errorf("read the data centre of the node: %w", err)
	}
	for _, r := range rows {
		o.Self.DataCentre, o.Self.Rack = string(r["data_center"]), cmp.Or(o.Self.Rack, string(r["rack"]))
		m.Nodes.release = string(r["release_version"])
	}
	m.Nodes.self = o.Self
	if o.Lease == 0 {
		return nil
	}
	m.Lease.Watch()
	o.Self.Steps = append(reshard.Steps(), fleet.StepAdopted, fleet.StepForwarded)
	m.Member = fleet.New(fleet.Options{Session: m.session, Now: o.Now, UUID: o.UUID, Self: o.Self, Lease: o.Lease, Longest: o.Longest, Log: o.Log})
	return nil
}

// Beat registers this door with the others, or renews its registration. It returns nil if there is
// nobody to register with. That is so if no other door can use the store, or if there is no
// catalogue and so no sharded table.
func (m *Membership) Beat(ctx context.Context) (*fleet.Seen, error) {
	if m.Member == nil {
		return nil, nil
	}
	if !m.view.Load().Present {
		if there, err := m.catalog.Present(ctx); err != nil || !there {
			return nil, err
		}
	}
	seen, err := m.Member.Beat(ctx)
	if err != nil {
		return nil, fmt.Errorf("register this door: %w", err)
	}
	m.Lease.SetLength(seen.Lease)
	m.Beaten.Store(seen)
	m.Nodes.Look(m.Lease.Now(), seen.Lease, seen.Doors)
	return seen, nil
}

// register registers this door and then reads the version of the store's schema. The lease for
// everything that the door reads afterwards counts from asked.
func (m *Membership) register(ctx context.Context) (seen *fleet.Seen, version [16]byte, asked time.Time, err error) {
	err = m.again(ctx, func(ctx context.Context) (err error) {
		seen, version, asked, err = m.registerOnce(ctx)
		return err
	})
	return seen, version, asked, err
}

// again calls f, which asks the store, until the store answers.
//
// A node of the store does not answer while it stands still, or while it waits for a dead node. So a
// registered door gives up an attempt after half a lease, while it can still renew the lease in time.
// Then it asks again, and the next attempt goes to a node with fewer unanswered requests. Each attempt
// has twice the time of the one before, because the whole store may be slow.
func (m *Membership) again(ctx context.Context, f func(ctx context.Context) error) error {
	if m.Beaten.Load() == nil {
		return f(ctx) // the first attempt creates tables
	}
	for limit := m.Lease.Length() / 2; ; limit *= 2 {
		attempt, cancel := context.WithTimeout(ctx, limit)
		err := f(attempt)
		late := attempt.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil {
			return err
		}
	}
}

func (m *Membership) registerOnce(ctx context.Context) (seen *fleet.Seen, version [16]byte, asked time.Time, err error) {
	asked = m.Lease.Now()
	if seen, err = m.Beat(ctx); err != nil {
		return nil, version, asked, err
	}
	if seen != nil {
		asked = seen.Asked
	}
	version, err = m.catalog.Version(ctx)
	return seen, version, asked, err
}

// sameSeen reports whether beat b shows nothing new to a door that has read the catalogue after beat a.
func sameSeen(a, b *fleet.Seen) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Self == b.Self && a.Same(b)
}

// acknowledge tells the other doors, with the next beat, which generations of tables this door
// uses. It names a generation only when no request planned on an older one is under way.
func (m *Membership) acknowledge() {
	v := m.view.Load()
	if v.Seen == nil {
		return
	}
	st := m.state.Oldest()
	generations := map[[16]byte]int64{}
	for _, p := range v.Seen.Publications {
		t := st.Table(p.Table.Keyspace, p.Table.Name)
		switch {
		case t != nil && t.ID == p.Table.ID && !m.claims.Have(t):
			// Statements that doors forwarded to the plain table may be under way.
		case t != nil && t.ID == p.Table.ID:
			generations[p.Table.ID] = t.Layout.Generation
		case v.unserved[syntax.Name{Keyspace: p.Table.Keyspace, Name: p.Table.Name}] && st == m.state.Load():
			generations[p.Table.ID] = p.Generation // this door uses none
		case t == nil && v.plainSince(p) && st == m.state.Load():
			generations[p.Table.ID] = p.Generation // the table is plain again, or gone
		}
	}
	m.Member.Acknowledge(v.Seen.Self, generations)
}

// plainSince reports whether a published table is gone, or plain again. It is gone if no entry has its id. It
// is plain if its entry has a plain layout of the published generation or a later one, no change under way,
// and the rows in the table of the logical name.
func (v *View) plainSince(p fleet.Publication) bool {
	e := v.Entries[syntax.Name{Keyspace: p.Table.Keyspace, Name: p.Table.Name}]
	return e == nil || e.ID != p.Table.ID || e.Layout.Generation >= p.Generation && e.Layout.Plain() && e.Change == nil && e.Physical == e.Table
}

// tell tells the other doors which schema this one uses.
func (m *Membership) tell(ctx context.Context) {
	if m.Member == nil {
		return
	}
	if err := m.Member.Tell(ctx, m.view.Load().Version); err != nil {
		m.opts.Log.Debug("this door could not tell the other doors which schema version it uses; it tries again", "error", err)
	}
}

// Leave removes the door from the fleet. No request may be under way.
func (m *Membership) Leave() {
	if m.Member == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), LeaveLimit)
	defer cancel()
	if err := m.Member.Leave(ctx); err != nil {
		m.opts.Log.Warn("this door cannot report to the other doors that it ends; they will notice", "error", err)
	}
}

// LeaveLimit bounds how long a stopping door waits for the store.
const LeaveLimit = 2 * time.Second

// WaitForDoors waits until no other door uses an older state of the tables. It waits for one lease,
// unless this door knows that it is alone.
func (m *Membership) WaitForDoors(ctx context.Context) {
	if m.Member == nil {
		return
	}
	if alone, err := m.Member.Alone(ctx); err == nil && alone {
		return
	}
	deadline.Sleep(ctx, m.Lease.Length())
}
