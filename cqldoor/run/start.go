// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
)

// ErrDoor reports that the store is itself a front door.
var ErrDoor = errors.New("there is a front door at that address, not a cluster: it hides the catalogue of sharded tables")

// Start reads the catalogue and the schema, and keeps both up to date until Close. If Start cannot read the
// catalogue, it returns an error, and the door does not serve. ctx bounds the first reading.
func (r *Router) Start(ctx context.Context) error {
	x := r.schema
	s, err := x.Catalog.Schema(ctx, "system_schema", "system")
	if err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	r.definer.Viewer.System = s.Keyspaces
	if err := x.Doors.NewMember(ctx); err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	if r.opts.Found && x.Doors.Member != nil {
		var refused *wire.Error
		switch err := x.Catalog.Found(ctx); {
		case errors.As(err, &refused) && refused.Message == definitions.ErrReserved.Message:
			return ErrDoor
		case err != nil:
			r.opts.Log.Warn("there is no catalogue yet, and this door cannot create it: until a client creates the first sharded table, drivers see no other door", "error", err)
		}
	}
	if x.Doors.Member != nil {
		r.warnThin(ctx)
	}
	rules, err := r.definer.Rules.Start(ctx)
	if err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	if err := x.Refresh(ctx); err != nil {
		return fmt.Errorf("start the router: %w", err)
	}
	r.rollovers.AssumeDeletions(x.View.Load())
	r.definer.Rules.Warn(rules, x.View.Load())
	r.definer.Movers = definitions.NewMovers(r.definer.Opts, x, r.rollovers, r.reads.Buckets.AnnounceMoved)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = cancel
	r.done.Go(func() { x.Poll(ctx) })
	r.done.Go(func() { x.Reread(ctx) })
	r.done.Go(func() { r.definer.Movers.Run(ctx) })
	r.done.Go(func() { buckets.NewKeeper(x, r.definer.Movers.Ended).Run(ctx) })
	r.done.Go(func() { r.rollovers.Run(ctx) })
	return nil
}

// warnThin logs a warning if the catalogue has so few replicas that sharded tables depend on one node.
func (r *Router) warnThin(ctx context.Context) {
	switch thin, err := r.schema.Catalog.Thin(ctx); {
	case err != nil:
		r.opts.Log.Warn("the door does not know how many replicas the catalogue has", "error", err)
	case len(thin) > 0:
		r.opts.Log.Warn("the catalogue has few replicas: sharded tables cannot be used while one of its nodes is down; at the cluster, raise them by ALTER KEYSPACE "+
			catalog.Keyspace+", and then run nodetool repair "+catalog.Keyspace, "replicas", strings.Join(thin, ", "))
	}
}

// Close stops what Start began. The door must stop before the call.
func (r *Router) Close() {
	r.stop()
	r.done.Wait()
	r.rollovers.Leave()
	r.schema.Doors.Leave()
	r.schema.Doors.Lease.Stop()
	r.schema.Session.Close()
}
