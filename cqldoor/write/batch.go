// SPDX-License-Identifier: Apache-2.0

package write

import (
	"context"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/rollover"
)

// Gathering collects the physical writes of a batch.
type Gathering struct {
	draw        plan.Draw
	again       plan.Draw                                     // draws again for a write that Add has drawn for, and does not count it; nil: draw does
	checkOne    func(*plan.Write, *analysis.BoundWrite) error // checks one write (checkAhead)
	writes      []*plan.Write
	bound       []*analysis.BoundWrite // one for each element of writes
	Moving      bool                   // the layout of some table is being changed
	Mutations   []plan.Mutation
	places      map[string]int // by name of a logical partition (placeOf): its shard; -1: several shards
	conditional bool
	Stamped     *plan.Write // a write that needs the door's timestamp if the client gives none
	Split       bool        // the batch writes to several shards of a logical partition
	counters    bool        // the writes change counters
	Of          *plan.Table // the table that has the conditions
	announced   []announced // writes that may put rows into buckets of time
	idle        bool        // some statement has no physical write, so no response of the store tells whether the client may execute it
}

// NewGathering returns an empty Gathering for a batch.
func (r *Writer) NewGathering(req *cqldoor.Request, params *wire.Params) *Gathering {
	return &Gathering{draw: r.Placer.Draws(req, params, true, r.Placer.takes(req)), again: r.Placer.Draws(req, params, true, func(*rollover.Tally) {}), places: map[string]int{},
		checkOne: func(w *plan.Write, b *analysis.BoundWrite) error { return r.Placer.checkAhead(req, params, w, b) }}
}

// Add collects the physical writes of one statement of the batch. It returns an error if the door refuses the statement.
func (g *Gathering) Add(w *plan.Write, b *analysis.BoundWrite) error {
	g.writes, g.bound = append(g.writes, w), append(g.bound, b)
	g.Moving = g.Moving || w.To != nil
	if len(w.Wide(b)) > 0 || w.To != nil && len(w.To.Wide(b)) > 0 {
		return errWideInBatch
	}
	if err := buckets.CheckKeep(w, b); err != nil {
		return err
	}
	if err := g.checkOne(w, b); err != nil {
		return err
	}
	bound, err := w.Bound(b, g.draw, nil)
	if err != nil {
		return err
	}
	ms, err := bound.All(len(g.Mutations))
	if err != nil {
		return err
	}
	g.idle = g.idle || len(ms) == 0
	if w.Logical.Conditional() {
		g.conditional, g.Of = true, w.Table
	}
	g.counters = g.counters || w.Logical.Counter
	if w.Stamped() {
		g.Stamped = w
	}
	if buckets.Announces(w) {
		g.announced = append(g.announced, announced{w, ms})
	}
	for _, m := range ms {
		place := placeOf(w.Table, m.Key)
		if at, ok := g.places[place]; ok && at != m.Shard {
			g.Split = true
			g.places[place] = -1
		} else {
			g.places[place] = m.Shard
		}
	}
	g.Mutations = append(g.Mutations, ms...)
	return nil
}

// Name tells the request's coordinator how many logical and how many physical partitions the batch
// writes to. Like Cassandra, it counts equal keys of several tables once.
func (g *Gathering) Name(req *cqldoor.Request) {
	e, ok := req.Link.(*request.Coordinator)
	if !ok {
		return
	}
	logical, physical := map[string]bool{}, map[string]bool{}
	var key []byte
	for _, m := range g.Mutations {
		key = plan.AppendKey(key[:0], m.Key)
		logical[string(key)] = true
		physical[string(binary.BigEndian.AppendUint32(key, uint32(m.Shard)))] = true
	}
	e.Named(request.Batched{Logical: len(logical), Physical: len(physical)})
}

// announced holds the writes of one statement that may put rows into buckets of time.
type announced struct {
	of *plan.Write
	ms []plan.Mutation
}

// Announce adds the buckets of the batch's rows to the directory.
func (g *Gathering) Announce(ctx context.Context, to *buckets.Buckets, req *cqldoor.Request) error {
	for _, a := range g.announced {
		if err := to.AnnounceAll(ctx, req, a.of, a.ms); err != nil {
			return err
		}
	}
	return nil
}

var errWideInBatch = wire.Invalidf("write_sharding: a BATCH cannot delete a range of many buckets of a table of strategy 'time'; send the deletion by itself, or bound the time that it is of")

// Check returns an error if the batch has conditions and spans several tables, partitions or shards.
func (g *Gathering) Check() error {
	switch {
	case !g.conditional:
	case g.Moving:
		return wire.Invalidf("Batch with conditions cannot span multiple tables")
	case len(g.places) > 1:
		return wire.Invalidf("Batch with conditions cannot span multiple partitions")
	case g.Split:
		return wire.Invalidf("Batch with conditions cannot span multiple partitions: the rows of a write-sharded partition are in several shards; write them by statements of their own, or shard by columns that these rows share ('by'); where a condition on one row guards the others, the table is not for sharding")
	}
	return nil
}

// Ask asks the store for the client's rights if some statement has no physical write. The store then
// does not check all rights when it executes the physical batch.
func (g *Gathering) Ask(ctx context.Context, req *cqldoor.Request) error {
	if e, ok := req.Link.(*request.Coordinator); ok && g.idle {
		return e.Ask(ctx, req.Version, true)
	}
	return nil
}

// Batch executes a BATCH that is one statement of CQL text, and answers.
func (r *Writer) Batch(ctx context.Context, req *cqldoor.Request, s *request.Statement, params *wire.Params, env *eval.Env) error {
	bound, err := s.Batch.Logical.Bind(env)
	if err != nil {
		return err
	}
	p := *params
	if bound.Timestamp != nil {
		p.SetDefaultTimestamp(*bound.Timestamp)
	}
	g := r.NewGathering(req, &p)
	for i, w := range s.Batch.Writes {
		if err := g.Add(w, bound.Writes[i]); err != nil {
			return err
		}
	}
	if bound.Timestamp == nil && g.Stamped != nil {
		r.Placer.Stamp(req, &p, g.Stamped)
	}
	b := wire.Batch{Type: g.Kind(wire.BatchType(s.Batch.Logical.Kind))}
	if err := g.Check(); err != nil {
		return err
	}
	if err := g.Ask(ctx, req); err != nil {
		return err
	}
	if g.Moving {
		return r.Move(ctx, req, g, &b, &p)
	}
	if err := g.Announce(ctx, r.Buckets, req); err != nil {
		return err
	}
	g.Name(req)
	return r.Applier.SendBatch(ctx, req, &b, g.Mutations, &p, g.Of)
}
