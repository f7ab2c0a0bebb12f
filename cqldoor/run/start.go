// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// rereadEvery is how often the door reads the catalogue if no event asks for it. Events may be
// lost, and operations of dead doors must be ended.
const rereadEvery = 30 * time.Second

// lookEvery is how often the door checks whether the store's schema has changed. After that time
// it knows of another door's change even if the event is late.
const lookEvery = time.Second

// refreshLimit bounds one reading of the catalogue and the schema.
const refreshLimit = 10 * time.Second

// ErrDoor says that the store is itself a front door.
var ErrDoor = errors.New("there is a front door at that address, not a cluster: it hides the catalogue of sharded tables")

// Start reads the catalogue and the schema, and keeps both up to date until Close. A door that
// cannot read the catalogue does not serve. ctx bounds the reading.
func (r *Router) Start(ctx context.Context) error {
	x := r.schema
	s, err := x.catalog.Schema(ctx, "system_schema", "system")
	if err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	r.definer.viewer.system = s.Keyspaces
	if err := x.doors.newMember(ctx); err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	if r.opts.Found && x.doors.member != nil {
		var refused *wire.Error
		switch err := x.catalog.Found(ctx); {
		case errors.As(err, &refused) && refused.Message == errReserved.Message:
			return ErrDoor
		case err != nil:
			r.opts.Log.Warn("there is no catalogue yet, and this door cannot create it: until a client creates the first sharded table, drivers see no other door", "error", err)
		}
	}
	if x.doors.member != nil {
		r.warnThin(ctx)
	}
	rules, err := r.definer.rules.start(ctx)
	if err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	if err := x.refresh(ctx); err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	r.rollovers.assumeDeletions(x.view.Load())
	r.definer.rules.warn(rules, x.view.Load())
	r.definer.movers = newMovers(r.definer.opts, x, r.rollovers, r.reads.buckets.announceMoved)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = cancel
	r.done.Go(func() { x.poll(ctx) })
	r.done.Go(func() { x.reread(ctx) })
	r.done.Go(func() { r.definer.movers.run(ctx) })
	r.done.Go(func() { newKeeper(x, r.definer.movers.Ended).run(ctx) })
	r.done.Go(func() { r.rollovers.run(ctx) })
	return nil
}

// warnThin warns if the catalogue has so few replicas that sharded tables depend on one node.
func (r *Router) warnThin(ctx context.Context) {
	switch thin, err := r.schema.catalog.Thin(ctx); {
	case err != nil:
		r.opts.Log.Warn("the door does not know how many replicas the catalogue has", "error", err)
	case len(thin) > 0:
		r.opts.Log.Warn("the catalogue has few replicas: sharded tables cannot be used while one of its nodes is down; at the cluster, raise them by ALTER KEYSPACE "+
			catalog.Keyspace+", and then run nodetool repair "+catalog.Keyspace, "replicas", strings.Join(thin, ", "))
	}
}

// Close stops what Start began. The door must have stopped before.
func (r *Router) Close() {
	r.stop()
	r.done.Wait()
	r.rollovers.leave()
	r.schema.doors.leave()
	r.schema.doors.lease.Stop()
	r.schema.session.Close()
}

// lookEvery returns how often the door checks: at least three times in a lease.
func (m *membership) lookEvery() time.Duration {
	if length := m.lease.Length(); length > 0 {
		return min(lookEvery, max(length/3, time.Millisecond))
	}
	return lookEvery
}
