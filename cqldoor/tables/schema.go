// SPDX-License-Identifier: Apache-2.0

package tables

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

// Schemas reads the store's schema and the catalogue. It publishes the result as two immutable snapshots:
// the State, on which the door plans statements, and the View. It serves no requests.
type Schemas struct {
	Opts    *Options
	State   *States
	View    atomic.Pointer[View]
	Session *catalog.StoreSession
	Catalog *catalog.Catalog
	Clock   *StoreClock
	Doors   *Membership
	Claims  *Claims
	Terms   Terms
	Rolled  Rolled // set before the first refresh

	refreshes Turns[error] // reads of the store, after each of which a new State is published

	logged map[string]bool        // warnings about entries that were logged; guarded by refreshes.running
	stale  map[[16]byte]time.Time // stale entries by table id: when this door first saw each as stale; guarded by refreshes.running
}

// Rolled reads the shards of the keys of tables of strategy rollover.
type Rolled interface {
	// OfEntries returns the shards of the keys of each table, by the physical table's id.
	OfEntries(ctx context.Context, entries []*catalog.Entry) (map[[16]byte]*shard.Rolled, error)
	// CatchUpAll reads new shards. If there are any, it publishes a new State.
	CatchUpAll(ctx context.Context) error
}

// View is an immutable snapshot of the door's knowledge that is not in the State. Both come from one reading.
type View struct {
	Present  bool                           // keyspace evenkeel exists
	Tables   map[string]map[string]*Sharded // the sharded tables that this door serves, by keyspace and name
	Pending  map[syntax.Name]bool           // logical tables that are being created or dropped; clients do not see them
	unserved map[syntax.Name]bool           // tables that this door cannot serve, see add
	Hidden   map[syntax.Name]bool           // physical tables whose name is not a logical table's; clients do not see them
	Entries  map[syntax.Name]*catalog.Entry // all entries, as they were read
	Left     []*catalog.Entry               // entries whose second physical table must still be dropped
	Physical *schema.Schema                 // the store's schema; only the keyspaces that have entries
	Names    catalog.Names                  // names of all tables and views of the store
	Version  [16]byte                       // version of the store's schema
	Seen     *fleet.Seen                    // the doors, read before everything else; nil: this door is not registered
	Changing Changing                       // which changes of layout are under way
	Layouts  []LayoutState                  // the layouts, as metrics show them
}

// Sharded is one sharded table.
type Sharded struct {
	Entry    *catalog.Entry
	Physical *schema.Table
	Logical  *schema.Table
}

// Options configure Schemas.
type Options struct {
	Store    store.Store // the link of the door's own account
	Now      func() time.Time
	UUID     func() [16]byte
	Lease    time.Duration // 0: no other door can use the store
	Longest  time.Duration // how long a request may be under way; 0: fleet's default
	Routing  Routing
	Self     fleet.Door        // this door; NewMember adds its data centre and rack
	Eras     *cqldoor.Eras     // counts what the doors forward; may be nil
	Requests *observe.Requests // forgets tables that are dropped; may be nil
	Log      *slog.Logger
}

// NewSchemas returns Schemas that has read nothing yet. It publishes each State in state.
func NewSchemas(o *Options, state *States) *Schemas {
	x := &Schemas{Opts: o, State: state, Session: catalog.NewSession(o.Store), Clock: &StoreClock{now: o.Now}, Claims: newClaims(nil), logged: map[string]bool{}}
	if o.Eras != nil {
		x.Claims = newClaims(o.Eras.Passed)
	}
	x.Doors = &Membership{opts: o, session: x.Session, view: &x.View, state: state, claims: x.Claims,
		Lease: registry.NewLease(o.Lease, o.Now), Nodes: newNodes(o.Routing, o.Self)}
	x.Doors.renewals.wake = make(chan struct{}, 1)
	x.Catalog = catalog.New(catalog.Options{Session: x.Session, Now: o.Now, UUID: o.UUID, Log: o.Log, Wait: x.Doors.WaitForDoors})
	x.Doors.catalog = x.Catalog
	x.View.Store(&View{})
	return x
}

// Refresh reads the store's schema and the catalogue, and publishes a new State and View. Callers that
// come while a refresh runs share the next one.
func (x *Schemas) Refresh(ctx context.Context) error {
	return x.refreshes.Join(func() (error, bool) {
		if err := x.readAndUse(ctx); err != nil {
			return fmt.Errorf("read the catalogue and the schema: %w", err), false
		}
		return nil, true
	})
}

// readAndUse reads the store, and publishes the result. A reading takes several requests. If somebody
// drops a table and creates it again between two of them, the door has the new table and the old entry.
// So readAndUse reads again if the schema has changed during a reading. The number of readings is
// limited: the door uses the last one even if the schema has changed during it.
func (x *Schemas) readAndUse(ctx context.Context) error {
	const tries = 20
	for i := range tries {
		seen, version, asked, err := x.Doors.register(ctx)
		if err != nil {
			return err
		}
		if err := x.Doors.again(ctx, func(ctx context.Context) error { return x.Clock.measure(ctx, x.Session) }); err != nil {
			return err
		}
		store, err := x.read(ctx)
		if err != nil {
			return err
		}
		after, err := x.Catalog.Version(ctx)
		if err != nil {
			return err
		}
		if x.Doors.Member != nil && store.present && seen == nil {
			continue // somebody has just created the catalogue: the door must register before it uses an entry
		}
		if after == version || i == tries-1 {
			x.use(ctx, version, store, seen)
			x.Doors.Lease.Renew(asked)
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
func (x *Schemas) read(ctx context.Context) (*reading, error) {
	known, err := x.Catalog.Names(ctx)
	if err != nil {
		return nil, err
	}
	var entries []*catalog.Entry
	var present bool
	// This reads a whole table. In such a read Cassandra does not replace a dead node by another one:
	// speculative_retry does not apply to it.
	err = x.Doors.again(ctx, func(ctx context.Context) (err error) {
		entries, present, err = x.Catalog.Load(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Keyspace] = true
	}
	physical, err := x.Catalog.Schema(ctx, slices.Sorted(maps.Keys(names))...)
	if err != nil {
		return nil, err
	}
	rolled, err := x.Rolled.OfEntries(ctx, entries)
	if err != nil {
		return nil, err
	}
	return &reading{known, entries, present, physical, rolled}, nil
}

// use publishes a reading as the present State and View.
func (x *Schemas) use(ctx context.Context, version [16]byte, s *reading, seen *fleet.Seen) {
	applied, stale := x.Catalog.Settle(ctx, s.entries, s.physical)
	x.logStale(stale)
	v := &View{Present: s.present, Tables: map[string]map[string]*Sharded{}, Pending: map[syntax.Name]bool{},
		unserved: map[syntax.Name]bool{}, Hidden: map[syntax.Name]bool{}, Entries: map[syntax.Name]*catalog.Entry{}, Physical: s.physical,
		Names: s.names, Version: version, Seen: seen}
	for _, e := range s.entries {
		v.Entries[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = e
		if ks := s.physical.Keyspaces[e.Keyspace]; ks == nil || ks.Tables[e.Physical] == nil && ks.Tables[e.Table] == nil {
			v.Pending[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}] = true
		}
	}
	state := NewState()
	for _, e := range applied {
		x.add(v, state, e, s.rolled)
	}
	last := x.View.Load()
	anew, taints := x.Doors.anew(last, v), x.taints(last, x.State.Load(), v)
	x.Claims.keep(state)
	// On a new State the door plans all statements again. So it keeps the old State if both are equal.
	if old := x.State.Load(); old.Schema == nil || !reflect.DeepEqual(old.Schema, state.Schema) || !reflect.DeepEqual(old.Tables, state.Tables) {
		x.State.Replace(state)
	}
	if all := x.Opts.Requests; all != nil {
		all.Keep(func(keyspace, table string) bool { return keyspace == "" || s.names.Has(keyspace, table) }) // "": the system keyspaces
	}
	v.Changing, v.Layouts = countChanging(s.entries), layoutsOf(s.entries)
	x.View.Store(v)
	if anew {
		x.Terms.begin(taints)
	}
	x.Doors.acknowledge()
	x.Doors.tell(ctx)
}

// add adds the table of entry e to a new State and View. This door may be unable to serve the table,
// because a door of another release made it. Then add notes the table in v.unserved, so that the door
// does not forward statements on it as if it were a plain table.
func (x *Schemas) add(v *View, state *State, e *catalog.Entry, rolled map[[16]byte]*shard.Rolled) {
	ks := v.Physical.Keyspaces[e.Keyspace]
	for _, name := range e.Hidden() {
		v.Hidden[syntax.Name{Keyspace: e.Keyspace, Name: name}] = true
	}
	if e.Left() {
		v.Left = append(v.Left, e)
	}
	if e.Layout.Plain() && e.Change == nil && e.Physical == e.Table {
		return // no change has begun: the table is still a plain one
	}
	s := &Sharded{Entry: e, Physical: ks.Tables[e.Physical]}
	s.Logical, _ = e.Logical(v.Physical) // the table fits the layout, or the entry would not apply
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
	if state.Tables[e.Keyspace] == nil {
		logical := *ks
		logical.Tables = maps.Clone(ks.Tables)
		state.Schema.Keyspaces[e.Keyspace] = &logical
		state.Tables[e.Keyspace] = map[string]*plan.Table{}
		v.Tables[e.Keyspace] = map[string]*Sharded{}
	}
	for _, name := range e.Hidden() {
		delete(state.Schema.Keyspaces[e.Keyspace].Tables, name)
	}
	state.Schema.Keyspaces[e.Keyspace].Tables[e.Table] = s.Logical
	state.Tables[e.Keyspace][e.Table] = t
	v.Tables[e.Keyspace][e.Table] = s
}

// placed returns the table with its layout, or with both layouts while the layout is being changed.
// rolled has the shards of the keys under strategy rollover, by the physical table's id. placed returns
// an error if this door cannot use the layout.
func (s *Sharded) placed(rolled map[[16]byte]*shard.Rolled) (*plan.Table, error) {
	e := s.Entry
	kept := func(l *shard.Layout, physical string, id [16]byte) plan.Kept {
		if rolled := rolled[id]; l.Strategy == shard.Rollover && rolled != nil {
			of := *l
			of.Rolled, l = rolled, &of
		}
		return plan.Kept{Layout: l, Physical: physical, ID: id}
	}
	from := kept(e.Layout, e.Physical, e.PhysicalID())
	var t *plan.Table
	var err error
	switch {
	case e.Change == nil:
		t, err = plan.NewKept(s.Logical, from)
	case e.Second == nil:
		t, err = plan.NewChanging(s.Logical, from, kept(e.Next, e.Physical, e.PhysicalID()), *e.Change)
	default:
		t, err = plan.NewChanging(s.Logical, from, kept(e.Next, e.Second.Physical, e.Second.ID), *e.Change)
	}
	if err == nil {
		t.Adopted = e.Adopted
	}
	return t, err
}

// Renew publishes a new State if some tables have new shards. fresh returns the shards of a table's keys in
// the form that placed takes, or nil if they have not changed.
func (x *Schemas) Renew(fresh func(*plan.Table) (map[[16]byte]*shard.Rolled, error)) error {
	x.refreshes.running.Lock()
	defer x.refreshes.running.Unlock()
	old, v := x.State.Load(), x.View.Load()
	next := &State{Schema: old.Schema, Tables: maps.Clone(old.Tables), Under: new(UnderWay)}
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
			now, err := v.Tables[keyspace][name].placed(rolled)
			if err != nil {
				return err
			}
			changed = true
			next.Tables[keyspace] = maps.Clone(next.Tables[keyspace])
			next.Tables[keyspace][name] = now
		}
	}
	if changed {
		x.State.Replace(next)
	}
	return nil
}

// logOnce logs a warning about an entry, unless it was logged already.
func (x *Schemas) logOnce(e *catalog.Entry, why string) {
	key := fmt.Sprintf("%s %x %s", e, e.ID, why)
	if !x.logged[key] {
		x.logged[key] = true
		x.Opts.Log.Warn(why, "table", e.String())
	}
}

// logStale logs an entry once, when it has been stale for half of rereadEvery. A DROP TABLE that is
// under way makes an entry stale for a shorter time.
func (x *Schemas) logStale(stale []*catalog.Entry) {
	now := x.Opts.Now()
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
		x.Opts.Log.Warn("entries of the catalogue are stale: their tables are gone, or other tables have their names; the door serves these as plain tables", "tables", names)
	}
}

// RefreshIfChanged asks the store for the version of its schema, and calls Refresh if the version is new.
func (x *Schemas) RefreshIfChanged(ctx context.Context) error {
	version, err := x.Catalog.Version(ctx)
	if err != nil {
		return err
	}
	if version == x.View.Load().Version {
		return nil
	}
	return x.Refresh(ctx)
}

// RefreshIfChangedOrLog calls RefreshIfChanged for a caller that can continue without it: if
// RefreshIfChanged fails, it logs the error, and the old State stays.
func (x *Schemas) RefreshIfChangedOrLog(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, RefreshLimit)
	defer cancel()
	if err := x.RefreshIfChanged(within); err != nil && ctx.Err() == nil {
		x.Opts.Log.Warn("the door cannot read the schema; it goes on with what it knows", "error", err)
	}
}

// RefreshOrLog calls Refresh for a caller that can continue without it: if Refresh fails, it logs the
// error, and the old State stays.
func (x *Schemas) RefreshOrLog(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, RefreshLimit)
	defer cancel()
	if err := x.Refresh(within); err != nil && ctx.Err() == nil {
		x.Opts.Log.Warn("the door cannot read the catalogue; it goes on with what it has read before", "error", err)
	}
}
