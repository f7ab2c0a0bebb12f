// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// skew is the largest number of microseconds by which a clock that stamped deletions before a change may be
// ahead of the store's clock as the door that starts the change knows it. A write with an earlier timestamp may
// be older than such a deletion.
const skew = 1_000_000

// top returns the highest shard number that a layout uses or has used.
func top(l *shard.Layout) int { return l.Last() }

// Start publishes a change to the layout asked; a mover carries it out. It returns an Invalid error
// that lists everything that stands against the change.
func (m *Mover) Start(ctx context.Context, e *catalog.Entry, ks *schema.Keyspace, physical *schema.Table, asked *shard.Layout) (*catalog.Entry, error) {
	if err := busy(e); err != nil {
		return nil, err
	}
	if why := Refuse(ks, physical, e.Layout, asked); len(why) > 0 {
		return nil, wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", e, strings.Join(why, "; "))
	}
	return m.begin(ctx, e, e, To(e.Layout, asked, top(e.Layout)))
}

// StartKey publishes a change that gives one partition key its own number of shards. text is the
// key as the client wrote it.
func (m *Mover) StartKey(ctx context.Context, e *catalog.Entry, ks *schema.Keyspace, physical *schema.Table, key []byte, text string, n int) (*catalog.Entry, error) {
	if err := busy(e); err != nil {
		return nil, err
	}
	to, err := ToKey(e.Layout, key, n)
	if err != nil {
		return nil, wire.Invalidf("write_sharding: key %s of table %s: %s", text, e, err)
	}
	if why := Refuse(ks, physical, e.Layout, to); len(why) > 0 {
		return nil, wire.Invalidf("write_sharding: the layout of table %s cannot be changed while it is in use: %s", e, strings.Join(why, "; "))
	}
	named := *e
	named.Key = text
	return m.begin(ctx, e, &named, to)
}

// begin publishes a change to a layout. The new entry replaces was.
func (m *Mover) begin(ctx context.Context, was, e *catalog.Entry, to *shard.Layout) (*catalog.Entry, error) {
	if err := m.moves.ensure(ctx); err != nil {
		return nil, err
	}
	if to.Last() > shard.MaxBase {
		return nil, wire.Invalidf("write_sharding: table %s has used up the numbers of shards", e)
	}
	c, err := reshard.Change{Started: m.opts.Stamps().UnixMicro(), Skew: skew, Owner: m.opts.Self, Counter: 1}.Publish(reshard.Announced)
	if err != nil {
		return nil, err
	}
	next, err := m.opts.Catalogue.Publish(ctx, was, e.Changing(to, c))
	if err != nil {
		return nil, err
	}
	return next, m.opts.Doors.Published(ctx, next)
}

// Order is an operator's command for a change that is under way.
type Order string

// These are the orders.
const (
	Pause    Order = "pause"
	Resume   Order = "resume"
	Rollback Order = "rollback"
	Finish   Order = "finish"
)

// Orders lists all orders.
var Orders = []Order{Pause, Resume, Rollback, Finish}

// Give publishes an order.
func (m *Mover) Give(ctx context.Context, keyspace, table string, o Order) error {
	for range 10 {
		e, err := m.opts.Catalogue.Entry(ctx, keyspace, table)
		if err != nil {
			return err
		}
		if e == nil || e.Change == nil {
			return wire.Invalidf("table %s.%s: no change of its layout is under way", keyspace, table)
		}
		c := *e.Change
		switch o {
		case Pause:
			c.Paused = true
		case Resume:
			c.Paused = false
		case Rollback:
			if c, err = c.TakeBack(); err != nil {
				return wire.Invalidf("table %s.%s: %s", keyspace, table, err)
			}
		case Finish:
			c.Hurry, c.Paused = true, false
		default:
			return wire.Invalidf("unknown order %q", o)
		}
		if c == *e.Change {
			return nil // the order is obeyed already; a publication would interrupt the mover's pass
		}
		next, err := m.opts.Catalogue.Publish(ctx, e, e.Changing(e.Next, c))
		if err == nil {
			return m.opts.Doors.Published(ctx, next)
		}
		if settled(err) != nil {
			return err
		}
	}
	return fmt.Errorf("table %s.%s: %w", keyspace, table, catalog.ErrChanged)
}

// Status returns the progress of the change of an entry's table, or the result of the last one.
func (m *Mover) Status(ctx context.Context, e *catalog.Entry) (reshard.Status, error) {
	s := reshard.Status{Table: e.String(), Phase: reshard.NoPhase, Generation: e.Layout.Generation, From: shards(e.Layout), To: shards(e.Layout), Keys: e.Layout.Keys.Len()}
	if err := m.moves.ensure(ctx); err != nil {
		return s, err
	}
	if e.Change == nil {
		l, ok, err := m.moves.last(ctx, e)
		if ok {
			s.Began, s.Ended, s.Result = l.began, l.ended, l.result
			s.RowsTotal, s.RowsMoved, s.RowsVerified = l.counts.Total, l.counts.Moved, l.counts.Verified
		}
		if e.Left() {
			s.Phase = leaving(e, l.result).String()
		}
		return s, err
	}
	s.Phase, s.To, s.Paused, s.Began = e.Change.Step.String(), shards(e.Next), e.Change.Paused, time.UnixMicro(e.Change.Started).UTC()
	if changed := e.Layout.Keys.Changed(e.Next.Keys); len(changed) == 1 {
		s.Key, s.From, s.To = e.Key, e.Layout.Shards([]byte(changed[0])), e.Next.Shards([]byte(changed[0]))
	}
	records, err := m.moves.read(ctx, e)
	if err != nil {
		return s, err
	}
	newest := int64(0)
	for _, r := range records {
		newest = max(newest, r.Step) // its records include the work of the steps before
	}
	for _, r := range records {
		if r.Step != newest {
			continue
		}
		s.RowsTotal = max(s.RowsTotal, r.Sofar.Total)
		s.RowsMoved = max(s.RowsMoved, r.Sofar.Moved)
		s.RowsVerified = max(s.RowsVerified, r.Sofar.Verified)
		if r.Step != e.Change.Generation {
			continue
		}
		s.Problem = r.Problem
		if r.Begun && !ofKeys(e.Layout, e.Next) {
			s.StepDone = max(s.StepDone, share(r.Position))
		}
		if r.Owner == e.Change.Owner {
			s.Rate, s.StoreMillis, s.StoreQuietMillis = r.Rate, 1000*r.Store[0], 1000*r.Store[1]
		}
	}
	s.ETASeconds = eta(e.Change.Step, &s)
	return s, nil
}

// Glance returns the state of the change of an entry's table as this mover knows it, without asking
// the store. If another door carries out the change, its figures are 0.
func (m *Mover) Glance(e *catalog.Entry) reshard.Status {
	s := reshard.Status{Table: e.String(), Phase: reshard.NoPhase, Generation: e.Layout.Generation, From: shards(e.Layout), To: shards(e.Layout)}
	if e.Change == nil {
		return s
	}
	s.Phase, s.To, s.Paused, s.Began = e.Change.Step.String(), shards(e.Next), e.Change.Paused, time.UnixMicro(e.Change.Started).UTC()
	if v, ok := m.moves.written.Load(e.String()); ok && e.Change.Owner == m.opts.Self {
		r := v.(record)
		s.RowsTotal, s.RowsMoved, s.RowsVerified, s.Rate, s.Problem = r.Sofar.Total, r.Sofar.Moved, r.Sofar.Verified, r.Rate, r.Problem
		s.StoreMillis, s.StoreQuietMillis = 1000*r.Store[0], 1000*r.Store[1]
		s.ETASeconds = eta(e.Change.Step, &s)
	}
	return s
}

// share returns the part of the tokens that lies before a position of a pass.
func share(position int64) float64 {
	return math.Round(1000*(float64(position)/(1<<64)+0.5)) / 1000
}

// eta returns the seconds until a change has copied and verified all rows at its current rate. It
// returns 0 if the time is unknown.
func eta(step reshard.Step, s *reshard.Status) int64 {
	left := 0.0
	switch step {
	case reshard.Announced:
		left = float64(2*s.RowsTotal - s.RowsMoved)
	case reshard.Switching:
		left = float64(s.RowsTotal - s.RowsVerified)
	}
	if left <= 0 || s.Rate <= 0 || s.Paused {
		return 0
	}
	return int64(math.Ceil(left / float64(s.Rate)))
}

// Outlook returns the cost of a change and changes nothing. It reads the keys of all rows.
func (m *Mover) Outlook(ctx context.Context, e *catalog.Entry, ks *schema.Keyspace, physical *schema.Table, asked *shard.Layout) (reshard.Outlook, error) {
	o := reshard.Outlook{Table: e.String(), From: e.Layout.N, To: asked.N, Refused: Refuse(ks, physical, e.Layout, asked), Notes: []string{}}
	if o.Refused == nil {
		o.Refused = []string{}
	}
	if e.Change != nil {
		o.Refused = append(o.Refused, "a change is under way already: "+e.Change.Step.String())
	}
	if len(o.Refused) > 0 {
		return o, nil
	}
	to := To(e.Layout, asked, top(e.Layout))
	got, err := m.count(ctx, e, physical, to)
	if err != nil {
		return o, err
	}
	o.Rows, o.RowsMoved = got.rows, float64(got.Total)
	o.Notes = append(o.Notes,
		fmt.Sprintf("the new shards are %d to %d", to.Base+1, to.Base+to.N),
		fmt.Sprintf("at most %d requests: each row that moves is copied once, read twice and deleted once; all rows are scanned five times", 4*got.Total),
		"until the old places are cleaned, rows that move are stored twice, and writes of them take two requests, one after the other",
		"a row's marker has no readable write time: a copied row gets its oldest cell's")
	return o, nil
}

// count reads the keys of all rows and counts the rows that a change to a layout would move.
func (m *Mover) count(ctx context.Context, e *catalog.Entry, physical *schema.Table, to *shard.Layout) (counts, error) {
	alone := &schema.Schema{Keyspaces: map[string]*schema.Keyspace{e.Keyspace: {Tables: map[string]*schema.Table{e.Physical: physical}}}}
	t, err := between(alone, e.Changing(to, reshard.Change{}))
	if err != nil {
		return counts{}, err
	}
	p := &pass{table: t, backend: m.backend, pace: newPace(m.opts.Now, m.opts.Clients), stamps: m.opts.Stamps, now: m.opts.Now, work: reshard.Wait, at: func(int64, counts, counts) error { return nil }}
	return p.run(ctx, math.MinInt64, counts{})
}
