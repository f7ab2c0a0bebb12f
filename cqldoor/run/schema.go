// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// schemas reads the store's schema and the catalogue, and publishes what it has read as two immutable
// snapshots: the State, on which statements are planned, and the view. It serves no requests.
type schemas struct {
	opts    *tablesOptions
	state   *states
	view    atomic.Pointer[view]
	session *catalog.StoreSession
	catalog *catalog.Catalog
	clock   *storeClock
	doors   *membership
	claims  *claims
	terms   terms
	rolled  rolled // set before the first refresh

	refreshes turns[error] // reads of the store, after each of which a new State is published

	logged map[string]bool        // warnings about entries that were logged; guarded by refreshes.running
	stale  map[[16]byte]time.Time // stale entries by table id: when this door first saw each as stale; guarded by refreshes.running
}

// rolled reads the shards of the keys of tables of strategy rollover.
type rolled interface {
	// ofEntries returns the shards of the keys of each table, by the physical table's id.
	ofEntries(ctx context.Context, entries []*catalog.Entry) (map[[16]byte]*shard.Rolled, error)
	// catchUpAll reads new shards. If there are any, it publishes a new State.
	catchUpAll(ctx context.Context) error
}

// view is an immutable snapshot of what the door knows besides the State. Both come from one reading.
type view struct {
	present  bool                           // keyspace evenkeel exists
	tables   map[string]map[string]*sharded // the sharded tables that this door serves, by keyspace and name
	pending  map[syntax.Name]bool           // logical tables that are being created or dropped; clients do not see them
	unserved map[syntax.Name]bool           // tables that this door cannot serve, see add
	hidden   map[syntax.Name]bool           // physical tables whose name is not a logical table's; clients do not see them
	entries  map[syntax.Name]*catalog.Entry // all entries, as they were read
	left     []*catalog.Entry               // entries whose second physical table must still be dropped
	physical *schema.Schema                 // the store's schema; only the keyspaces that have entries
	names    catalog.Names                  // names of all tables of the store
	version  [16]byte                       // version of the store's schema
	seen     *fleet.Seen                    // the doors, read before everything else; nil: this door is not registered
	changing Changing                       // which changes of layout are under way
	layouts  []LayoutState                  // the layouts, as metrics show them
}

// sharded is one sharded table.
type sharded struct {
	entry    *catalog.Entry
	physical *schema.Table
	logical  *schema.Table
}

// tablesOptions say what the door needs to know the tables.
type tablesOptions struct {
	Store    store.Store // the link of the door's own account
	Now      func() time.Time
	UUID     func() [16]byte
	Lease    time.Duration // 0: no other door can use the store
	Longest  time.Duration // how long a request may be under way; 0: fleet's default
	Routing  Routing
	Self     fleet.Door        // this door; newMember adds its data centre and rack
	Eras     *cqldoor.Eras     // counts what the doors forward; may be nil
	Requests *observe.Requests // forgets tables that are dropped; may be nil
	Log      *slog.Logger
}

// newSchemas returns schemas that have read nothing yet. They publish in state.
func newSchemas(o *tablesOptions, state *states) *schemas {
	x := &schemas{opts: o, state: state, session: catalog.NewSession(o.Store), clock: &storeClock{now: o.Now}, claims: newClaims(nil), logged: map[string]bool{}}
	if o.Eras != nil {
		x.claims = newClaims(o.Eras.Passed)
	}
	x.doors = &membership{opts: o, session: x.session, view: &x.view, state: state, claims: x.claims,
		lease: registry.NewLease(o.Lease, o.Now), nodes: newNodes(o.Routing, o.Self)}
	x.doors.renewals.wake = make(chan struct{}, 1)
	x.catalog = catalog.New(catalog.Options{Session: x.session, Now: o.Now, UUID: o.UUID, Log: o.Log, Wait: x.doors.waitForDoors})
	x.doors.catalog = x.catalog
	x.view.Store(&view{})
	return x
}

// refresh reads the store's schema and the catalogue, and publishes a new State and view. Callers that
// wait for a running refresh share the next one.
func (x *schemas) refresh(ctx context.Context) error {
	return x.refreshes.join(func() (error, bool) {
		if err := x.readAndUse(ctx); err != nil {
			return fmt.Errorf("read the catalogue and the schema: %w", err), false
		}
		return nil, true
	})
}

// readAndUse reads the store until its schema does not change during the reading, and publishes the
// result. The reading takes several requests. If somebody drops a table and creates it again between
// two of them, the door has the new table and the old entry. Readings are limited: after the last one
// the door uses what it has read.
func (x *schemas) readAndUse(ctx context.Context) error {
	const tries = 20
	for i := range tries {
		seen, version, asked, err := x.doors.register(ctx)
		if err != nil {
			return err
		}
		if err := x.doors.again(ctx, func(ctx context.Context) error { return x.clock.measure(ctx, x.session) }); err != nil {
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
			continue // somebody has just created the catalogue: the door must register before it uses an entry
		}
		if after == version || i == tries-1 {
			x.use(ctx, version, store, seen)
			x.doors.lease.Renew(asked)
			return nil
		}
	}
	return nil
}

// reading is the result of read.
type reading struct {
	names    catalog.Names
	entries  []*catalog.Entry
	present  bool                       // keyspace evenkeel exists
	physical *schema.Schema             // the keyspaces that have entries
	rolled   map[[16]byte]*shard.Rolled // the shards of the keys of each table of strategy rollover, by the physical table's id
}

// read reads the store's schema and the catalogue once.
func (x *schemas) read(ctx context.Context) (*reading, error) {
	known, err := x.catalog.Names(ctx)
	if err != nil {
		return nil, err
	}
	var entries []*catalog.Entry
	var present bool
	// This reads a whole table. For such a read Cassandra asks no other node in place of a dead one:
	// speculative_retry does not apply to it.
	err = x.doors.again(ctx, func(ctx context.Context) (err error) {
		entries, present, err = x.catalog.Load(ctx)
		return err
	})
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
	rolled, err := x.rolled.ofEntries(ctx, entries)
	if err != nil {
		return nil, err
	}
	return &reading{known, entries, present, physical, rolled}, nil
}

// use publishes a reading as the present State and view.
func (x *schemas) use(ctx context.Context, version [16]byte, s *reading, seen *fleet.Seen) {
	applied, stale := x.catalog.Settle(ctx, s.entries, s.physical)
	x.logStale(stale)
	v := &view{present: s.present, tables: map[string]map[string]*sharded{}, pending: map[syntax.Name]bool{},
		unserved: map[syntax.Name]bool{}, hidden: map[syntax.Name]bool{}, entries: map[syntax.Name]*catalog.Entry{}, physical: s.physical,
		names: s.names, version: version, seen: seen}
	for _, e := range s.entries {
		v.entries[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = e
		if ks := s.physical.Keyspaces[e.Keyspace]; ks == nil || ks.Tables[e.Physical] == nil && ks.Tables[e.Table] == nil {
			v.pending[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = true
		}
	}
	state := newState()
	for _, e := range applied {
		x.add(v, state, e, s.rolled)
	}
	last := x.view.Load()
	anew, taints := x.doors.anew(last, v), x.taints(last, x.state.Load(), v)
	x.claims.keep(state)
	// The door plans statements again on a new State. So it keeps the old one if they are equal.
	if old := x.state.Load(); old.Schema == nil || !reflect.DeepEqual(old.Schema, state.Schema) || !reflect.DeepEqual(old.Tables, state.Tables) {
		x.state.replace(state)
	}
	if all := x.opts.Requests; all != nil {
		all.Keep(func(keyspace, table string) bool { return keyspace == "" || s.names.Has(keyspace, table) }) // "": the system keyspaces
	}
	v.changing, v.layouts = countChanging(s.entries), layoutsOf(s.entries)
	x.view.Store(v)
	if anew {
		x.terms.begin(taints)
	}
	x.doors.acknowledge()
	x.doors.tell(ctx)
}

// add adds the table of entry e to a new State and view. If this door cannot serve the table, because
// a door of another release made it, add notes that in v.unserved: the door must not forward statements
// on it as if it were a plain table.
func (x *schemas) add(v *view, state *State, e *catalog.Entry, rolled map[[16]byte]*shard.Rolled) {
	ks := v.physical.Keyspaces[e.Keyspace]
	for _, name := range e.Hidden() {
		v.hidden[syntax.Name{Keyspace: e.Keyspace, Name: name}] = true
	}
	if e.Left() {
		v.left = append(v.left, e)
	}
	if e.Layout.Plain() && e.Change == nil && e.Physical == e.Table {
		return // no change has begun: the table is still a plain one
	}
	s := &sharded{entry: e, physical: ks.Tables[e.Physical]}
	s.logical, _ = e.Logical(v.physical) // the table fits the layout, or the entry would not apply
	t, err := s.placed(rolled)
	if e.Foreign != nil {
		err = e.Foreign
	}
	if err != nil {
		x.logOnce(e, "a sharded table cannot be served by this door: "+err.Error())
		v.unserved[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = true
		v.unserved[syntax.Name{Keyspace: e.Keyspace, Name: e.Physical}] = true
		return
	}
	t.Adopted = e.Adopted
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

// placed returns the table with its layout. While the layout is being changed, it returns the table with
// both layouts. rolled has the shards of the keys under strategy rollover, by the physical table's id.
func (s *sharded) placed(rolled map[[16]byte]*shard.Rolled) (*plan.Table, error) {
	e := s.entry
	kept := func(l *shard.Layout, physical string, id [16]byte) plan.Kept {
		if rolled := rolled[id]; l.Strategy == shard.Rollover && rolled != nil {
			of := *l
			of.Rolled, l = rolled, &of
		}
		return plan.Kept{Layout: l, Physical: physical, ID: id}
	}
	from := kept(e.Layout, e.Physical, e.PhysicalID())
	switch {
	case e.Change == nil:
		return plan.NewKept(s.logical, from)
	case e.Second == nil:
		return plan.NewChanging(s.logical, from, kept(e.Next, e.Physical, e.PhysicalID()), *e.Change)
	}
	return plan.NewChanging(s.logical, from, kept(e.Next, e.Second.Physical, e.Second.ID), *e.Change)
}

// renew publishes a new State if some tables have new shards. fresh returns the shards of a table's keys as placed
// takes them, or nil if they are the same.
func (x *schemas) renew(fresh func(*plan.Table) (map[[16]byte]*shard.Rolled, error)) error {
	x.refreshes.running.Lock()
	defer x.refreshes.running.Unlock()
	old, v := x.state.Load(), x.view.Load()
	next := &State{Schema: old.Schema, Tables: maps.Clone(old.Tables), under: new(underWay)}
	changed := false
	for keyspace, tables := range old.Tables {
		for name, t := range tables {
			rolled, err := fresh(t)
			if err != nil {
				return err
			}
			if rolled == nil {
				continue
			}
			now, err := v.tables[keyspace][name].placed(rolled)
			if err != nil {
				return err
			}
			changed = true
			next.Tables[keyspace] = maps.Clone(next.Tables[keyspace])
			next.Tables[keyspace][name] = now
		}
	}
	if changed {
		x.state.replace(next)
	}
	return nil
}

// logOnce logs a warning about an entry, unless it was logged already.
func (x *schemas) logOnce(e *catalog.Entry, why string) {
	key := fmt.Sprintf("%s %x %s", e, e.ID, why)
	if !x.logged[key] {
		x.logged[key] = true
		x.opts.Log.Warn(why, "table", e.String())
	}
}

// logStale logs each entry once that has been stale for half of rereadEvery. A DROP TABLE that is under
// way makes an entry stale for a shorter time.
func (x *schemas) logStale(stale []*catalog.Entry) {
	now := x.opts.Now()
	since := make(map[[16]byte]time.Time, len(stale))
	var names []string
	for _, e := range stale {
		first, known := x.stale[e.ID]
		if !known {
			first = now
		}
		since[e.ID] = first
		if key := fmt.Sprintf("stale %x", e.ID); now.Sub(first) >= rereadEvery/2 && !x.logged[key] {
			x.logged[key] = true
			names = append(names, e.String())
		}
	}
	x.stale = since
	if len(names) > 0 {
		x.opts.Log.Warn("entries of the catalogue are stale: their tables are gone, or other tables have their names; the door serves these as plain tables", "tables", names)
	}
}

// refreshIfChanged asks the store for the version of its schema, and calls refresh if that is new.
func (x *schemas) refreshIfChanged(ctx context.Context) error {
	version, err := x.catalog.Version(ctx)
	if err != nil {
		return err
	}
	if version == x.view.Load().version {
		return nil
	}
	return x.refresh(ctx)
}

// refreshIfChangedOrLog calls refreshIfChanged for a caller that can continue without it: if
// refreshIfChanged fails, it logs the error, and the old State stays.
func (x *schemas) refreshIfChangedOrLog(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	if err := x.refreshIfChanged(within); err != nil && ctx.Err() == nil {
		x.opts.Log.Warn("the door cannot read the schema; it goes on with what it knows", "error", err)
	}
}

// refreshOrLog calls refresh for a caller that can continue without it: if refresh fails, it logs the
// error, and the old State stays.
func (x *schemas) refreshOrLog(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	if err := x.refresh(within); err != nil && ctx.Err() == nil {
		x.opts.Log.Warn("the door cannot read the catalogue; it goes on with what it has read before", "error", err)
	}
}

// renewLease tells the other doors that this one is alive, and asks the store whether anything has
// changed. It reads what has changed, and renews the lease.
func (x *schemas) renewLease(ctx context.Context) error {
	seen, version, asked, err := x.doors.register(ctx)
	if err != nil {
		return err
	}
	// A refresh may have replaced the view meanwhile. What it has read is as good.
	if v := x.view.Load(); version != v.version || !sameSeen(seen, v.seen) {
		return x.refresh(ctx)
	}
	if err := x.rolled.catchUpAll(ctx); err != nil {
		return err
	}
	x.doors.lease.Renew(asked)
	x.doors.acknowledge()
	return nil
}

// reread refreshes at intervals until ctx is done. The lease does not wait for it.
func (x *schemas) reread(ctx context.Context) {
	t := time.NewTicker(rereadEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			x.refreshOrLog(ctx)
		}
	}
}

// poll renews the lease at intervals and whenever a request waits for it, until ctx is done.
func (x *schemas) poll(ctx context.Context) {
	every := x.doors.lookEvery()
	renew := time.NewTicker(every)
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.doors.renewals.wake:
			x.renewForWaiting(ctx)
		case <-renew.C:
			within, cancel := context.WithTimeout(ctx, refreshLimit)
			_ = x.renewLease(within) // if this goes on to fail, the next refresh logs the error
			cancel()
			if now := x.doors.lookEvery(); now != every { // the catalogue was just created: this door now has a lease
				every = now
				renew.Reset(every)
			}
		}
	}
}

// renewForWaiting renews the lease once for all requests that wait in membership.renew. Only poll
// calls it.
func (x *schemas) renewForWaiting(ctx context.Context) {
	x.doors.renewals.mu.Lock()
	waiting := x.doors.renewals.waiting
	x.doors.renewals.waiting = nil
	x.doors.renewals.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	err := x.renewLease(within)
	if err != nil {
		x.opts.Log.Warn("the door cannot ask the store whether tables have changed; until it can, it refuses statements on sharded tables", "error", err)
		err = errLapsed
	}
	for _, done := range waiting {
		done <- err
	}
}
