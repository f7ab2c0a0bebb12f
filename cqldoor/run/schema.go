// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"crypto/md5"
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
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/shard"
)

// schemas serves requests about the schema: DDL (ddl.go), reads of the schema (hide.go,
// describe.go) and events (event.go). It keeps the router's State.
type schemas struct {
	r       *Router
	catalog *catalog.Catalog
	session *catalog.StoreSession
	view    atomic.Pointer[view]
	system  map[string]*schema.Keyspace // the system keyspaces as the store has them; set by start

	nodes     *nodes
	lease     *fleet.Lease  // how long what is known of tables is valid
	member    *fleet.Member // nil: no other door uses the store
	renewals  renewals
	retired   retired
	movers    *movers
	rules     *ruled
	claims    *claims
	rollovers *rollovers
	beaten    atomic.Pointer[fleet.Seen] // what the last beat has read; nil: this door is not registered

	refreshing sync.Mutex
	asked      atomic.Uint64 // number of refreshes requested
	served     uint64        // value of asked when the last refresh began; guarded by refreshing
	reported   map[string]bool
	stale      map[[16]byte]time.Time // when each entry became stale, by table id

	stop func()
	done sync.WaitGroup
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

func newSchemas(r *Router) *schemas {
	x := &schemas{r: r, nodes: newNodes(r.opts.Routing, r.opts.Self), lease: fleet.NewLease(r.opts.Lease, r.opts.Now), reported: map[string]bool{}, stop: func() {}}
	x.renewals.wake = make(chan struct{}, 1)
	x.session = catalog.NewSession(r.opts.Store)
	x.catalog = catalog.New(catalog.Options{Session: x.session, Now: r.opts.Now, UUID: r.opts.UUID, Log: r.opts.Log, Wait: x.waitForDoors})
	x.view.Store(&view{})
	x.rules = &ruled{catalog: x.catalog, opts: &r.opts}
	x.rollovers = newRollovers(x)
	x.claims = newClaims(nil)
	if r.opts.Eras != nil {
		x.claims = newClaims(r.opts.Eras.Passed)
	}
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
		seen, version, asked, err := x.register(ctx)
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
		if x.member != nil && store.present && seen == nil {
			continue // the catalogue was just made: this door registers before it uses any entry
		}
		if after == version || i == tries-1 {
			x.use(ctx, version, store, seen)
			x.lease.Renew(asked)
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
	if old := x.r.state.Load(); old.Schema == nil || !reflect.DeepEqual(old.Schema, state.Schema) || !reflect.DeepEqual(old.Tables, state.Tables) {
		x.retired.replace(&x.r.state, state)
	}
	if all := x.r.opts.Requests; all != nil {
		all.Keep(func(keyspace, table string) bool { return keyspace == "" || s.names.Has(keyspace, table) }) // "": the system keyspaces
	}
	v.changing, v.layouts = countChanging(s.entries), layoutsOf(s.entries)
	x.view.Store(v)
	x.acknowledge()
	x.tell(ctx)
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
		x.r.opts.Log.Warn(why, "table", e.String())
	}
}

// reportStale logs, once each, the entries that have been stale for a while. The entry of a table
// that is just being dropped is not reported.
func (x *schemas) reportStale(stale []*catalog.Entry) {
	now := x.r.opts.Now()
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
		x.r.opts.Log.Warn("entries of the catalogue are stale: their tables are gone, or others have their names, which are served as they are", "tables", names)
	}
}

// schemaStatement is a prepared statement about the schema.
type schemaStatement struct {
	keyspace, text string
	sel            *schemaSelect // nil if it is not a SELECT
}

// serve serves a QUERY or PREPARE that is about the schema, or that the store handles after all.
// It returns false for any other.
func (x *schemas) serve(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) bool {
	at := keyspace
	if h.Name.Keyspace != "" {
		at = h.Name.Keyspace
	}
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete:
		if h.Kind == syntax.StatementSelect && hides(at, h.Name.Name) {
			x.serveSelect(ctx, req, keyspace, text)
			return true
		}
		if x.r.state.Load().Table(at, h.Name.Name) != nil {
			return false
		}
	case syntax.StatementBatch:
		return false
	case syntax.StatementTruncate:
		if err := x.mayTruncate(syntax.Name{Keyspace: at, Name: h.Name.Name}); err != nil {
			req.Error(err)
			return true
		}
		if n := (syntax.Name{Keyspace: at, Name: h.Name.Name}); x.renamed(n, at) {
			req.Go(func(ctx context.Context) { x.reply(req, x.truncate(ctx, req, n)) })
			return true
		}
	default:
		x.serveOther(ctx, req, h, keyspace, text)
		return true
	}
	req.Pass(req.Message)
	return true
}

// serveAbsent answers a QUERY or PREPARE that names the catalogue. A statement that can be
// prepared whatever it names is refused at its execution.
func (x *schemas) serveAbsent(req *cqldoor.Request, h syntax.Head, keyspace, text string) error {
	err := absent(req, h, text, keyspace)
	switch {
	case req.Op == wire.OpPrepare && !ofRows(h.Kind) && h.Kind != syntax.StatementUnknown && keyspace != catalog.Keyspace:
		if _, wrong := syntax.Parse(text); wrong == nil {
			return x.prepareOther(req, keyspace, text)
		}
	case err == nil:
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
	}
	return err
}

func noKeyspace(name string) error { return wire.Invalidf("keyspace %s does not exist", name) }

// serveOther serves DDL, DESCRIBE, and statements that the store handles.
func (x *schemas) serveOther(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) {
	if passed, refreshed := x.plain(h, keyspace, text); passed {
		if !refreshed || req.Op == wire.OpPrepare {
			req.Pass(req.Message)
			return
		}
		req.Go(func(ctx context.Context) { x.reply(req, x.passOn(ctx, req)) })
		return
	}
	if h.Kind == syntax.StatementCreateTable && !syntax.Mentions(text, catalog.Property) && !x.renamed(h.Name, keyspace) {
		req.Go(func(ctx context.Context) { x.reply(req, x.createByRule(ctx, req, h, keyspace, text)) })
		return
	}
	tree, err := syntax.Parse(text)
	if err != nil && x.view.Load().near(h, keyspace) {
		req.Error(syntaxError(err))
		return
	}
	if err != nil || !x.concerns(tree, keyspace) {
		req.Pass(req.Message)
		return
	}
	if req.Op == wire.OpPrepare {
		x.reply(req, x.prepareOther(req, keyspace, text))
		return
	}
	req.Go(func(ctx context.Context) {
		q, err := queryOf(req)
		if err == nil {
			err = x.execute(ctx, req, tree, keyspace, text, &q.Params)
		}
		x.reply(req, err)
	})
}

// isStores says whether serveOther passes a statement on.
func (x *schemas) isStores(h syntax.Head, keyspace, text string) bool {
	if passed, _ := x.plain(h, keyspace, text); passed {
		return true
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return !x.view.Load().near(h, keyspace)
	}
	return !x.concerns(tree, keyspace)
}

// plain says whether DDL is about a plain table, and whether the schema must be read again after
// it. That is so if there are sharded tables in the same keyspace: a statement may name both.
func (x *schemas) plain(h syntax.Head, keyspace, text string) (passed, refreshed bool) {
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	tables := x.view.Load().tables[keyspace]
	switch {
	case h.Kind == syntax.StatementCreateTable:
		return !syntax.Mentions(text, catalog.Property) && !x.view.Load().hasRules() && !x.renamed(h.Name, keyspace), tables != nil
	case h.Kind == syntax.StatementAlterTable:
		return tables[h.Name.Name] == nil && !syntax.Mentions(text, catalog.Property), tables != nil
	case h.Kind == syntax.StatementDropTable:
		return tables[h.Name.Name] == nil, tables != nil
	}
	return false, false
}

// passOn passes DDL on unchanged. It reads the schema again before it passes the answer on.
func (x *schemas) passOn(ctx context.Context, req *cqldoor.Request) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeLimit)
	defer cancel()
	a, err := x.ask(ctx, req, wire.Message{Op: req.Op, Flags: req.Flags, Body: req.Body})
	if err != nil {
		return err
	}
	return (&change{schemas: x, req: req}).finish(ctx, a)
}

func (x *schemas) reply(req *cqldoor.Request, err error) {
	if err != nil {
		req.Error(err)
	}
}

// queryOf parses a QUERY that was retained.
func queryOf(req *cqldoor.Request) (wire.Query, error) {
	body, err := bodyOf(req.Message)
	if err != nil {
		return wire.Query{}, err
	}
	return wire.ParseQuery(req.Version, body)
}

// execute executes DDL or a DESCRIBE, and answers.
func (x *schemas) execute(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	if _, ok := tree.(*syntax.Describe); ok {
		return x.describe(ctx, req, text, params)
	}
	return x.ddl(ctx, req, tree, keyspace, text, params)
}

// prepareOther answers the PREPARE of a statement that has no markers and no result columns known
// in advance.
func (x *schemas) prepareOther(req *cqldoor.Request, keyspace, text string) error {
	req.Reply(wire.Message{Op: wire.OpResult, Body: x.preparedOther(req, keyspace, text)})
	return nil
}

// preparedOther returns the body of that answer.
func (x *schemas) preparedOther(req *cqldoor.Request, keyspace, text string) []byte {
	id := newID(keyspace, text)
	x.r.registry.known.put(&known{id: id, schema: &schemaStatement{keyspace: keyspace, text: text}, size: len(text)})
	none := md5.Sum(nil)
	return wire.AppendPrepared(nil, req.Version, &wire.Prepared{ID: id[:], MetadataID: none[:], Result: wire.Metadata{Flags: wire.MetadataNone}})
}

// executePrepared serves an EXECUTE of a statement that was prepared here.
func (x *schemas) executePrepared(ctx context.Context, req *cqldoor.Request, s *schemaStatement) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	e, err := wire.ParseExecute(req.Version, body)
	if err != nil {
		return err
	}
	if s.sel != nil {
		return x.selectRows(ctx, req, s.sel, &e.Params, e.MetadataID)
	}
	h := syntax.Target(s.text)
	if x.view.Load().namesCatalogue(h, s.text, s.keyspace) {
		if err := absent(req, h, s.text, s.keyspace); err != nil {
			return err
		}
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
		return nil
	}
	tree, err := syntax.Parse(s.text)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, s.keyspace, s.text, &e.Params)
}
