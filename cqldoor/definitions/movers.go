// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/observe"
)

// Movers carries out changes of layout in this door: the changes that this door began, and those whose
// door has vanished.
type Movers struct {
	opts    *Options
	x       *tables.Schemas
	Self    [16]byte
	began   time.Time
	Mover   *mover.Mover
	session *catalog.StoreSession

	adoptions *adoptions

	mu      sync.Mutex
	running map[syntax.Name]bool
	done    sync.WaitGroup
}

// watchEvery is the interval at which a door looks for changes that no door carries out.
const watchEvery = 500 * time.Millisecond

// NewMovers returns the Movers of a door. Run starts them.
func NewMovers(o *Options, x *tables.Schemas, rollovers mover.Rollovers, announce mover.Announce) *Movers {
	m := &Movers{opts: o, x: x, Self: x.Opts.UUID(), began: x.Opts.Now(), running: map[syntax.Name]bool{}, session: catalog.NewSession(x.Opts.Store)}
	m.Mover = mover.New(mover.Options{Store: x.Opts.Store, Session: m.session, Catalogue: x.Catalog, Doors: m,
		Now: x.Opts.Now, Stamps: x.Clock.Now, Self: m.Self, Lease: x.Doors.Lease.Length, Hints: o.Hints, Buckets: announce, Rollovers: rollovers, Clients: clientsOf(x.Opts.Requests), Log: x.Opts.Log})
	m.adoptions = newAdoptions(x, m)
	return m
}

// Run looks for changes until ctx is done. Then it waits for the changes that it carries out.
func (m *Movers) Run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	watch := map[syntax.Name]*sign{}
	m.done.Go(func() { m.adoptions.run(ctx) })
	for {
		m.watch(ctx, watch)
		select {
		case <-tick.C:
		case <-ctx.Done():
			m.done.Wait()
			m.Mover.Close()
			m.session.Close()
			return
		}
	}
}

// sign is the last sign of life of a change's mover.
type sign struct {
	beat  mover.Beat
	since time.Time // when this door first saw the beat
}

// watch carries on the changes that belong to this door or to no door. It takes over the change of another door if
// the change's mover has shown no sign of life for Options.Takeover. It also drops second tables that have been left.
func (m *Movers) watch(ctx context.Context, watch map[syntax.Name]*sign) {
	now := m.x.Opts.Now()
	for _, e := range m.x.View.Load().Left {
		// If there is no other door, an operation that started before this door began is of a door that has ended.
		if m.x.Catalog.Overdue(e) || m.x.Doors.Member == nil && e.Started.Before(m.began) {
			m.start(ctx, syntax.Name{Keyspace: e.Keyspace, Name: e.Table}, m.Mover.Tidy)
		}
	}
	for keyspace, tables := range m.x.View.Load().Tables {
		for table, t := range tables {
			m.x.Claims.Await(ctx, m.x.State.Load().Table(keyspace, table), m.done.Go)
			if t.Entry.Change == nil {
				continue
			}
			name := syntax.Name{Keyspace: keyspace, Name: table}
			if t.Entry.Change.Owner == m.Self || t.Entry.Change.Owner == ([16]byte{}) || m.x.Doors.Member == nil {
				m.carryOn(ctx, name)
				continue
			}
			beat, err := m.Mover.Beat(ctx, t.Entry)
			if err != nil {
				continue // the store does not answer: this door takes nothing over
			}
			if s := watch[name]; s == nil || s.beat != beat {
				watch[name] = &sign{beat, now}
			} else if now.Sub(s.since) >= m.opts.Takeover {
				delete(watch, name)
				m.carryOn(ctx, name)
			}
		}
	}
}

// carryOn runs the mover of one table, unless it already runs.
func (m *Movers) carryOn(ctx context.Context, t syntax.Name) { m.start(ctx, t, m.Mover.Run) }

// start runs do for one table in a goroutine, unless such a goroutine already runs for the table.
func (m *Movers) start(ctx context.Context, t syntax.Name, do func(ctx context.Context, keyspace, table string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[t] {
		return
	}
	m.running[t] = true
	m.done.Go(func() {
		err := do(ctx, t.Keyspace, t.Name)
		if err != nil && ctx.Err() == nil {
			m.x.Opts.Log.Warn("a change of layout cannot go on; the mover tries again", "table", t.Keyspace+"."+t.Name, "error", err)
			deadline.Sleep(ctx, time.Second)
		}
		m.mu.Lock()
		delete(m.running, t)
		m.mu.Unlock()
	})
}

func fleetTable(e *catalog.Entry) fleet.Table {
	return fleet.Table{Keyspace: e.Keyspace, Name: e.Table, ID: e.ID}
}

// Published implements mover.Doors.
func (m *Movers) Published(ctx context.Context, e *catalog.Entry) error {
	if m.x.Doors.Member != nil {
		step := ""
		if e.Change != nil {
			step = e.Change.Step.String()
		}
		if err := m.x.Doors.Member.Publish(ctx, fleet.Publication{Table: fleetTable(e), Generation: e.Layout.Generation, Step: step}); err != nil {
			return err
		}
	}
	return m.x.Refresh(ctx)
}

// Barrier implements mover.Doors.
func (m *Movers) Barrier(ctx context.Context, e *catalog.Entry) (bool, error) {
	for {
		if err := m.x.Refresh(ctx); err != nil {
			return false, err
		}
		t := m.x.State.Oldest().Table(e.Keyspace, e.Table)
		if t == nil || t.ID != e.ID || t.Layout.Generation >= e.Layout.Generation {
			break
		}
		if err := deadline.Sleep(ctx, 20*time.Millisecond); err != nil {
			return false, err
		}
	}
	if err := m.x.Claims.Wait(ctx, m.x.State.Load().Table(e.Keyspace, e.Table)); err != nil {
		return false, err
	}
	if m.x.Doors.Member == nil {
		return false, m.passed(ctx)
	}
	var vanished *fleet.VanishedError
	if err := m.x.Doors.Member.Barrier(ctx, fleetTable(e), e.Layout.Generation); !errors.As(err, &vanished) {
		return false, err
	}
	m.x.Opts.Log.Warn("a change of layout goes on without doors that have vanished", "table", e.String(), "error", vanished)
	return true, nil
}

// Ended implements mover.Doors.
func (m *Movers) Ended(ctx context.Context, e *catalog.Entry) error {
	if err := m.Published(ctx, e); err != nil {
		return err
	}
	if _, err := m.Barrier(ctx, e); err != nil || m.x.Doors.Member == nil {
		return err
	}
	return m.x.Doors.Member.Withdraw(ctx, fleetTable(e), e.Layout.Generation)
}

// passed waits until all statements that the door forwarded before the call have been answered. Eras counts these
// statements. If it is nil, passed does not wait. Only a door without other doors calls passed.
func (m *Movers) passed(ctx context.Context) error {
	if m.x.Opts.Eras == nil {
		return nil
	}
	return m.x.Opts.Eras.Passed(ctx)
}

// Gone implements mover.Doors.
func (m *Movers) Gone(ctx context.Context, e *catalog.Entry) error {
	if err := m.x.Refresh(ctx); err != nil || m.x.Doors.Member == nil {
		return err
	}
	return m.x.Doors.Member.Withdraw(ctx, fleetTable(e), e.Layout.Generation)
}

// clientsOf returns a function that returns the number of clients' reads and writes that the door has served, and
// the time that they took together. It returns nil if the door does not measure requests.
func clientsOf(all *observe.Requests) func() mover.Served {
	if all == nil {
		return nil
	}
	return func() (s mover.Served) {
		for _, t := range all.All() {
			t.Each(func(operation string, took observe.Snapshot) {
				switch operation {
				case "select", "insert", "update", "delete", "batch":
					s.Requests += took.Count()
					s.Took += time.Duration(took.Sum)
				}
			})
		}
		return s
	}
}
