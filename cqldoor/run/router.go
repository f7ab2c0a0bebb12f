// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/rollover"
	"github.com/evenkeel/evenkeel/cqldoor/schemaview"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/cqldoor/write"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Options configure a Router.
type Options struct {
	// Store is the link of the door's own account, which reads and writes the catalogue and reads
	// the schema. Required.
	Store store.Store

	// Now, Timeuuid, UUID and IntN are the clock and the sources of random values. Required.
	Now      func() time.Time
	Timeuuid func() [16]byte
	UUID     func() [16]byte
	IntN     func(n int) int

	// FanOut is the largest number of fetches of one request that are in flight at a store. Default 32.
	FanOut int

	// Lease is how long a door may use what it has read about tables, if the catalogue gives no other
	// value. After that time a door checks for changes before it goes on. A drop of a sharded table
	// waits until all doors know of it. If Lease is not 0, other doors may use the same store.
	// 0: no other door can use the store.
	Lease time.Duration

	// Longest is how long a request may be under way. Takeover is how long another door's mover may
	// show no sign of life. After that time this door continues the mover's change. Two movers of one
	// change do no harm but are slower. Defaults 15 s and 10 s.
	Longest, Takeover time.Duration

	// Routing says how drivers choose one of several doors.
	Routing tables.Routing

	// Found makes the door create the catalogue if there is none. Then several doors know of each other
	// before any table is sharded. If the door's account has no right to create the catalogue, the door
	// goes on without it.
	Found bool

	// Self describes this door to the others. Its data centre and rack are those of the node that
	// the door is connected to.
	Self fleet.Door

	// Rules shard tables whose CREATE TABLE has no write_sharding property. The store keeps the rules.
	// Nil: the rules that the store has.
	Rules *shardrules.Rules

	// ReplaceRules makes Rules replace different rules that the store has. Without it, the door refuses
	// different rules if other doors may use the store.
	ReplaceRules bool

	// RetryFor is how long a read of several shards repeats requests that the store throttles.
	// Default 1.5 s. Negative: the read does not repeat them.
	RetryFor time.Duration

	// Timeout is how long a request on sharded tables may take if it needs several requests to the
	// store. For an aggregate or GROUP BY, it limits each read. Default: no limit.
	Timeout time.Duration

	// Hints is the store's max_hint_window. For so long, the store may still deliver a write that it
	// has accepted. 0: the store has no hints.
	Hints time.Duration

	// Eras is shared with the doors that the router serves. Without it, the router does not know
	// which requests they have forwarded. It then refuses to shard a plain table that is in use.
	Eras *cqldoor.Eras

	// Requests measures the door's requests. Nil: the door does not measure them.
	Requests *observe.Requests

	// Log receives messages for the operator. Default: the router logs nothing.
	Log *slog.Logger
}

// Router is a cqldoor.Router for sharded tables. It sends each request to one of its parts.
type Router struct {
	opts      Options
	state     *tables.States
	cache     *request.PlanCache
	schema    *tables.Schemas
	rollovers *rollover.Rollovers
	definer   *definitions.Definer
	relays    *request.Relays
	reads     *read.Reads
	attempts  *request.Attempts
	queries   *queries
	executes  *executes
	batches   *batches

	stop func() // ends what Start began
	done sync.WaitGroup
}

// New makes a router. The router serves after Start has read the catalogue.
func New(o Options) *Router {
	if o.FanOut <= 0 {
		o.FanOut = 32
	}
	if o.Takeover <= 0 {
		o.Takeover = 10 * time.Second
	}
	if o.RetryFor == 0 {
		o.RetryFor = read.DefaultRetryFor
	}
	if o.Self.HostID == ([16]byte{}) && o.UUID != nil {
		o.Self.HostID = o.UUID()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Router{opts: o, state: tables.NewStates(), cache: request.NewPlanCache(), stop: func() {}}
	bind := &request.Binder{Now: o.Now, Timeuuid: o.Timeuuid, UUID: o.UUID}
	of := &tables.Options{Store: o.Store, Now: o.Now, UUID: o.UUID, Lease: o.Lease, Longest: o.Longest, Routing: o.Routing, Self: o.Self, Eras: o.Eras, Requests: o.Requests, Log: o.Log}
	r.schema = tables.NewSchemas(of, r.state)
	r.rollovers = rollover.New(r.schema)
	r.schema.Rolled = r.rollovers
	doors, shown := r.schema.Doors, &r.schema.View
	r.relays = &request.Relays{Cache: r.cache, View: shown, Requests: o.Requests}
	defines := &definitions.Options{Options: of, Timeuuid: o.Timeuuid, Takeover: o.Takeover, Hints: o.Hints, Rules: o.Rules, ReplaceRules: o.ReplaceRules}
	rules := &definitions.ShardRules{Catalog: r.schema.Catalog, Opts: defines}
	explain := &definitions.Explainer{Rules: rules, View: shown, Relays: r.relays}
	r.definer = &definitions.Definer{Limit: definitions.ChangeLimit, Opts: defines, Cache: r.cache, Schemas: r.schema, Catalog: r.schema.Catalog, View: shown, State: r.state, Doors: doors,
		Rules: rules, Explains: explain, Relays: r.relays,
		Viewer: &schemaview.Viewer{Schemas: r.schema, View: shown, Doors: doors, Cache: r.cache, Binder: bind, Longest: request.MaxResult}}
	apply := &write.Applier{Cache: r.cache, FanOut: o.FanOut}
	place := &write.Placer{Drawers: write.Drawers{IntN: o.IntN}, Clock: write.Clock{Now: r.schema.Clock.Now}, Now: r.schema.Clock.Now, Rollovers: r.rollovers}
	bucketed := &buckets.Buckets{Catalogue: catalog.NewBuckets(r.schema.Session), Session: r.schema.Session, Applier: apply, UUID: o.UUID}
	resolve := &read.Resolver{Session: r.schema.Session, Buckets: bucketed}
	r.reads = &read.Reads{Cache: r.cache, Buckets: bucketed, Resolver: resolve, Store: o.Store, IntN: o.IntN, Now: o.Now,
		FanOut: o.FanOut, RetryFor: o.RetryFor, Timeout: o.Timeout, Held: read.MaxHeld, Longest: request.MaxResult}
	writes := &write.Writer{Cache: r.cache, Applier: apply, Placer: place, Buckets: bucketed, Resolver: resolve, Reads: r.reads}
	answer := &answers{binder: bind, cache: r.cache, writer: writes, reads: r.reads}
	stand := &request.Premises{State: r.state, Doors: doors}
	plans := &request.Statements{Cache: r.cache, State: r.state, Premises: stand, Requests: o.Requests}
	pass := &passer{binder: bind, cache: r.cache, placer: place, buckets: bucketed, premises: stand}
	r.attempts = &request.Attempts{Cache: r.cache, State: r.state, Schema: r.schema, Premises: stand, Timeout: o.Timeout}
	r.queries = &queries{schema: r.schema, definer: r.definer, doors: doors, explains: explain, cache: r.cache, state: r.state, statements: plans, passer: pass, answers: answer,
		attempts: r.attempts, relays: r.relays, preparer: &preparer{cache: r.cache, explains: explain, binder: bind, buckets: bucketed}}
	r.executes = &executes{holds: doors.Lease.Holds, cache: r.cache, schema: r.schema, doors: doors, statements: plans, passer: pass, answers: answer,
		attempts: r.attempts, relays: r.relays}
	r.batches = &batches{schema: r.schema, doors: doors, relays: r.relays, cache: r.cache, state: r.state, statements: plans, binder: bind, writer: writes}
	stand.Repeat = func(ctx context.Context, req *cqldoor.Request, s *request.Statement) {
		if req.Op == wire.OpQuery {
			r.queries.carryQuery(ctx, req, s)
		} else {
			r.executes.carryExecute(ctx, req, s)
		}
	}
	r.relays.Standing = &request.Standing{Terms: &r.schema.Terms, Premises: stand, Schema: r.schema}
	r.attempts.Standing = r.relays.Standing
	return r
}

// Standing implements cqldoor.Router.
func (r *Router) Standing() cqldoor.Standing {
	if r.opts.Lease == 0 {
		return nil
	}
	return r.relays.Standing
}

// Serve implements cqldoor.Router.
func (r *Router) Serve(ctx context.Context, req *cqldoor.Request) {
	var err error
	switch req.Op {
	case wire.OpExecute:
		err = r.executes.execute(ctx, req)
	case wire.OpBatch:
		req.Go(func(ctx context.Context) {
			r.attempts.Carry(ctx, req, func(ctx context.Context, _ bool) error { return r.batches.batch(ctx, req) })
		})
	default:
		err = r.queries.text(ctx, req)
	}
	if err != nil {
		fail(req, err)
	}
}

// fail ends a request with an error. It does not wait for the store.
func fail(req *cqldoor.Request, err error) {
	var refused *request.Refusal
	if req.Username != "" && errors.As(err, &refused) {
		req.Go(func(ctx context.Context) { finish(ctx, req, err) })
		return
	}
	req.Error(err)
}

// finish ends a request if err is not nil. It may wait for the store.
func finish(ctx context.Context, req *cqldoor.Request, err error) {
	if err != nil {
		req.Error(request.ErrorFor(ctx, req, err))
	}
}
