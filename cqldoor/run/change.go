// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
)

// quorum raises a consistency level that quorums of other requests might not meet.
func quorum(c wire.Consistency) wire.Consistency {
	switch c {
	case wire.Any, wire.One, wire.Two, wire.Three, wire.LocalOne:
		return wire.LocalQuorum
	}
	return c
}

// move carries out writes on tables of which one's layout is being changed, and answers:
// each goes to its new place first and then to the old one, or as the change's step says.
// passed has what else the client's batch says, which goes with the last of them.
func (r *Router) move(ctx context.Context, req *cqldoor.Request, g *gathering, passed *wire.Batch, params *wire.Params) error {
	p := *params
	if !p.Has(wire.QueryDefaultTimestamp) {
		if req.Stamp == 0 {
			req.Stamp = r.clock.next()
		}
		p.SetDefaultTimestamp(req.Stamp)
	}
	if rule.On(rule.QuorumInChange) {
		p.Consistency = quorum(p.Consistency)
	}
	rounds, err := g.rounds(p.DefaultTimestamp)
	if err != nil {
		return err
	}
	for i, round := range rounds.sent {
		b := wire.Batch{Type: wire.BatchLogged}
		if i == len(rounds.sent)-1 {
			b.Raw, b.Count = passed.Raw, passed.Count
		}
		if err := r.apply(ctx, req, &b, round, rounds.disjoint, &p); err != nil {
			return err
		}
	}
	for i := range rounds.lives {
		if err := r.revive(ctx, rounds.changes[i], &rounds.lives[i], written(p.Consistency)); err != nil {
			return err
		}
	}
	return respond(ctx, req, nil, wire.AppendVoid(nil))
}

// rounds are writes under a change, of several statements: those of the old places, and of
// tables that do not change, are the last.
type rounds struct {
	sent     [][]plan.Mutation
	disjoint bool // they delete disjoint shards
	lives    []plan.Moved
	changes  []*plan.Change // of each of lives
}

func (g *gathering) rounds(stamp int64) (*rounds, error) {
	out := &rounds{disjoint: len(g.writes) == 1}
	for i, w := range g.writes {
		var m plan.Moving
		if w.To != nil {
			var err error
			if m, err = w.Moving(g.bound[i], stamp); err != nil {
				return nil, err
			}
		} else {
			ms, err := w.Bound(g.bound[i], g.draw, nil)
			if err != nil {
				return nil, err
			}
			all, err := ms.All(0)
			if err != nil {
				return nil, err
			}
			m.Rounds = [][]plan.Mutation{all}
		}
		out.disjoint = out.disjoint && m.Disjoint
		for len(out.sent) < len(m.Rounds) {
			out.sent = append([][]plan.Mutation{nil}, out.sent...)
		}
		skip := len(out.sent) - len(m.Rounds)
		for j, round := range m.Rounds {
			out.sent[skip+j] = append(out.sent[skip+j], round...)
		}
		for _, l := range m.Lives {
			out.lives, out.changes = append(out.lives, l), append(out.changes, w.Table.Change)
		}
	}
	return out, nil
}

// apply carries out physical writes, beside those that b has already: as one whole, unless
// they are disjoint.
func (r *Router) apply(ctx context.Context, req *cqldoor.Request, b *wire.Batch, ms []plan.Mutation, disjoint bool, params *wire.Params) error {
	if b.Count == 0 && (len(ms) < 2 || disjoint) {
		return r.applyEach(ctx, req, plan.Listed(ms), params)
	}
	if err := r.appendMutations(ctx, req, b, ms); err != nil {
		return err
	}
	_, err := r.applyBatch(ctx, req, b, params)
	return err
}

// revive writes to the new place what lives of a write that is older than the change.
func (r *Router) revive(ctx context.Context, c *plan.Change, m *plan.Moved, cl wire.Consistency) error {
	carrier := c.Carrier(m.Clustering == nil)
	old, err := r.look(ctx, carrier, m, m.Old, cl)
	if err != nil || !old.There {
		return err
	}
	return r.carried(ctx, carrier.Put(m, m.New, old.At(m.Stamp), m.Marker, m.Stamp, m.TTL), cl)
}

// look reads a row in one of its places, with the times of its cells.
func (r *Router) look(ctx context.Context, c *plan.Carrier, m *plan.Moved, shard int, cl wire.Consistency) (plan.Picture, error) {
	f := c.Look(m, shard)
	rows, err := r.schema.session.Query(ctx, cl, f.Statement.Text, bytesOf(f.Values)...)
	return plan.Image(c, rows), err
}

// carried writes to one place what another has, with the times that it has there: all of it
// or nothing, so that no row is seen, or left behind by a door that dies, with some of its
// cells. The door's own account does so: whoever reads may not be allowed to write.
func (r *Router) carried(ctx context.Context, ms []plan.Mutation, cl wire.Consistency) error {
	if len(ms) == 0 {
		return nil
	}
	text, values := ms[0].Statement.Text, bytesOf(ms[0].Values)
	if len(ms) > 1 { // of one partition: the store takes them as a whole
		var b strings.Builder
		b.WriteString("BEGIN UNLOGGED BATCH ")
		values = nil
		for _, m := range ms {
			b.WriteString(m.Statement.Text)
			b.WriteString("; ")
			values = append(values, bytesOf(m.Values)...)
		}
		b.WriteString("APPLY BATCH")
		text = b.String()
	}
	_, err := r.schema.session.Query(ctx, cl, text, values...)
	return err
}

func bytesOf(values []eval.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v.Bytes
	}
	return out
}

// resolve makes the two places of a row alike, by the program of reshard.Duty.Read: what
// each has is written into the other, with its own times; what the new place still does
// not show then is shadowed there, and deleted in the old one.
func (r *Router) resolve(ctx context.Context, c *plan.Change, m plan.Moved, cl wire.Consistency) error {
	return r.act(ctx, c, c.Duty.Read, m, written(cl))
}

// act carries out a program of package reshard on one row that moves.
func (r *Router) act(ctx context.Context, c *plan.Change, program []reshard.Act, m plan.Moved, cl wire.Consistency) error {
	if m.Old == m.New {
		return nil
	}
	carrier := c.Carrier(m.Clustering == nil)
	old, next := plan.Image[schema.Row](carrier, nil), plan.Image[schema.Row](carrier, nil)
	for _, act := range program {
		var err error
		switch act {
		case reshard.LookOld:
			old, err = r.look(ctx, carrier, &m, m.Old, cl)
		case reshard.LookNew:
			next, err = r.look(ctx, carrier, &m, m.New, cl)
		case reshard.CopyNew:
			if missing := old.Newer(next); missing.There {
				err = r.carried(ctx, carrier.Copy(&m, m.New, old, missing, c.Started), cl)
			}
		case reshard.CopyOld:
			if missing := next.Newer(old); missing.There {
				err = r.carried(ctx, carrier.Copy(&m, m.Old, next, missing, c.Started), cl)
			}
		case reshard.DropOld:
			if gone := old.Lacking(next); gone.There {
				err = r.carried(ctx, carrier.Drop(&m, m.Old, gone, !next.There, c.Started), cl)
			}
		case reshard.DropNew:
			if gone := next.Lacking(old); gone.There {
				err = r.carried(ctx, carrier.Drop(&m, m.New, gone, !old.There, c.Started), cl)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// written is the consistency level of what a read writes.
func written(cl wire.Consistency) wire.Consistency {
	switch cl {
	case wire.Serial, wire.LocalSerial:
		return wire.LocalQuorum
	}
	return quorum(cl)
}

// resolved is page where reads look at both places: rows in which they differ are made
// alike before they are answered.
//
// A row that is in neither when the two are read first is left out, although it may come
// meanwhile: nobody has been told of it yet. So a page that is written to all the time
// comes to an end.
func (x *reader) resolved(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	old := *x
	old.plan, old.width = x.plan.Old, nil
	next, err := x.held(s, after, want)
	if err != nil {
		return nil, err
	}
	was, err := old.held(old.plan.In(s), after, want)
	if err != nil {
		return nil, err
	}
	// What both have been read up to.
	var bound *row
	if next.more && next.ends {
		bound = &next.end
	}
	if was.more && was.ends {
		last := next.adopt(was, &was.end)
		if bound == nil || next.compare(&last, bound) < 0 {
			bound = &last
		}
	}
	beyond := func(r *row) bool { return bound != nil && next.compare(r, bound) > 0 }
	var rows []row
	i := 0
	for j := range was.rows {
		o := next.adopt(was, &was.rows[j])
		if beyond(&o) {
			break
		}
		for ; i < len(next.rows) && next.compare(&next.rows[i], &o) < 0; i++ {
			if rows, err = x.settle(s, next, rows, next.rows[i]); err != nil {
				return nil, err
			}
		}
		if i < len(next.rows) && next.compare(&next.rows[i], &o) == 0 {
			n := next.rows[i]
			i++
			if x.plan.Same(next.visibleCells(&n), next.visibleCells(&o)) {
				rows = append(rows, n)
				continue
			}
		}
		if rows, err = x.settle(s, next, rows, o); err != nil {
			return nil, err
		}
	}
	for ; i < len(next.rows) && !beyond(&next.rows[i]); i++ {
		if rows, err = x.settle(s, next, rows, next.rows[i]); err != nil {
			return nil, err
		}
	}
	if bound != nil {
		next.end, next.ends = *bound, true
	} else if was.ends {
		next.end, next.ends = next.adopt(was, &was.end), true
	}
	was.held.close() // what is adopted of it is little
	next.rows, next.more = rows, bound != nil
	if len(rows) > want {
		next.rows, next.more = rows[:want], true
		next.end, next.ends = rows[want-1], true
	}
	return next, nil
}

// held reads rows of a segment, as many as may be held at once.
func (x *reader) held(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	for limit := x.r.held; ; {
		if want == 1 {
			limit = 0
		}
		rows, err := x.merge(extent{Segment: s, after: after, want: want, limit: limit, group: x.grouped(want/len(s.Shards) + 2)})
		if !errors.Is(err, errWide) {
			return rows, err
		}
		want = max(1, want/2)
	}
}

// maxResolve is how often a row that is written all the time is looked at.
const maxResolve = 20

// settle makes the places of a row alike, and appends the row as it is then.
func (x *reader) settle(s plan.Segment, in *rowset, rows []row, r row) ([]row, error) {
	key := in.ownKey(&r)
	if !rule.On(rule.ReadsResolve) {
		return append(rows, r), nil
	}
	old := *x
	old.plan, old.width = x.plan.Old, nil
	for range maxResolve {
		if err := x.r.resolve(x.ctx, x.plan.Change, x.plan.Change.Moved(old.plan.Table, s.Key, key), x.params.Consistency); err != nil {
			return nil, err
		}
		was, err := old.held(old.plan.Row(s, key), nil, 1)
		if err != nil {
			return nil, err
		}
		next, err := x.held(x.plan.Row(s, key), nil, 1)
		was.held.close()
		if err != nil {
			return nil, err
		}
		next.held.close()
		switch {
		case len(next.rows) != len(was.rows):
		case len(next.rows) == 0:
			return rows, nil
		case x.plan.Same(next.visibleCells(&next.rows[0]), was.visibleCells(&was.rows[0])):
			return append(rows, in.adopt(next, &next.rows[0])), nil
		}
	}
	return nil, &wire.Error{Code: wire.CodeOverloaded, Message: "write_sharding: a row is written faster than its two places can be read while the layout of the table is being changed; try again"}
}
