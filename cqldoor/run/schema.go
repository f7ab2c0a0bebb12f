// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// schemas reads the catalogue and the store's schema, and keeps what the door knows of them: its State
// and its view. It serves no requests.
type schemas struct {
	opts      *Options
	state     *states
	view      atomic.Pointer[view]
	session   *catalog.StoreSession
	catalog   *catalog.Catalog
	doors     *membership
	claims    *claims
	rollovers *rollovers

	refreshing sync.Mutex
	asked      atomic.Uint64 // number of refreshes requested
	served     uint64        // value of asked when the last refresh began; guarded by refreshing
	reported   map[string]bool
	stale      map[[16]byte]time.Time // when each entry became stale, by table id
}

// view is what schemas knows besides the State, at the same moment. It is an immutable snapshot.
type view struct {
	present  bool // the catalogue's keyspace exists
	tables   map[string]map[string]*sharded
	pending  map[syntax.Name]bool // entries without a table: one is being made or dropped, and is not shown
	unserved map[syntax.Name]bool // tables that this door cannot serve, see add
	hidden   map[syntax.Name]bool // physical tables of other names than the logical ones
	left     []*catalog.Entry     // entries whose second physical table must still be dropped
	physical *schema.Schema
	names    catalog.Names // names of all tables of the store
	version  [16]byte      // version of the store's schema
	seen     *fleet.Seen   // the other doors, read before everything else; nil: this door is not registered
	changing Changing
	layouts  []LayoutState
}

// sharded is one sharded table.
type sharded struct {
	entry    *catalog.Entry
	physical *schema.Table
	logical  *schema.Table
}

func newSchemas(o *Options, state *states) *schemas {
	x := &schemas{opts: o, state: state, session: catalog.NewSession(o.Store), claims: newClaims(nil), reported: map[string]bool{}}
	if o.Eras != nil {
		x.claims = newClaims(o.Eras.Passed)
	}
	x.doors = &membership{opts: o, session: x.session, view: &x.view, state: state, claims: x.claims,
		lease: registry.NewLease(o.Lease, o.Now), nodes: newNodes(o.Routing, o.Self)}
	x.doors.renewals.wake = make(chan struct{}, 1)
	x.catalog = catalog.New(catalog.Options{Session: x.session, Now: o.Now, UUID: o.UUID, Log: o.Log, Wait: x.doors.waitForDoors})
	x.doors.catalog = x.catalog
	x.view.Store(&view{})
	x.rollovers = newRollovers(x)
	return x
}

// refresh reads the backend's state. A refresh that was requested before another one began is
// served by that one.
func (x *schemas) refresh(ctx context.Context) error {
	ticket := x.asked.Add(1)
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	if x.served >= ticket {
		return nil
	}
	begun := x.asked.Load()
	if err := x.load(ctx); err != nil {
		return fmt.Errorf("read the catalogue and the schema: %w", err)
	}
	x.served = begun
	return nil
}

func (x *schemas) load(ctx context.Context) error {
	// A state read in several steps is consistent only if the schema version is the same before
	// and after. Otherwise a table could be dropped and created again between the steps, and its
	// name would be known without its new entry.
	const tries = 20
	for i := range tries {
		seen, version, asked, err := x.doors.register(ctx)
		if err != nil {
			return err
		}
		store, err := x.read(ctx)
		if err != nil {
			return err
		}
		after, err := x.catalog.Version(ctx)
		if err != nil {
			return err
		}
		if x.doors.member != nil && store.present && seen == nil {
			continue // the catalogue was just made: this door registers before it uses any entry
		}
		if after == version || i == tries-1 {
			x.use(ctx, version, store, seen)
			x.doors.lease.Renew(asked)
			return nil
		}
	}
	return nil
}

// reading is what was read from the store.
type reading struct {
	names    catalog.Names
	entries  []*catalog.Entry
	present  bool
	physical *schema.Schema
	rolled   map[[16]byte]*shard.Rolled // by table id
}

// read reads the store's schema and catalogue.
func (x *schemas) read(ctx context.Context) (*reading, error) {
	known, err := x.catalog.Names(ctx)
	if err != nil {
		return nil, err
	}
	entries, present, err := x.catalog.Load(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Keyspace] = true
	}
	physical, err := x.catalog.Schema(ctx, slices.Sorted(maps.Keys(names))...)
	if err != nil {
		return nil, err
	}
	rolled, err := x.rollovers.rolled(ctx, entries)
	if err != nil {
		return nil, err
	}
	return &reading{known, entries, present, physical, rolled}, nil
}

// use makes a reading the present state.
func (x *schemas) use(ctx context.Context, version [16]byte, s *reading, seen *fleet.Seen) {
	applied, stale := x.catalog.Settle(ctx, s.entries, s.physical)
	x.reportStale(stale)
	v := &view{present: s.present, tables: map[string]map[string]*sharded{}, pending: map[syntax.Name]bool{},
		unserved: map[syntax.Name]bool{}, hidden: map[syntax.Name]bool{}, physical: s.physical,
		names: s.names, version: version, seen: seen}
	for _, e := range s.entries {
		if ks := s.physical.Keyspaces[e.Keyspace]; ks == nil || ks.Tables[e.Physical] == nil && ks.Tables[e.Table] == nil {
			v.pending[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = true
		}
	}
	state := newState()
	for _, e := range applied {
		x.add(v, state, e, s.rolled[e.ID])
	}
	x.claims.keep(state)
	// Statements are planned on a state. If the new one is equal, the old one stays.
	if old := x.state.Load(); old.Schema == nil || !reflect.DeepEqual(old.Schema, state.Schema) || !reflect.DeepEqual(old.Tables, state.Tables) {
		x.state.replace(state)
	}
	if all := x.opts.Requests; all != nil {
		all.Keep(func(keyspace, table string) bool { return keyspace == "" || s.names.Has(keyspace, table) }) // "": the system keyspaces
	}
	v.changing, v.layouts = countChanging(s.entries), layoutsOf(s.entries)
	x.view.Store(v)
	x.doors.acknowledge()
	x.doors.tell(ctx)
}

// add adds a table to a new state. A table that this door cannot serve, because a door of another
// release made it, is not treated as a plain table.
func (x *schemas) add(v *view, state *State, e *catalog.Entry, rolled *shard.Rolled) {
	ks := v.physical.Keyspaces[e.Keyspace]
	for _, name := range e.Hidden() {
		v.hidden[syntax.Name{Keyspace: e.Keyspace, Name: name}] = true
	}
	if e.Left() {
		v.left = append(v.left, e)
	}
	if e.Layout.Plain() && e.Change == nil && e.Physical == e.Table {
		return // a plain table whose change did not begin
	}
	s := &sharded{entry: e, physical: ks.Tables[e.Physical]}
	s.logical, _ = e.Logical(v.physical) // the table fits the layout, or the entry would not apply
	layout := e.Layout
	if rolled != nil {
		of := *layout
		of.Rolled = rolled
		layout = &of
	}
	var t *plan.Table
	var err error
	if e.Change != nil {
		next := plan.Kept{Layout: e.Next, Physical: e.Physical}
		if e.Second != nil {
			next.Physical = e.Second.Physical
		}
		t, err = plan.NewChanging(s.logical, plan.Kept{Layout: e.Layout, Physical: e.Physical}, next, *e.Change)
	} else {
		t, err = plan.NewKept(s.logical, plan.Kept{Layout: layout, Physical: e.Physical})
	}
	if e.Foreign != nil {
		err = e.Foreign
	}
	if err != nil {
		x.report(e, "a sharded table cannot be served by this door: "+err.Error())
		v.unserved[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = true
		v.unserved[syntax.Name{Keyspace: e.Keyspace, Name: e.Physical}] = true
		return
	}
	if state.Tables[e.Keyspace] == nil {
		logical := *ks
		logical.Tables = maps.Clone(ks.Tables)
		state.Schema.Keyspaces[e.Keyspace] = &logical
		state.Tables[e.Keyspace] = map[string]*plan.Table{}
		v.tables[e.Keyspace] = map[string]*sharded{}
	}
	for _, name := range e.Hidden() {
		delete(state.Schema.Keyspaces[e.Keyspace].Tables, name)
	}
	state.Schema.Keyspaces[e.Keyspace].Tables[e.Table] = s.logical
	state.Tables[e.Keyspace][e.Table] = t
	v.tables[e.Keyspace][e.Table] = s
}

// report logs once that an entry does not apply.
func (x *schemas) report(e *catalog.Entry, why string) {
	key := fmt.Sprintf("%s %x %s", e, e.ID, why)
	if !x.reported[key] {
		x.reported[key] = true
		x.opts.Log.Warn(why, "table", e.String())
	}
}

// reportStale logs, once each, the entries that have been stale for a while. The entry of a table
// that is just being dropped is not reported.
func (x *schemas) reportStale(stale []*catalog.Entry) {
	now := x.opts.Now()
	since := make(map[[16]byte]time.Time, len(stale))
	var names []string
	for _, e := range stale {
		first, known := x.stale[e.ID]
		if !known {
			first = now
		}
		since[e.ID] = first
		if key := fmt.Sprintf("stale %x", e.ID); now.Sub(first) >= pollEvery/2 && !x.reported[key] {
			x.reported[key] = true
			names = append(names, e.String())
		}
	}
	x.stale = since
	if len(names) > 0 {
		x.opts.Log.Warn("entries of the catalogue are stale: their tables are gone, or others have their names, which are served as they are", "tables", names)
	}
}

// fresh refreshes the state if the store's schema has changed.
func (x *schemas) fresh(ctx context.Context) error {
	version, err := x.catalog.Version(ctx)
	if err != nil {
		return err
	}
	if version == x.view.Load().version {
		return nil
	}
	return x.refresh(ctx)
}

// freshOrReport calls fresh for callers that can continue without it. If fresh fails, it logs the
// error and keeps the old state.
func (x *schemas) freshOrReport(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	if err := x.fresh(within); err != nil && ctx.Err() == nil {
		x.opts.Log.Warn("the schema cannot be looked at; what is known goes on being served", "error", err)
	}
}

// refreshOrReport refreshes in the background. If that fails it logs the error and keeps the old
// state.
func (x *schemas) refreshOrReport(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	if err := x.refresh(within); err != nil && ctx.Err() == nil {
		x.opts.Log.Warn("the catalogue cannot be read; what was read before goes on being served", "error", err)
	}
}

// pulse renews the lease: it tells the other doors that this one is alive, checks whether they
// have changed anything, and reads the changes.
func (x *schemas) pulse(ctx context.Context) error {
	v := x.view.Load()
	seen, version, asked, err := x.doors.register(ctx)
	if err != nil {
		return err
	}
	if version != v.version || v != x.view.Load() || !sameSeen(seen, v.seen) {
		return x.refresh(ctx)
	}
	if err := x.rollovers.adopt(ctx); err != nil {
		return err
	}
	x.doors.lease.Renew(asked)
	x.doors.acknowledge()
	return nil
}

func (x *schemas) poll(ctx context.Context) {
	every := x.doors.lookEvery()
	all, look := time.NewTicker(pollEvery), time.NewTicker(every)
	defer all.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-all.C:
			x.refreshOrReport(ctx)
		case <-x.doors.renewals.wake:
			x.renewForAll(ctx)
		case <-look.C:
			within, cancel := context.WithTimeout(ctx, refreshLimit)
			_ = x.pulse(within) // the refresh reports errors
			cancel()
			if now := x.doors.lookEvery(); now != every { // the catalogue was just made and gives another lease
				every = now
				look.Reset(every)
			}
		}
	}
}

// renewForAll serves the waiting requests. Only the poller calls it.
func (x *schemas) renewForAll(ctx context.Context) {
	x.doors.renewals.mu.Lock()
	waiting := x.doors.renewals.waiting
	x.doors.renewals.waiting = nil
	x.doors.renewals.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	err := x.pulse(within)
	if err != nil {
		x.opts.Log.Warn("the store cannot be asked whether tables have changed; statements on sharded tables are refused until it can", "error", err)
		err = errLapsed
	}
	for _, done := range waiting {
		done <- err
	}
}
