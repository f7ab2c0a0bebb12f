// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/registry"
)

// Registry knows the sharded tables. It is safe for concurrent use.
type Registry struct {
	backend backend.Store
	catalog *catalog.Catalog
	log     *slog.Logger
	now     func() time.Time

	tables   atomic.Pointer[map[string]*Entry] // the sharded tables by name; replaced, never changed
	defining sync.Mutex                        // serializes changes of tables

	// The fields below are for a store with other doors.
	lease    *registry.Lease // of what was read of the catalogue; its length is 0 if there are no other doors
	renewing sync.Mutex      // held while the catalogue is read, or changed together with tables; lock it after defining
	plain    plainNames

	Forwarded Forwarded // requests under way, if there are no other doors

	schemas sync.Map // of plain tables, type seen by name; for statements
}

// Options holds the dependencies of a Registry.
type Options struct {
	Backend backend.Store
	Catalog *catalog.Catalog
	Now     func() time.Time
	Log     *slog.Logger
	// Lease is how long a door may use what it has read of the catalogue if other doors are on the
	// store. 0: there are no other doors.
	Lease time.Duration
}

// New returns a Registry that knows no table. ReadAll reads them.
func New(o Options) *Registry {
	r := &Registry{backend: o.Backend, catalog: o.Catalog, log: o.Log, now: o.Now, lease: registry.NewLease(o.Lease, o.Now)}
	r.tables.Store(&map[string]*Entry{})
	return r
}

// All returns the sharded tables by name. The caller must not change the map.
func (r *Registry) All() map[string]*Entry { return *r.tables.Load() }

// Entry returns the entry of a sharded table in use, or nil for other tables.
func (r *Registry) Entry(name string) *Entry { return r.All()[name] }

// Shared reports whether other doors are on the store.
func (r *Registry) Shared() bool { return r.lease.Length() > 0 }

// Define begins a change of tables, one at a time. It returns the function that ends it.
func (r *Registry) Define() (end func()) {
	r.defining.Lock()
	return r.defining.Unlock
}

// publish replaces the map of tables by a changed copy. The caller holds defining or renewing.
func (r *Registry) publish(change func(tables map[string]*Entry)) {
	tables := maps.Clone(r.All())
	change(tables)
	r.tables.Store(&tables)
}

// Sharded returns the entry of a sharded table, or nil for others. Clients cannot use the
// catalogue's table.
func (r *Registry) Sharded(name string) (*Entry, error) {
	name = api.TableName(name)
	if catalog.Owns(name) {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
	}
	return r.Entry(name), nil
}

// Physical describes a physical table. It returns nil if there is none.
func (r *Registry) Physical(ctx context.Context, name string) (table *schema.Table, err error) {
	ctx = principal.With(ctx, principal.Principal{}) // the door needs the description, whatever the client's rights are
	err = r.backend.Answer(ctx, &api.DescribeTable{Table: name}, func(a api.Response) error {
		described, err := Kept(a)
		if err != nil {
			return err
		}
		table = described.Table
		table.ID = identity(table)
		return nil
	})
	var e *exception.Error
	if errors.As(err, &e) && e.Kind == exception.ResourceNotFound {
		return nil, nil
	}
	return table, err
}

// Glance is the interval at which the door asks a store about an index that is being filled, or
// about a table in which something was not found.
const Glance = time.Second

// Refresh describes a physical table again if its entry is stale.
func (r *Registry) Refresh(ctx context.Context, name string) (*Entry, error) {
	lock := &r.defining
	if r.Shared() {
		lock = &r.renewing // a change of another table may hold defining while it waits
	}
	lock.Lock()
	defer lock.Unlock()
	e := r.Entry(name)
	if e == nil || !r.Stale(e) {
		return e, nil // another request has refreshed it
	}
	in, err := r.use(ctx, e.Entry)
	if err != nil || in == nil {
		return nil, err
	}
	r.publish(func(tables map[string]*Entry) { tables[in.Table] = in })
	return in, nil
}

// Anew describes the physical table of an entry in use again, however recent the entry is. The
// store and other doors may have changed it. It also returns an error if something is wrong with
// the table.
func (r *Registry) Anew(ctx context.Context, name string) (*Entry, error) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	e := r.Entry(name)
	if e == nil {
		return nil, NotThere(name)
	}
	in, err := r.use(ctx, e.Entry)
	switch {
	case err != nil:
		return nil, err
	case in == nil:
		r.publish(func(tables map[string]*Entry) { delete(tables, name) })
		return nil, NotThere(name)
	}
	r.publish(func(tables map[string]*Entry) { tables[name] = in })
	return in, in.Wrong
}

// use makes an entry in use from an entry of the catalogue, and settles an unfinished operation. It
// returns nil if the table is gone. If the entry does not fit its physical table, another door may
// have replaced both since the entry was read. So use reads the entry again before it reports
// damage.
func (r *Registry) use(ctx context.Context, e *catalog.Entry) (*Entry, error) {
	for {
		in, err := r.useOnce(ctx, e)
		if err != nil || in == nil || in.Wrong == nil || in.State != registry.Active {
			return in, err
		}
		if r.Shared() {
			now, err := r.catalog.Get(ctx, e.Table)
			if err != nil || now == nil {
				return nil, err
			}
			if !equalEntries(now, in.Entry) {
				e = now
				continue
			}
		}
		if was := r.Entry(e.Table); was == nil || was.Wrong == nil || was.Wrong.Error() != in.Wrong.Error() {
			r.log.Error("dynamodb: a sharded table cannot be served", "table", e.Table, "error", in.Wrong)
		}
		return in, nil
	}
}

func (r *Registry) useOnce(ctx context.Context, e *catalog.Entry) (*Entry, error) {
	t, err := r.Physical(ctx, e.Physical)
	if err != nil {
		return nil, err
	}
	switch {
	case e.State == registry.Active && abandoned(e, t):
		return nil, r.forget(ctx, e)
	case e.State == registry.Active:
		return r.open(e, t), nil
	}
	late := r.late(e)
	is := registry.Judge(e.State, t != nil && (t.ID == e.ID || e.State == registry.Creating && IsPhysical(t)), late)
	switch {
	case e.State == registry.Creating && !late, e.State == registry.Dropping && is == registry.Verdict{}:
		// Another door is working on it. The store takes long to create a table.
		return &Entry{Entry: e, Wrong: NotThere(e.Table), described: r.now()}, nil
	case is.Write != registry.Keep:
		was, id := e.State, ""
		if t != nil {
			id = t.ID
		}
		if e, err = r.catalog.Settle(ctx, e, is.Write, id); err != nil || e == nil {
			return nil, err
		}
		r.log.Info("dynamodb: an operation on a sharded table was left half-way and is settled", "table", e.Table, "was", was, "is", e.State)
	case !is.Applies:
		return nil, nil
	}
	return r.open(e, t), nil
}

// late reports whether the operation on a table has used up its time. A table that was dropped has
// until every door knows it.
func (r *Registry) late(e *catalog.Entry) bool {
	age := r.now().Sub(e.Started)
	if e.State == registry.Dropped {
		return age > 2*r.Grace()
	}
	return !r.Shared() || age >= SettleAfter
}

// open makes an entry in use from an entry of the catalogue and the description of its physical
// table. t is nil if there is no such table.
func (r *Registry) open(e *catalog.Entry, t *schema.Table) *Entry {
	in := &Entry{Entry: e, described: r.now()}
	in.pins = r.pinsOf(in)
	switch {
	case t == nil:
		in.Wrong = exception.Invalid("table %s is in the catalogue of sharded tables and has no physical table; restore it, or delete the table to forget it", e.Table)
	case identity(t) != e.ID:
		in.Wrong = exception.Invalid("the physical table of sharded table %s is another than it was made with (TableId %s, not %s); "+
			"restore that one, or delete the item of table %s in table %s if it is to be a plain table", e.Table, identity(t), e.ID, e.Table, catalog.Table)
	default:
		kind, _ := attribute.KindOf(e.HashType)
		in.Plan, in.Wrong = plan.Open(plan.Spec{
			Name: e.Table, Physical: t, ID: e.ID, Hash: schema.Definition{Name: e.Hash, Type: kind}, Layout: e.Layout, Affix: e.Affix, Indexes: e.Indexes,
			Single: e.Single, Filling: e.Filling,
		})
		if in.Wrong == nil {
			in.Wrong = in.changing()
		}
	}
	return in
}

// ReadAll reads the catalogue. The caller holds defining.
func (r *Registry) ReadAll(ctx context.Context) error {
	if r.Shared() {
		r.renewing.Lock()
		defer r.renewing.Unlock()
		if err := r.read(ctx); err != nil {
			return fmt.Errorf("read the catalogue of sharded DynamoDB tables: %w", err)
		}
		return nil // lookups find tables without an entry
	}
	entries, err := r.catalog.All(ctx)
	if err != nil {
		return fmt.Errorf("read the catalogue of sharded DynamoDB tables: %w", err)
	}
	tables := make(map[string]*Entry, len(entries))
	for _, e := range entries {
		in, err := r.use(ctx, e)
		if err != nil {
			return fmt.Errorf("sharded DynamoDB table %s: %w", e.Table, err)
		}
		if in != nil {
			tables[e.Table] = in
		}
	}
	if err := r.orphans(ctx, tables); err != nil {
		return fmt.Errorf("look for physical tables without an entry: %w", err)
	}
	r.tables.Store(&tables)
	return nil
}

// orphans adds the physical tables that have lost their entry. If the door served them as plain
// tables, they would take items that no sharded table finds.
func (r *Registry) orphans(ctx context.Context, tables map[string]*Entry) error {
	for q := (&api.ListTables{Limit: 100}); q != nil; {
		var names []string
		var last string
		err := r.backend.Answer(ctx, q, func(a api.Response) error {
			l := a.(*api.TablesResponse)
			names, last = l.Names, l.Last
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			if tables[name] != nil || catalog.Owns(name) {
				continue
			}
			t, err := r.Physical(ctx, name)
			if err != nil {
				return err
			}
			if t != nil && IsPhysical(t) {
				e := &catalog.Entry{Table: name, Physical: name, ID: t.ID, State: registry.Active}
				tables[name] = &Entry{Entry: e, Wrong: Orphan(name)}
				r.log.Error("dynamodb: a sharded table cannot be served", "table", name, "error", tables[name].Wrong)
			}
		}
		if q = nil; last != "" {
			q = &api.ListTables{Limit: 100, Start: last}
		}
	}
	return nil
}
