// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/registry"
)

// Registry knows the sharded tables. It is safe for concurrent use.
type Registry struct {
	opener

	tables   atomic.Pointer[map[string]*Entry] // the sharded tables by name; replaced, never changed
	defining sync.Mutex                        // serializes changes of tables

	// The fields below are for a store with other doors.
	renewing sync.Mutex // held while the catalogue is read, or changed together with tables; lock it after defining
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
	// Lease is how long a door may use what it has read in the catalogue if other doors are on the
	// store. 0: there are no other doors.
	Lease time.Duration
}

// New returns a Registry that knows no table. ReadAll reads them.
func New(o Options) *Registry {
	r := &Registry{opener: opener{backend: o.Backend, catalog: o.Catalog, log: o.Log, now: o.Now, lease: registry.NewLease(o.Lease, o.Now), watched: registry.NewWatched(o.Now)}}
	r.tables.Store(&map[string]*Entry{})
	return r
}

// All returns the sharded tables by name. The caller must not change the map.
func (r *Registry) All() map[string]*Entry { return *r.tables.Load() }

// Entry returns the entry of a sharded table in use, or nil for other tables.
func (r *Registry) Entry(name string) *Entry { return r.All()[name] }

// Define begins a change of tables, one at a time. It returns the function that ends it.
func (r *Registry) Define() (end func()) {
	r.defining.Lock()
	return r.defining.Unlock
}

// publish replaces the map of tables by a changed copy. The caller holds defining or renewing. If there
// are no other doors, one caller may hold the one lock and another caller the other. So publish calls
// change again if another caller has published meanwhile.
func (r *Registry) publish(change func(tables map[string]*Entry)) {
	for {
		old := r.tables.Load()
		tables := maps.Clone(*old)
		change(tables)
		if r.tables.CompareAndSwap(old, &tables) {
			return
		}
	}
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

// Glance is the interval at which the door asks a store about an index that the store is filling,
// or about a table in which it did not find something.
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
	in, err := r.use(ctx, e.Entry, e)
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
	in, err := r.use(ctx, e.Entry, e)
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
		in, err := r.use(ctx, e, r.Entry(e.Table))
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
