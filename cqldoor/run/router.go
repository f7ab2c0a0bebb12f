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

	// FanOut is how many fetches of one request may be in flight at a store. Default 32.
	FanOut int

	// Lease says that other doors may use the same store. It is how long a door may use what it has
	// read about tables, if the catalogue gives no other value. After that time a door checks for
	// changes before it goes on. Dropping a sharded table waits until all doors know of it. 0: no
	// other door can use the store.
	Lease time.Duration

	// Longest is how long a request may be under way. Takeover is how long another door's mover
	// may show no sign of life before this door continues its change. Two movers of one change do
	// no harm but are slower. Defaults 15 s and 10 s.
	Longest, Takeover time.Duration

	// Routing says how drivers choose one of several doors.
	Routing Routing

	// Found makes the door create the catalogue if there is none, so that several doors know of
	// each other before any table is sharded. If the door's account has no right to create it,
	// the door goes on without.
	Found bool

	// Self describes this door to the others. Its data centre and rack are those of the node that
	// the door is connected to.
	Self fleet.Door

	// Rules shard tables whose CREATE TABLE has no write_sharding property. The store keeps them.
	// Nil: the rules that the store has.
	Rules *shardrules.Rules

	// ReplaceRules makes Rules replace different rules that the store has. Without it, different
	// rules are refused if other doors may use the store.
	ReplaceRules bool

	// RetryFor is how long a read of several shards repeats requests that the store throttles.
	// Default 1.5 s; negative: it does not repeat.
	RetryFor time.Duration

	// Timeout is how long a request on sharded tables may take if it needs several requests to
	// the store. An aggregate or GROUP BY may take so long for each read. Default: no limit.
	Timeout time.Duration

	// Hints is how long the store may take to deliver a write that it has accepted: its
	// max_hint_window. 0: it has no hints.
	Hints time.Duration

	// Eras is shared with the doors that the router serves. Without it, the router does not know
	// which requests they have forwarded, and a plain table cannot be sharded while it is in use.
	Eras *cqldoor.Eras

	// Requests measures the door's requests; nil: they are not measured.
	Requests *observe.Requests

	// Log receives messages for the operator. Default: nothing is logged.
	Log *slog.Logger
}

// Router is a cqldoor.Router for sharded tables. It sends each request to one of its parts.
type Router struct {
	opts      Options
	state     *states
	cache     *planCache
	schema    *schemas
	rollovers *rollovers
	definer   *definer
	relays    *relays
	reads     *reads
	attempts  *attempts
	queries   *queries
	executes  *executes
	batches   *batches

	stop func() // ends what Start began
	done sync.WaitGroup
}

// New makes a router. It serves once Start has read the catalogue.
func New(o Options) *Router {
	if o.FanOut <= 0 {
		o.FanOut = 32
	}
	if o.Takeover <= 0 {
		o.Takeover = 10 * time.Second
	}
	if o.RetryFor == 0 {
		o.RetryFor = defaultRetryFor
	}
	if o.Self.HostID == ([16]byte{}) && o.UUID != nil {
		o.Self.HostID = o.UUID()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Router{opts: o, state: newStates(), cache: newPlanCache(), stop: func() {}}
	bind := &binder{now: o.Now, timeuuid: o.Timeuuid, uuid: o.UUID}
	of := &tablesOptions{Store: o.Store, Now: o.Now, UUID: o.UUID, Lease: o.Lease, Longest: o.Longest, Routing: o.Routing, Self: o.Self, Eras: o.Eras, Requests: o.Requests, Log: o.Log}
	r.schema = newSchemas(of, r.state)
	r.rollovers = newRollovers(r.schema)
	r.schema.rolled = r.rollovers
	doors, shown := r.schema.doors, &r.schema.view
	r.relays = &relays{cache: r.cache, view: shown, requests: o.Requests}
	defines := &definitionOptions{tablesOptions: of, Timeuuid: o.Timeuuid, Takeover: o.Takeover, Hints: o.Hints, Rules: o.Rules, ReplaceRules: o.ReplaceRules}
	rules := &ruled{catalog: r.schema.catalog, opts: defines}
	explain := &explains{rules: rules, view: shown, relays: r.relays}
	r.definer = &definer{limit: changeLimit, opts: defines, cache: r.cache, schemas: r.schema, catalog: r.schema.catalog, view: shown, state: r.state, doors: doors,
		rules: rules, explains: explain, relays: r.relays,
		viewer: &viewer{schemas: r.schema, view: shown, doors: doors, cache: r.cache, binder: bind, longest: maxResult}}
	apply := &applier{cache: r.cache, fanOut: o.FanOut}
	place := &placer{drawers: drawers{intn: o.IntN}, clock: clock{now: r.schema.clock.Now}, now: r.schema.clock.Now, rollovers: r.rollovers}
	bucketed := &buckets{catalogue: catalog.NewBuckets(r.schema.session), session: r.schema.session, applier: apply, uuid: o.UUID}
	resolve := &resolver{session: r.schema.session, buckets: bucketed}
	r.reads = &reads{cache: r.cache, buckets: bucketed, resolver: resolve, store: o.Store, intn: o.IntN, now: o.Now,
		fanOut: o.FanOut, retryFor: o.RetryFor, timeout: o.Timeout, held: maxHeld, longest: maxResult}
	writes := &writer{cache: r.cache, applier: apply, placer: place, buckets: bucketed, resolver: resolve, reads: r.reads}
	answer := &answers{binder: bind, cache: r.cache, writer: writes, reads: r.reads}
	stand := &premises{state: r.state, doors: doors}
	plans := &statements{cache: r.cache, state: r.state, premises: stand, requests: o.Requests}
	pass := &passer{binder: bind, cache: r.cache, placer: place, buckets: bucketed, premises: stand}
	r.attempts = &attempts{cache: r.cache, state: r.state, schema: r.schema, premises: stand, timeout: o.Timeout}
	r.queries = &queries{schema: r.schema, definer: r.definer, doors: doors, explains: explain, cache: r.cache, state: r.state, statements: plans, passer: pass, answers: answer,
		attempts: r.attempts, relays: r.relays, preparer: &preparer{cache: r.cache, explains: explain, binder: bind, buckets: bucketed}}
	r.executes = &executes{holds: doors.lease.Holds, cache: r.cache, schema: r.schema, doors: doors, statements: plans, passer: pass, answers: answer,
		attempts: r.attempts, relays: r.relays}
	r.batches = &batches{schema: r.schema, doors: doors, relays: r.relays, cache: r.cache, state: r.state, statements: plans, binder: bind, writer: writes}
	stand.repeat = func(ctx context.Context, req *cqldoor.Request, s *statement) {
		if req.Op == wire.OpQuery {
			r.queries.carryQuery(ctx, req, s)
		} else {
			r.executes.carryExecute(ctx, req, s)
		}
	}
	r.relays.standing = &standing{terms: &r.schema.terms, premises: stand, schema: r.schema}
	r.attempts.standing = r.relays.standing
	return r
}

// Standing implements cqldoor.Router.
func (r *Router) Standing() cqldoor.Standing {
	if r.opts.Lease == 0 {
		return nil
	}
	return r.relays.standing
}

// Serve implements cqldoor.Router.
func (r *Router) Serve(ctx context.Context, req *cqldoor.Request) {
	var err error
	switch req.Op {
	case wire.OpExecute:
		err = r.executes.execute(ctx, req)
	case wire.OpBatch:
		req.Go(func(ctx context.Context) {
			r.attempts.carry(ctx, req, func(ctx context.Context, _ bool) error { return r.batches.batch(ctx, req) })
		})
	default:
		err = r.queries.text(ctx, req)
	}
	var refused *refusal
	switch {
	case err == nil:
	case req.Username != "" && errors.As(err, &refused):
		req.Go(func(ctx context.Context) { finish(ctx, req, err) })
	default:
		req.Error(err)
	}
}

// finish ends a request that has failed. It may wait for the store.
func finish(ctx context.Context, req *cqldoor.Request, err error) {
	if err != nil {
		req.Error(judged(ctx, req, err))
	}
}
