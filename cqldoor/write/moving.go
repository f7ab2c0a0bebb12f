// SPDX-License-Identifier: Apache-2.0

package write

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// Move executes writes on one or more tables, and answers. The layout of at least one table is
// being changed. The step of the change says to which places a write goes, and in which order: in
// most steps first to the new place and then to the old one. passed holds the other statements of the
// client's batch. Move sends them with the last writes.
func (r *Writer) Move(ctx context.Context, req *cqldoor.Request, g *Gathering, passed *wire.Batch, params *wire.Params) error {
	p := *params
	r.Placer.StampInChange(req, &p)
	if rule.On(rule.QuorumInChange) {
		p.Consistency = read.AtLeastQuorum(p.Consistency)
	}
	for i, w := range g.writes {
		if err := r.Placer.checkAhead(req, &p, w, g.bound[i]); err != nil {
			return err
		}
		if err := r.recordMoving(ctx, req, w, g.bound[i], &p); err != nil {
			return err
		}
	}
	rounds, err := g.rounds(p.DefaultTimestamp, r.Buckets.Directory(ctx))
	if err != nil {
		return err
	}
	for _, a := range rounds.announced {
		if err := r.Buckets.AnnounceAll(ctx, req, a.of, a.ms); err != nil {
			return err
		}
	}
	for i, round := range rounds.sent {
		b := wire.Batch{Type: wire.BatchLogged}
		if i == len(rounds.sent)-1 {
			b.Raw, b.Count = passed.Raw, passed.Count
		}
		if err := r.Applier.apply(ctx, req, &b, round, rounds.disjoint, &p); err != nil {
			return err
		}
	}
	for i := range rounds.lives {
		if err := r.Resolver.Revive(ctx, rounds.changes[i], &rounds.lives[i], read.ForWrites(p.Consistency)); err != nil {
			return err
		}
	}
	return request.Respond(ctx, req, nil, wire.AppendVoid(nil))
}

// recordMoving records a deletion of many buckets under each layout by which the door executes it. It
// returns an error if a row would live longer than one of the layouts keeps rows.
func (r *Writer) recordMoving(ctx context.Context, req *cqldoor.Request, w *plan.Write, b *analysis.BoundWrite, params *wire.Params) error {
	if err := buckets.CheckKeep(w, b); err != nil {
		return err
	}
	if w.To == nil {
		return nil // Add has refused a deletion of many buckets
	}
	if err := buckets.CheckKeep(w.To, b); err != nil {
		return err
	}
	for _, under := range w.Deletes() {
		if err := r.Buckets.Record(ctx, req, under, b, params); err != nil {
			return err
		}
	}
	return nil
}

// rounds holds the physical writes of several statements under a change, in the order in which Move
// sends them. The last round has the writes to old places, and the writes to tables that are not
// being changed.
type rounds struct {
	sent      [][]plan.Mutation
	announced []announced
	disjoint  bool // the writes delete from disjoint shards
	lives     []plan.Moved
	changes   []*plan.Change // one for each element of lives
}

func (g *Gathering) rounds(stamp int64, dir plan.Directory) (*rounds, error) {
	out := &rounds{disjoint: len(g.writes) == 1}
	draw := g.draw
	if g.again != nil {
		draw = g.again // Add has drawn for the present layout and counted the write
	}
	for i, w := range g.writes {
		var m plan.Moving
		if w.To != nil {
			var err error
			if m, err = w.Moving(g.bound[i], stamp, draw, g.draw, dir); err != nil {
				return nil, err
			}
		} else {
			ms, err := w.Bound(g.bound[i], draw, dir)
			if err != nil {
				return nil, err
			}
			all, err := ms.All(0)
			if err != nil {
				return nil, err
			}
			m.Rounds = []plan.Round{{Of: w, Sent: all}}
		}
		out.disjoint = out.disjoint && m.Disjoint
		for len(out.sent) < len(m.Rounds) {
			out.sent = append([][]plan.Mutation{nil}, out.sent...)
		}
		skip := len(out.sent) - len(m.Rounds)
		for j, round := range m.Rounds {
			out.sent[skip+j] = append(out.sent[skip+j], round.Sent...)
			out.announced = append(out.announced, announced{round.Of, round.Sent})
		}
		for _, l := range m.Lives {
			out.lives, out.changes = append(out.lives, l), append(out.changes, w.Table.Change)
		}
	}
	return out, nil
}

// apply executes physical writes and the statements that b already has. It sends the writes one by
// one if b has no statement, and if there is only one write or the writes are disjoint. Otherwise it
// sends everything as one batch.
func (a *Applier) apply(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation, disjoint bool, params *wire.Params) error {
	if b.Count == 0 && (len(ms) < 2 || disjoint) {
		return a.ApplyEach(ctx, req, plan.Listed(ms), params)
	}
	_, err := a.applyBatch(ctx, req, b, ms, params)
	return err
}
