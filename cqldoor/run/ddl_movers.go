// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	carrier "github.com/evenkeel/evenkeel/cqldoor/mover"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/reshard"
)

// movers carries out changes of layouts in this door: changes that this door began, and changes
// whose door has vanished.
type movers struct {
	opts    *definitionOptions
	x       *schemas
	self    [16]byte
	began   time.Time
	mover   *carrier.Mover
	session *catalog.StoreSession

	adoptions *adoptions

	mu      sync.Mutex
	running map[syntax.Name]bool
	done    sync.WaitGroup
}

// watchEvery is the interval at which a door looks for changes that no door carries out.
const watchEvery = 500 * time.Millisecond

// newMovers returns the movers of a door. run starts them.
func newMovers(o *definitionOptions, x *schemas, rollovers carrier.Rollovers, announce carrier.Announce) *movers {
	m := &movers{opts: o, x: x, self: x.opts.UUID(), began: x.opts.Now(), running: map[syntax.Name]bool{}, session: catalog.NewSession(x.opts.Store)}
	m.mover = carrier.New(carrier.Options{Store: x.opts.Store, Session: m.session, Catalogue: x.catalog, Doors: m,
		Now: x.opts.Now, Stamps: x.clock.Now, Self: m.self, Lease: x.doors.lease.Length, Hints: o.Hints, Buckets: announce, Rollovers: rollovers, Clients: clientsOf(x.opts.Requests), Log: x.opts.Log})
	m.adoptions = newAdoptions(x, m)
	return m
}

// run looks for changes until ctx is done, then waits for those that it carries out.
func (m *movers) run(ctx context.Context) {
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
			m.mover.Close()
			m.session.Close()
			return
		}
	}
}

// sign is a sign of life of a change's mover.
type sign struct {
	beat  carrier.Beat
	since time.Time
}

// watch carries out the changes that belong to this door, or to none.
func (m *movers) watch(ctx context.Context, watch map[syntax.Name]*sign) {
	now := m.x.opts.Now()
	for _, e := range m.x.view.Load().left {
		// If no other door is on the store, a door that has ended left what is older than this one.
		if m.x.catalog.Overdue(e) || m.x.doors.member == nil && e.Started.Before(m.began) {
			m.start(ctx, syntax.Name{Keyspace: e.Keyspace, Name: e.Table}, m.mover.Tidy)
		}
	}
	for keyspace, tables := range m.x.view.Load().tables {
		for table, t := range tables {
			m.x.claims.await(ctx, m.x.state.Load().Table(keyspace, table), m.done.Go)
			if t.entry.Change == nil {
				continue
			}
			name := syntax.Name{Keyspace: keyspace, Name: table}
			if t.entry.Change.Owner == m.self || t.entry.Change.Owner == ([16]byte{}) || m.x.doors.member == nil {
				m.carryOn(ctx, name)
				continue
			}
			beat, err := m.mover.Beat(ctx, t.entry)
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
func (m *movers) carryOn(ctx context.Context, t syntax.Name) { m.start(ctx, t, m.mover.Run) }

// start runs do for one table in a goroutine, unless one already runs for the table.
func (m *movers) start(ctx context.Context, t syntax.Name, do func(ctx context.Context, keyspace, table string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[t] {
		return
	}
	m.running[t] = true
	m.done.Go(func() {
		err := do(ctx, t.Keyspace, t.Name)
		if err != nil && ctx.Err() == nil {
			m.x.opts.Log.Warn("a change of layout cannot go on; the mover tries again", "table", t.Keyspace+"."+t.Name, "error", err)
			deadline.Sleep(ctx, time.Second)
		}
		m.mu.Lock()
		delete(m.running, t)
		m.mu.Unlock()
	})
}

// Changes returns the changes of layout that are under way, as this door knows them without asking
// the store. It serves metrics. Only changes that this door carries out have figures.
func (r *Router) Changes() []reshard.Status {
	var all []reshard.Status
	for _, tables := range r.schema.view.Load().tables {
		for _, t := range tables {
			if t.entry.Change != nil && r.definer.movers != nil {
				all = append(all, r.definer.movers.mover.Glance(t.entry))
			}
		}
	}
	slices.SortFunc(all, func(a, b reshard.Status) int { return strings.Compare(a.Table, b.Table) })
	return all
}

func fleetTable(e *catalog.Entry) fleet.Table {
	return fleet.Table{Keyspace: e.Keyspace, Name: e.Table, ID: e.ID}
}

// Published implements mover.Doors.
func (m *movers) Published(ctx context.Context, e *catalog.Entry) error {
	if m.x.doors.member != nil {
		step := ""
		if e.Change != nil {
			step = e.Change.Step.String()
		}
		if err := m.x.doors.member.Publish(ctx, fleet.Publication{Table: fleetTable(e), Generation: e.Layout.Generation, Step: step}); err != nil {
			return err
		}
	}
	return m.x.refresh(ctx)
}

// Barrier implements mover.Doors.
func (m *movers) Barrier(ctx context.Context, e *catalog.Entry) (bool, error) {
	for {
		if err := m.x.refresh(ctx); err != nil {
			return false, err
		}
		t := m.x.state.oldest().Table(e.Keyspace, e.Table)
		if t == nil || t.ID != e.ID || t.Layout.Generation >= e.Layout.Generation {
			break
		}
		if err := deadline.Sleep(ctx, 20*time.Millisecond); err != nil {
			return false, err
		}
	}
	if err := m.x.claims.wait(ctx, m.x.state.Load().Table(e.Keyspace, e.Table)); err != nil {
		return false, err
	}
	if m.x.doors.member == nil {
		return false, m.passed(ctx)
	}
	var vanished *fleet.VanishedError
	if err := m.x.doors.member.Barrier(ctx, fleetTable(e), e.Layout.Generation); !errors.As(err, &vanished) {
		return false, err
	}
	m.x.opts.Log.Warn("a change of layout goes on without doors that have vanished", "table", e.String(), "error", vanished)
	return true, nil
}

// Ended implements mover.Doors.
func (m *movers) Ended(ctx context.Context, e *catalog.Entry) error {
	if err := m.Published(ctx, e); err != nil {
		return err
	}
	if _, err := m.Barrier(ctx, e); err != nil || m.x.doors.member == nil {
		return err
	}
	return m.x.doors.member.Withdraw(ctx, fleetTable(e), e.Layout.Generation)
}

// passed waits until the statements that the door forwarded before have been answered. Without
// other doors, only Eras counts them.
func (m *movers) passed(ctx context.Context) error {
	if m.x.opts.Eras == nil {
		return nil
	}
	return m.x.opts.Eras.Passed(ctx)
}

// Gone implements mover.Doors.
func (m *movers) Gone(ctx context.Context, e *catalog.Entry) error {
	if err := m.x.refresh(ctx); err != nil || m.x.doors.member == nil {
		return err
	}
	return m.x.doors.member.Withdraw(ctx, fleetTable(e), e.Layout.Generation)
}
