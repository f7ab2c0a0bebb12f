// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/registry"
)

// SettleAfter is the age at which another door settles an unfinished operation on a table. By then
// the request that began the operation has ended.
const SettleAfter = time.Minute

// After describedFor, the door describes a sharded table again and compares its TableId. It does so
// for describedNow tables at a time, so that a waiting request does not wait long.
const (
	describedFor = time.Minute
	describedNow = 8
)

// Known returns when the door last read the catalogue.
func (r *Registry) Known() time.Time { return r.lease.Began() }

// Expired reports whether a time is more than a lease ago.
func (r *Registry) Expired(asOf time.Time) bool {
	return registry.Age(r.now(), asOf) > r.lease.Length()
}

// Current makes sure that the door's copy of the catalogue is no older than a lease. After half a
// lease, one request renews it while others continue.
func (r *Registry) Current(ctx context.Context) error {
	switch left := r.lease.Left(); {
	case left > r.lease.Length()/2:
		return nil
	case left < 0:
		return r.Renew(ctx, r.lease.Length())
	case r.renewing.TryLock():
		defer r.renewing.Unlock()
		if err := r.read(ctx); err != nil {
			r.log.Warn("dynamodb: the door cannot read the catalogue of sharded tables; it tries again", "error", err)
		}
	}
	return nil
}

// Renew reads the catalogue if the door's copy is older than than.
func (r *Registry) Renew(ctx context.Context, than time.Duration) error {
	asked := r.now()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if began := r.lease.Began(); registry.Age(r.now(), began) < than || began.After(asked) {
		return nil // another request has renewed it
	}
	return DoorError(r.read(ctx))
}

// read reads the catalogue. The caller holds renewing.
func (r *Registry) read(ctx context.Context) error {
	start := r.now()
	entries, err := r.catalog.All(ctx)
	if err != nil {
		return err
	}
	old := r.All()
	described := 0
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Table] = true
	}
	r.watched.Keep(func(table string) bool { return there[table] })
	fresh := make(map[string]*Entry, len(entries)) // without orphans, which lookups find again
	for _, e := range entries {
		if in := old[e.Table]; in != nil && in.same(e) {
			due := r.now().Sub(in.described) >= describedFor
			if due {
				described++
			}
			if !due || described > describedNow {
				fresh[e.Table] = in
				continue
			}
		}
		in, err := r.use(ctx, e, old[e.Table])
		switch {
		case err != nil && old[e.Table] != nil && old[e.Table].same(e):
			in = old[e.Table] // keep the known entry
			r.log.Warn("dynamodb: the door cannot describe a sharded table; it tries again", "table", e.Table, "error", err)
		case err != nil:
			in = &Entry{Entry: e, Wrong: DoorError(err)}
		case in == nil:
			continue
		}
		fresh[e.Table] = in
	}
	r.tables.Store(&fresh)
	r.lease.Renew(start)
	return nil
}

// Rest returns the part of Grace that is left since this door first saw an entry in its present state.
func (r *Registry) Rest(e *catalog.Entry) time.Duration {
	return r.Grace() - r.unchanged(e)
}

// Wait waits for a time, or until the request has ended.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if err := deadline.Sleep(ctx, d); err != nil {
		return fmt.Errorf("wait for other doors: %w", err)
	}
	return nil
}

// Still returns an error if a table is no longer the one of its entry.
func (r *Registry) Still(ctx context.Context, in *Entry) error {
	if r.Shared() {
		if err := r.Current(ctx); err != nil {
			return err
		}
	}
	if now := r.Entry(in.Table); now == nil || now.ID != in.ID {
		return NotThere(in.Table)
	}
	return nil
}
