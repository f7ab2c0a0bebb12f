// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
)

// quorum raises a consistency level so that its replicas overlap with every quorum.
func quorum(c wire.Consistency) wire.Consistency {
	switch c {
	case wire.Any, wire.One, wire.Two, wire.Three, wire.LocalOne:
		return wire.LocalQuorum
	}
	return c
}

// move executes writes on one or more tables, and answers. The layout of at least one table is
// being changed. Each write goes first to its new place and then to the old one, or as the change's
// step says. passed holds the other statements of the client's batch. They are sent with the last
// writes.
func (r *writer) move(ctx context.Context, req *cqldoor.Request, g *gathering, passed *wire.Batch, params *wire.Params) error {
	p := *params
	if !p.Has(wire.QueryDefaultTimestamp) {
		if req.Stamp == 0 {
			req.Stamp = r.placer.clock.next()
		}
		p.SetDefaultTimestamp(req.Stamp)
	}
	if rule.On(rule.QuorumInChange) {
		p.Consistency = quorum(p.Consistency)
	}
	for i, w := range g.writes {
		if err := r.placer.checkAhead(req, &p, w, g.bound[i]); err != nil {
			return err
		}
		if err := r.recordMoving(ctx, req, w, g.bound[i], &p); err != nil {
			return err
		}
	}
	rounds, err := g.rounds(p.DefaultTimestamp, r.buckets.directory(ctx))
	if err != nil {
		return err
	}
	for _, a := range rounds.announced {
		if err := r.buckets.announceAll(ctx, req, a.of, a.ms); err != nil {
			return err
		}
	}
	for i, round := range rounds.sent {
		b := wire.Batch{Type: wire.BatchLogged}
		if i == len(rounds.sent)-1 {
			b.Raw, b.Count = passed.Raw, passed.Count
		}
		if err := r.applier.apply(ctx, req, &b, round, rounds.disjoint, &p); err != nil {
			return err
		}
	}
	for i := range rounds.lives {
		if err := r.resolver.revive(ctx, rounds.changes[i], &rounds.lives[i], written(p.Consistency)); err != nil {
			return err
		}
	}
	return respond(ctx, req, nil, wire.AppendVoid(nil))
}

// recordMoving records a deletion of many buckets under each layout by which it is carried out. It
// refuses a row that would live longer than one of the layouts keeps rows.
func (r *writer) recordMoving(ctx context.Context, req *cqldoor.Request, w *plan.Write, b *analysis.BoundWrite, params *wire.Params) error {
	if err := checkKeep(w, b); err != nil {
		return err
	}
	if w.To == nil {
		return nil // BATCH has refused a deletion of many buckets
	}
	if err := checkKeep(w.To, b); err != nil {
		return err
	}
	for _, under := range w.Deletes() {
		if err := r.buckets.record(ctx, req, under, b, params); err != nil {
			return err
		}
	}
	return nil
}

// rounds collects the writes of several statements under a change. The writes to old places, and
// to tables that are not changed, come last.
type rounds struct {
	sent      [][]plan.Mutation
	announced []announced
	disjoint  bool // the writes delete from disjoint shards
	lives     []plan.Moved
	changes   []*plan.Change // one for each of lives
}

func (g *gathering) rounds(stamp int64, dir plan.Directory) (*rounds, error) {
	out := &rounds{disjoint: len(g.writes) == 1}
	draw := g.draw
	if g.again != nil {
		draw = g.again // add has drawn for the present layout
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

// apply executes physical writes and the writes that b already has. It sends them as one batch
// unless they are disjoint.
func (a *applier) apply(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation, disjoint bool, params *wire.Params) error {
	if b.Count == 0 && (len(ms) < 2 || disjoint) {
		return a.applyEach(ctx, req, plan.Listed(ms), params)
	}
	_, err := a.applyBatch(ctx, req, b, ms, params)
	return err
}

// resolver makes the two places of a row equal while the layout of its table is being changed. The
// door's own account reads and writes both.
type resolver struct {
	session catalog.Session
	buckets *buckets // gets the buckets of rows that are copied
}

// revive copies to the new place what is alive of a write that may be older than a deletion.
func (r *resolver) revive(ctx context.Context, c *plan.Change, m *plan.Moved, cl wire.Consistency) error {
	old, err := r.look(ctx, c, m, m.Old, cl)
	if err != nil || !old.There {
		return err
	}
	if err := r.buckets.announceMoved(ctx, c.To, m.Key, m.New.Shard); err != nil {
		return err
	}
	return r.carried(ctx, c.Put(m, m.New, old.At(m.Stamp), m.Marker, m.Stamp, m.TTL), cl)
}

// look reads a row in one of its places, with the times of its cells.
func (r *resolver) look(ctx context.Context, c *plan.Change, m *plan.Moved, at plan.Place, cl wire.Consistency) (plan.Picture, error) {
	carrier := c.Carrier(m.Clustering == nil)
	var all []schema.Row
	for _, at := range c.Partitions(m.Key, at) {
		f := carrier.Look(m, at)
		rows, err := r.session.Query(ctx, cl, f.Statement.Text, bytesOf(f.Values)...)
		if err != nil {
			return plan.Image(carrier, all), err
		}
		all = append(all, rows...)
	}
	return plan.Image(carrier, all), nil
}

// dropped deletes cells of a row in one of its places. If row is set, the whole row is gone, so dropped also
// deletes its marker, unless the marker is newer than the row's newest cell. bare reports whether only a marker
// was left.
func (r *resolver) dropped(ctx context.Context, c *plan.Change, m *plan.Moved, in plan.Place, gone plan.Picture, row bool, cl wire.Consistency) (bare bool, err error) {
	carrier, places := c.Carrier(m.Clustering == nil), c.Partitions(m.Key, in)
	var all []plan.Mutation
	for _, at := range places {
		all = append(all, carrier.Drop(m, at, gone)...)
	}
	if err := r.carried(ctx, all, cl); err != nil || !row || m.Clustering == nil {
		return false, err
	}
	left, err := r.look(ctx, c, m, in, cl)
	if err != nil || !left.There {
		return false, err
	}
	all = nil
	for _, at := range places {
		all = append(all, carrier.DropRow(m, at, gone.Newest(c.Started)))
	}
	return !left.Occupied(), r.carried(ctx, all, cl)
}

// carried writes cells to one place with the times that they have in another. The store applies
// all of them or none. So no reader sees a row with only some of its cells, and no door that dies
// leaves one behind. The door's own account writes, because the client that reads may have no
// right to write.
func (r *resolver) carried(ctx context.Context, ms []plan.Mutation, cl wire.Consistency) error {
	if len(ms) == 0 {
		return nil
	}
	text, values := ms[0].Statement.Text, bytesOf(ms[0].Values)
	if len(ms) > 1 {
		var b strings.Builder
		b.WriteString("BEGIN ")
		if !slices.ContainsFunc(ms, func(m plan.Mutation) bool { return m.Shard != ms[0].Shard }) {
			b.WriteString("UNLOGGED ") // the store applies the writes to one partition atomically
		}
		b.WriteString("BATCH ")
		values = nil
		for _, m := range ms {
			b.WriteString(m.Statement.Text)
			b.WriteString("; ")
			values = append(values, bytesOf(m.Values)...)
		}
		b.WriteString("APPLY BATCH")
		text = b.String()
	}
	_, err := r.session.Query(ctx, cl, text, values...)
	return err
}

// bytesOf returns the bytes of values.
func bytesOf(values []eval.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v.Bytes
	}
	return out
}

// resolve makes the two places of a row equal. It runs the program of reshard.Duty.Read: it
// copies the cells of each place to the other, with their own times. Cells that the new place
// then still lacks were deleted there, so resolve deletes them in the old place. deleted reports whether
// the row is deleted, even if a marker of it is left in one place, which only the mover can delete.
func (r *resolver) resolve(ctx context.Context, c *plan.Change, m plan.Moved, cl wire.Consistency) (deleted bool, err error) {
	return r.act(ctx, c, c.Duty.Read, m, written(cl))
}

// act executes a program of package reshard on one row that moves.
func (r *resolver) act(ctx context.Context, c *plan.Change, program []reshard.Act, m plan.Moved, cl wire.Consistency) (deleted bool, err error) {
	if m.Old == m.New {
		return false, nil
	}
	carrier := c.Carrier(m.Clustering == nil)
	old, next := plan.Image[schema.Row](carrier, nil), plan.Image[schema.Row](carrier, nil)
	for _, act := range program {
		bare := false
		switch act {
		case reshard.LookOld:
			old, err = r.look(ctx, c, &m, m.Old, cl)
		case reshard.LookNew:
			next, err = r.look(ctx, c, &m, m.New, cl)
		case reshard.CopyNew:
			if missing := old.Newer(next); missing.There {
				if err = r.buckets.announceMoved(ctx, c.To, m.Key, m.New.Shard); err == nil {
					err = r.carried(ctx, c.Copy(&m, m.New, old, missing), cl)
				}
			}
		case reshard.CopyOld:
			if missing := next.Newer(old); missing.There {
				if err = r.buckets.announceMoved(ctx, c.From, m.Key, m.Old.Shard); err == nil {
					err = r.carried(ctx, c.Copy(&m, m.Old, next, missing), cl)
				}
			}
		case reshard.DropOld:
			if gone := old.Lacking(next); gone.There {
				bare, err = r.dropped(ctx, c, &m, m.Old, gone, !next.There, cl)
			}
		case reshard.DropNew:
			if gone := next.Lacking(old); gone.There {
				bare, err = r.dropped(ctx, c, &m, m.New, gone, !old.There, cl)
			}
		}
		if err != nil {
			return false, err
		}
		deleted = deleted || bare
	}
	return deleted, nil
}

// written returns the consistency level for writes that a read makes.
func written(cl wire.Consistency) wire.Consistency {
	switch cl {
	case wire.Serial, wire.LocalSerial:
		return wire.LocalQuorum
	}
	return quorum(cl)
}
