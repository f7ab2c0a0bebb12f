// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// gathering collects the physical writes of a batch.
type gathering struct {
	draw        plan.Draw
	again       plan.Draw                                     // draws again for a write that draw has drawn for and counted; nil: draw does
	checkOne    func(*plan.Write, *analysis.BoundWrite) error // checks one write (checkAhead)
	writes      []*plan.Write
	bound       []*analysis.BoundWrite // one for each of writes
	moving      bool                   // some table is under a change of its layout
	mutations   []plan.Mutation
	places      map[string]int // shard of each logical partition; -1 for several
	conditional bool
	stamped     *plan.Write // a write that needs the door's timestamp if nobody else gives one
	split       bool        // a logical partition is written in several shards
	counters    bool        // the writes change counters
	of          *plan.Table // the table of the conditions
	announced   []announced // writes that may put rows into buckets of time
	idle        bool        // some statement reaches no shard, so no store response tells whether the client may write
}

// newGathering returns a gathering of the writes of a batch.
func (r *writer) newGathering(req *cqldoor.Request, params *wire.Params) *gathering {
	return &gathering{draw: r.placer.draws(req, params, true, r.placer.takes(req)), again: r.placer.draws(req, params, true, func(*tally) {}), places: map[string]int{},
		checkOne: func(w *plan.Write, b *analysis.BoundWrite) error { return r.placer.checkAhead(req, params, w, b) }}
}

// add adds one statement of the batch.
func (g *gathering) add(w *plan.Write, b *analysis.BoundWrite) error {
	g.writes, g.bound = append(g.writes, w), append(g.bound, b)
	g.moving = g.moving || w.To != nil
	if len(w.Wide(b)) > 0 || w.To != nil && len(w.To.Wide(b)) > 0 {
		return errWideInBatch
	}
	if err := checkKeep(w, b); err != nil {
		return err
	}
	if err := g.checkOne(w, b); err != nil {
		return err
	}
	bound, err := w.Bound(b, g.draw, nil)
	if err != nil {
		return err
	}
	ms, err := bound.All(len(g.mutations))
	if err != nil {
		return err
	}
	g.idle = g.idle || len(ms) == 0
	if w.Logical.Conditional() {
		g.conditional, g.of = true, w.Table
	}
	g.counters = g.counters || w.Logical.Counter
	if w.Stamped() {
		g.stamped = w
	}
	if announces(w) {
		g.announced = append(g.announced, announced{w, ms})
	}
	for _, m := range ms {
		place := placeOf(w.Table, m.Key)
		if at, ok := g.places[place]; ok && at != m.Shard {
			g.split = true
			g.places[place] = -1
		} else {
			g.places[place] = m.Shard
		}
	}
	g.mutations = append(g.mutations, ms...)
	return nil
}

// name tells the request's coordinator how many partitions the batch is on, for the client and for
// the store. Cassandra counts keys, of whichever tables.
func (g *gathering) name(req *cqldoor.Request) {
	e, ok := req.Link.(*coordinator)
	if !ok {
		return
	}
	logical, physical := map[string]bool{}, map[string]bool{}
	var key []byte
	for _, m := range g.mutations {
		key = plan.AppendKey(key[:0], m.Key)
		logical[string(key)] = true
		physical[string(binary.BigEndian.AppendUint32(key, uint32(m.Shard)))] = true
	}
	e.named(batched{len(logical), len(physical)})
}

// announced holds the writes of one statement that may put rows into buckets of time.
type announced struct {
	of *plan.Write
	ms []plan.Mutation
}

// announce announces the buckets that the batch puts rows into.
func (g *gathering) announce(ctx context.Context, to *buckets, req *cqldoor.Request) error {
	for _, a := range g.announced {
		if err := to.announceAll(ctx, req, a.of, a.ms); err != nil {
			return err
		}
	}
	return nil
}

var errWideInBatch = wire.Invalidf("write_sharding: a BATCH cannot delete a range of many buckets of a table of strategy 'time'; send the deletion by itself, or bound the time that it is of")

// check refuses conditions that span several shards.
func (g *gathering) check() error {
	switch {
	case !g.conditional:
	case g.moving:
		return wire.Invalidf("Batch with conditions cannot span multiple tables")
	case len(g.places) > 1:
		return wire.Invalidf("Batch with conditions cannot span multiple partitions")
	case g.split:
		return wire.Invalidf("Batch with conditions cannot span multiple partitions: the rows of a write-sharded partition are in several shards; write them by statements of their own, or shard by columns that these rows share ('by'); where a condition on one row guards the others, the table is not for sharding")
	}
	return nil
}

// ask checks the client's rights if the physical batch does not test all of them.
func (g *gathering) ask(ctx context.Context, req *cqldoor.Request) error {
	if e, ok := req.Link.(*coordinator); ok && g.idle {
		return e.ask(ctx, req.Version, true)
	}
	return nil
}

var errNotWrite = wire.Invalidf("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")

// batches serves BATCH.
type batches struct {
	schema     *schemas
	cache      *planCache
	state      *states
	statements *statements
	binder     *binder
	writer     *writer
	relays     *relays
	doors      *membership
}

// batch serves a BATCH message.
func (x *batches) batch(ctx context.Context, req *cqldoor.Request) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	in, err := wire.ParseBatch(req.Version, body)
	if err != nil {
		return err
	}
	keyspace := keyspaceOf(req, in.Params.Keyspace)
	if keyspace == catalog.Keyspace {
		return absent(req, syntax.Head{}, "", keyspace)
	}
	var late error
	if x.doors.lapsed() {
		late = x.doors.renew(ctx)
		x.relays.standing.judgeAnew(req)
	}
	var tables []syntax.Name
	for it := in.Iter(); it.Next(); {
		if it.Prepared {
			continue
		}
		text := string(it.Text)
		h, v := syntax.Target(text), x.schema.view.Load()
		if err := v.refuseUnserved(h, text, keyspace); err != nil {
			return err
		}
		if v.namesCatalogue(h, text, keyspace) {
			if err := absent(req, h, text, keyspace); err != nil {
				return err
			}
			return errNotWrite
		}
		tables = append(tables, x.schema.unknownTables(h, keyspace, text)...)
	}
	asked := &unknown{x: x.schema, relays: x.relays, keyspace: keyspace, tables: tables}
	if err := asked.look(ctx); err != nil {
		return err
	}
	if _, _, err := asked.judge(); err != nil {
		return err
	}
	out := wire.Batch{}
	g := x.writer.newGathering(req, &in.Params)
	made := made{ctx: ctx}
	defer made.close()
	var before eval.Env // of the last statement
	for it := in.Iter(); it.Next(); {
		s, err := x.child(keyspace, &it.BatchStatement)
		if err != nil {
			return userFunction(ctx, x.schema.session, keyspace, string(it.Text), err)
		}
		if s == nil {
			out.Raw = append(out.Raw, in.Raw[it.Start:it.End]...)
			out.Count++
			continue
		}
		// In a BATCH, Cassandra begins this message with a capital.
		if want := len(s.head.Binds); it.Values.Count != want {
			return wire.Invalidf("There were %d markers(?) in CQL but %d bound variables", want, it.Values.Count)
		}
		var env eval.Env
		if err := x.binder.fill(&env, s, &it.Values, nil); err != nil {
			return err
		}
		if s.write == nil {
			return errNotWrite
		}
		for _, n := range writeNeeds(s.write) {
			needed(req, n)
		}
		planned(req, s)
		env.Wanted, env.Memory = ctx, &made
		env.After(&before)
		b, err := s.write.Logical.Bind(&env)
		if err != nil {
			return err
		}
		if err := g.add(s.write, b); err != nil {
			return err
		}
		before = env
	}
	if out.Count == in.Count {
		if err := x.relays.standing.forwards(ctx, late); err != nil {
			return err
		}
		resp, err := asked.ask(ctx, req) // nothing of it is on a sharded table, as far as is known
		switch {
		case err != nil:
			return err
		case resp != nil:
			req.Reply(*resp)
			return nil
		}
		return x.batch(ctx, req) // there is one now
	}
	if late != nil {
		return late
	}
	if out.Count > 0 {
		forwards(req)
	}
	if err := g.check(); err != nil {
		return err
	}
	out.Type = g.kind(in.Type)
	if err := g.ask(ctx, req); err != nil {
		return err
	}
	if g.moving {
		return x.writer.move(ctx, req, g, &out, &in.Params)
	}
	if err := g.announce(ctx, x.writer.buckets, req); err != nil {
		return err
	}
	g.name(req)
	if g.stamped != nil {
		x.writer.placer.stamp(req, &in.Params, g.stamped)
	}
	return x.writer.applier.sendBatch(ctx, req, &out, g.mutations, &in.Params, g.of)
}

// writtenBatch executes a BATCH that was sent as one statement of text.
func (r *writer) writtenBatch(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, env *eval.Env) error {
	bound, err := s.batch.logical.Bind(env)
	if err != nil {
		return err
	}
	p := *params
	if bound.Timestamp != nil {
		p.SetDefaultTimestamp(*bound.Timestamp)
	}
	g := r.newGathering(req, &p)
	for i, w := range s.batch.writes {
		if err := g.add(w, bound.Writes[i]); err != nil {
			return err
		}
	}
	if bound.Timestamp == nil && g.stamped != nil {
		r.placer.stamp(req, &p, g.stamped)
	}
	b := wire.Batch{Type: g.kind(wire.BatchType(s.batch.logical.Kind))}
	if err := g.check(); err != nil {
		return err
	}
	if err := g.ask(ctx, req); err != nil {
		return err
	}
	if g.moving {
		return r.move(ctx, req, g, &b, &p)
	}
	if err := g.announce(ctx, r.buckets, req); err != nil {
		return err
	}
	g.name(req)
	return r.applier.sendBatch(ctx, req, &b, g.mutations, &p, g.of)
}

// child returns the planned statement of one part of a BATCH, or nil for a part that is passed
// on.
func (x *batches) child(keyspace string, b *wire.BatchStatement) (*statement, error) {
	if b.Prepared {
		k := x.cache.known.get(b.ID)
		switch {
		case k == nil || k.passed != nil && !x.relays.passes(k.passed):
			return nil, unprepared(b.ID)
		case k.passed != nil:
			return nil, nil
		case k.schema != nil:
			return nil, errNotWrite
		}
		return x.statements.current(k.statement)
	}
	text := string(b.Text)
	h := syntax.Target(text)
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete:
	default:
		return nil, nil // the store will refuse it
	}
	if n := target(h, keyspace); x.state.Load().Table(n.Keyspace, n.Name) == nil {
		return nil, nil
	}
	return x.statements.statement(keyspace, text)
}

// tableOf returns the table that a statement reads or writes.
func tableOf(tree syntax.Statement, keyspace string) (n syntax.Name) {
	switch t := tree.(type) {
	case *syntax.Insert:
		n = t.Into
	case *syntax.Update:
		n = t.Table
	case *syntax.Delete:
		n = t.From
	case *syntax.Select:
		n = t.From
	}
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	return n
}
