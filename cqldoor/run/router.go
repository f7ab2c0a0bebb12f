// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
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

	// Lease says that other doors may use the same store. It is how long a door may use what it
	// knows of tables, if the catalogue gives no other value. After that time a door checks for
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

// Router is a cqldoor.Router for sharded tables.
type Router struct {
	opts     Options
	state    atomic.Pointer[State]
	registry *registry
	drawers  drawers
	buckets  *buckets
	clock    clock
	schema   *schemas
	counts   counts
	holds    func() bool // whether the lease holds
	held     int         // see maxHeld
	longest  int         // see maxResult
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
	r := &Router{opts: o, registry: newRegistry(), drawers: drawers{intn: o.IntN}, clock: clock{now: o.Now}, held: maxHeld, longest: maxResult}
	r.state.Store(&State{under: new(underWay)})
	r.schema = newSchemas(r)
	r.buckets = newBuckets(r.schema.session, o.UUID)
	r.holds = r.schema.lease.Holds
	return r
}

// Serve implements cqldoor.Router.
func (r *Router) Serve(ctx context.Context, req *cqldoor.Request) {
	var err error
	switch req.Op {
	case wire.OpExecute:
		err = r.execute(ctx, req)
	case wire.OpBatch:
		req.Go(func(ctx context.Context) {
			r.carry(ctx, req, func(ctx context.Context, _ bool) error { return r.batch(ctx, req) })
		})
	default:
		err = r.text(ctx, req)
	}
	var refused *refusal
	switch {
	case err == nil:
	case req.Username != "" && errors.As(err, &refused):
		req.Go(func(ctx context.Context) { r.finish(ctx, req, err) })
	default:
		req.Error(err)
	}
}

// finish ends a request that has failed. It may wait for the store.
func (r *Router) finish(ctx context.Context, req *cqldoor.Request, err error) {
	if err != nil {
		req.Error(judged(ctx, req, err))
	}
}

// text serves QUERY and PREPARE. If it returns an error, nothing else ends the request.
func (r *Router) text(ctx context.Context, req *cqldoor.Request) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	var text string
	keyspace := req.Keyspace
	var q wire.Query
	if req.Op == wire.OpPrepare {
		p, err := wire.ParsePrepare(req.Version, body)
		if err != nil {
			return err
		}
		text = string(p.Text)
		if p.Keyspace != nil {
			keyspace = string(p.Keyspace)
		}
	} else {
		if q, err = wire.ParseQuery(req.Version, body); err != nil {
			return err
		}
		text = string(q.Text)
		if q.Params.Keyspace != nil {
			keyspace = string(q.Params.Keyspace)
		}
	}
	h := syntax.Target(text)
	v := r.schema.view.Load()
	if v.namesCatalogue(h, text, keyspace) {
		return r.schema.serveAbsent(req, h, keyspace, text)
	}
	if err := v.mayServe(h, text, keyspace); err != nil {
		return err
	}
	if ofRows(h.Kind) && (r.schema.lapsed() || req.Op == wire.OpPrepare && v.judgeAll(h, keyspace, text) == ofStore) {
		if at := target(h, keyspace); !(h.Kind == syntax.StatementSelect && hides(at.Keyspace, at.Name)) {
			req.Go(func(ctx context.Context) { r.finish(ctx, req, r.textFresh(ctx, req, keyspace, text)) })
			return nil
		}
	}
	if unknown := r.schema.unknownTables(h, keyspace, text); len(unknown) > 0 {
		req.Go(func(ctx context.Context) { r.finish(ctx, req, r.schema.settle(ctx, req, keyspace, text, unknown)) })
		return nil
	}
	if r.schema.serve(ctx, req, h, keyspace, text) {
		return nil
	}
	s, err := r.statement(keyspace, text)
	if err != nil {
		req.Go(func(ctx context.Context) { r.finish(ctx, req, r.reconsider(ctx, req, keyspace, text, err)) })
		return nil
	}
	if req.Op == wire.OpPrepare {
		req.Go(func(ctx context.Context) { r.finish(ctx, req, r.prepareFresh(ctx, req, s)) })
		return nil
	}
	if err := s.checkAmount(&q); err != nil {
		return err
	}
	if s.whole() != nil && !s.conditional() && !s.goesOn(&q.Params) && !announces(s.write) {
		if passed, err := r.queryOne(req, s, &q); passed || err != nil && !errors.Is(err, errWaits) {
			return s.wrong(err)
		}
	}
	req.Go(func(ctx context.Context) { r.carryQuery(ctx, req, s) })
	return nil
}

// carryQuery executes a QUERY that needs several requests.
func (r *Router) carryQuery(ctx context.Context, req *cqldoor.Request, s *statement) {
	r.carry(ctx, req, func(ctx context.Context, changed bool) error {
		if changed || s.under != r.state.Load().under {
			for _, t := range s.tables() {
				if r.state.Load().Table(t.Keyspace, t.Name) == nil {
					return r.schema.relay(ctx, req, s.keyspace, s.text) // the table was dropped or is no longer sharded
				}
			}
			now, err := r.statement(s.keyspace, s.text)
			if err != nil {
				return err // s stays, for the next attempt
			}
			s = now
		}
		return r.querySlowly(ctx, req, s)
	})
}

// checkAmount refuses a QUERY whose number of values differs from the number of markers.
func (s *statement) checkAmount(q *wire.Query) error {
	if q.Params.Values.Count != len(s.head.Binds) && !q.Params.Values.Named {
		return wire.Invalidf("Invalid amount of bind variables")
	}
	return nil
}

// querySlowly serves a QUERY that needs several requests. Its body was retained, so the views
// into it are made again.
func (r *Router) querySlowly(ctx context.Context, req *cqldoor.Request, s *statement) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	q, err := wire.ParseQuery(req.Version, body)
	if err != nil {
		return err
	}
	if err := s.checkAmount(&q); err != nil {
		return err
	}
	return r.answer(ctx, req, s, &q.Params, nil)
}

// statement returns the plan of a text, from the registry if it is there.
func (r *Router) statement(keyspace, text string) (*statement, error) {
	st := r.state.Load()
	id := newID(keyspace, text)
	if k := r.registry.known.get(id[:]); k != nil && k.statement != nil && k.statement.state.Value() == st && k.statement.text == text {
		return k.statement, nil
	}
	if s, ok := r.registry.texts.get(id); ok && s.state.Value() == st && s.text == text {
		return s, nil
	}
	s, err := r.newStatement(st, keyspace, text)
	if err != nil {
		return nil, err
	}
	r.registry.texts.put(id, s)
	return s, nil
}

// newStatement plans a text.
func (r *Router) newStatement(st *State, keyspace, text string) (*statement, error) {
	s, err := newStatement(st, keyspace, text)
	if err != nil {
		return nil, err
	}
	s.router, s.series = r, r.measured(s)
	if s.whole() != nil {
		s.physical = r.registry.physical(s.whole().Text)
		s.direct = s.newDirect()
	}
	return s, nil
}

// current returns the statement planned on the present schema. If its table has changed, the
// client must prepare it again, as with Cassandra, and so learns of the table's present columns.
func (r *Router) current(s *statement) (*statement, error) {
	st := r.state.Load()
	if s.state.Value() == st {
		return s, nil
	}
	for _, t := range s.tables() {
		if !sameTable(t, st.Schema.Table(t.Keyspace, t.Name)) || st.Table(t.Keyspace, t.Name) == nil {
			return nil, unprepared(s.id[:])
		}
	}
	fresh, err := r.newStatement(st, s.keyspace, s.text)
	if err != nil {
		return nil, err
	}
	r.registry.prepared(fresh)
	return fresh, nil
}

// textFresh serves a QUERY or PREPARE on rows after the door has read the present schema. Another
// door may have dropped a table and created it again.
func (r *Router) textFresh(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	var late error
	if r.schema.lapsed() {
		late = r.schema.renew(ctx)
	} else {
		r.schema.freshOrReport(ctx)
	}
	if r.schema.view.Load().judgeAll(syntax.Target(text), keyspace, text) == ofStore {
		if req.Op == wire.OpPrepare && asksExplain(req.Message) {
			return r.schema.explainPlain(ctx, req, keyspace, text)
		}
		resp, err := r.forward(ctx, req)
		if err != nil {
			return err
		}
		// Another door may have made a sharded table of that name meanwhile. The store's error
		// then refers to the physical table.
		if resp.Op == wire.OpError {
			r.schema.freshOrReport(ctx)
		}
		if resp.Op != wire.OpError || r.schema.view.Load().judgeAll(syntax.Target(text), keyspace, text) == ofStore {
			req.Reply(resp)
			return nil
		}
	}
	if late != nil {
		return late
	}
	if unknown := r.schema.unknownTables(syntax.Target(text), keyspace, text); len(unknown) > 0 {
		return r.schema.settle(ctx, req, keyspace, text, unknown)
	}
	return r.serveKnown(ctx, req, keyspace, text)
}

// prepareFresh answers a PREPARE after the door has read the present schema. Another door may
// have changed the table, and the store may then have forgotten what the client had prepared.
func (r *Router) prepareFresh(ctx context.Context, req *cqldoor.Request, s *statement) error {
	r.schema.freshOrReport(ctx)
	st := r.state.Load()
	for _, t := range s.tables() {
		if st.Table(t.Keyspace, t.Name) == nil {
			return r.schema.relay(ctx, req, s.keyspace, s.text) // the table is no longer sharded
		}
	}
	s, err := r.statement(s.keyspace, s.text)
	if err != nil {
		return err
	}
	r.registry.prepared(s)
	return r.prepare(ctx, req, s)
}

// prepare answers a PREPARE.
func (r *Router) prepare(ctx context.Context, req *cqldoor.Request, s *statement) error {
	p := wire.Prepared{ID: s.id[:], MetadataID: s.metadataID[:]}
	if whole := s.whole(); whole != nil {
		ids, err := s.physical.renew(ctx, req.Link, req.Version, whole.Text)
		if err != nil {
			return err
		}
		// The backend answers the EXECUTE, so the backend compares the metadata id.
		p.MetadataID = ids.metadata
	} else if s.write != nil && s.write.AnyShard() != nil {
		// The store may have forgotten it and have told the client so.
		text := s.write.AnyShard().Text
		if _, err := r.registry.physical(text).renew(ctx, req.Link, req.Version, text); err != nil {
			return err
		}
	}
	binds := make([]wire.Column, len(s.head.Binds))
	for i, b := range s.head.Binds {
		binds[i] = wire.Column{Keyspace: b.Keyspace, Table: b.Table, Name: b.Name, Type: b.Type}
	}
	p.Variables = wire.EncodeColumns(req.Version, binds)
	for _, i := range s.head.PartitionKeyBinds {
		p.KeyIndexes = append(p.KeyIndexes, uint16(i))
	}
	p.Result = wire.Metadata{Flags: wire.MetadataNone}
	if s.sel != nil {
		p.Result = encodeColumns(req.Version, s.head.Table, s.sel.Logical.Columns)
	}
	var body []byte
	var flags wire.Flags
	if asksExplain(req.Message) {
		if req.Username != "" {
			if err := permitted(ctx, req.Link, req.Version, s.needs()); err != nil {
				return err
			}
		}
		e, err := r.explain(ctx, s)
		if err != nil {
			return err
		}
		flags = wire.FlagCustomPayload
		body = wire.AppendBytesMap(nil, map[string][]byte{ExplainPayload: e})
	}
	req.Reply(wire.Message{Op: wire.OpResult, Flags: flags, Body: wire.AppendPrepared(body, req.Version, &p)})
	return nil
}

// queryOne passes a QUERY on to its shard, unless the state has just changed.
func (r *Router) queryOne(req *cqldoor.Request, s *statement, q *wire.Query) (passed bool, err error) {
	var scratch [16]eval.Value
	var env eval.Env
	if err := r.fill(&env, s, &q.Params.Values, scratch[:0]); err != nil {
		return false, err
	}
	env.Memory = unwaiting{}
	body, err := r.rewriteQuery(req, s, q, &env)
	if err != nil {
		return false, err
	}
	req.Scratch = body
	return r.passUnder(req, wire.Message{Op: wire.OpQuery, Flags: req.Flags &^ wire.FlagCustomPayload, Body: body}, s, true), nil
}

// passUnder passes on a request planned on a statement's state, unless that has just changed.
func (r *Router) passUnder(req *cqldoor.Request, m wire.Message, s *statement, keep bool) bool {
	if r.schema.member == nil { // no other door changes anything
		req.Pass(m)
		return true
	}
	of := req.Connection()
	if !s.begin(of) {
		return false
	}
	req.PassUnder(m, s, of, keep)
	return true
}

// rewriteQuery writes the QUERY that goes to the shard.
func (r *Router) rewriteQuery(req *cqldoor.Request, s *statement, q *wire.Query, env *eval.Env) ([]byte, error) {
	values, err := s.values(env)
	if err != nil {
		return nil, err
	}
	out := *q
	out.Text = []byte(s.whole().Text)
	out.Params.SetKeyspace(nil)
	out.Params.SetValues(encodeValues(values))
	return wire.AppendQuery(req.Scratch[:0], req.Version, &out), nil
}
