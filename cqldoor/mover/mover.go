// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// Catalogue is the part of package catalog that a mover needs.
type Catalogue interface {
	Entry(ctx context.Context, keyspace, table string) (*catalog.Entry, error)
	Publish(ctx context.Context, old, next *catalog.Entry) (*catalog.Entry, error)
	Schema(ctx context.Context, keyspaces ...string) (*schema.Schema, error)
	Adopt(ctx context.Context, e *catalog.Entry, like *schema.Keyspace) error
	Remove(ctx context.Context, e *catalog.Entry) error
	Agree(ctx context.Context) bool
	EnsureBuckets(ctx context.Context) error
	EnsureRollovers(ctx context.Context) error
	Spread(ctx context.Context, keyspace, table string) error
}

// Doors are the doors in front of the store, including this one.
type Doors interface {
	// Published tells the doors of an entry's generation, which the catalogue already has.
	Published(ctx context.Context, e *catalog.Entry) error
	// Barrier waits until no door uses an earlier generation. vanished reports whether some doors
	// lost their leases without acknowledging.
	Barrier(ctx context.Context, e *catalog.Entry) (vanished bool, err error)
	// Ended tells the doors that the change is over, and waits until they know.
	Ended(ctx context.Context, e *catalog.Entry) error
	// Gone tells the doors that a table has no entry any more: it is plain again.
	Gone(ctx context.Context, e *catalog.Entry) error
}

// Announce adds the bucket of a shard of a logical partition to the directory, if that has not been done,
// and repeats in it the deletions that are of all buckets (catalog.Buckets). t is of strategy time.
type Announce func(ctx context.Context, t *plan.Table, key [][]byte, shard int) error

// Options holds the external dependencies of a Mover.
type Options struct {
	Store     store.Store
	Session   catalog.Session
	Catalogue Catalogue
	Doors     Doors
	Now       func() time.Time
	Stamps    func() time.Time // the store's time, by which the mover stamps deletions and the beginning of a change; default Now
	Self      [16]byte         // identifies this mover; a door draws a new one each time it starts

	// Lease returns how long a door may go on without news of the catalogue. nil: there is one door alone.
	Lease func() time.Duration

	// Hints is how late the store may still deliver a write as a hint. 0: it has no hints.
	Hints time.Duration

	// Clients returns how this door has served its clients. The mover slows down when they wait
	// longer than without it. nil: this is unknown.
	Clients func() Served

	// Buckets is called before a row is copied to a bucket of time.
	Buckets Announce

	// Rollovers has the shards of the keys of tables of strategy rollover.
	Rollovers Rollovers

	// Poll is the interval at which a waiting mover looks again. Default 200 ms.
	Poll time.Duration
	Log  *slog.Logger
}

// Mover carries out changes of layout, of several tables concurrently.
type Mover struct {
	opts    Options
	backend *backend
	moves   moves
}

// New makes a mover. The mover does nothing until one of its methods is called.
func New(o Options) *Mover {
	if o.Poll <= 0 {
		o.Poll = 200 * time.Millisecond
	}
	if o.Stamps == nil {
		o.Stamps = o.Now
	}
	if o.Lease == nil {
		o.Lease = func() time.Duration { return 0 }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Mover{opts: o, backend: &backend{store: o.Store}, moves: moves{session: o.Session}}
}

// Close ends the mover's link to the store.
func (m *Mover) Close() { m.backend.close() }

// errLost reports that another mover has taken the change over, or that the change has ended.
var errLost = errors.New("the change goes on without this mover")

// journey is one mover's part of one change.
type journey struct {
	*Mover
	entry   *catalog.Entry
	table   *Table
	record  record
	passed  int64     // generation of the layout whose barrier has passed
	without bool      // that barrier passed without doors that had vanished
	quiet   time.Time // when all doors had acknowledged settled
	written time.Time // when the mover last wrote the record
	firsts  []first   // under a new layout of strategy rollover: the keys that have been given their first shards; nil: not yet
}

// Run takes over a table's change and carries it out until the change is over, another mover takes
// it over (no error), or an error stops it.
func (m *Mover) Run(ctx context.Context, keyspace, table string) error {
	if err := m.moves.ensure(ctx); err != nil {
		return err
	}
	e, err := m.opts.Catalogue.Entry(ctx, keyspace, table)
	if err != nil || e == nil || e.Change == nil {
		return err
	}
	j := &journey{Mover: m, entry: e}
	if e.Change.Owner != m.opts.Self {
		if err := j.publish(ctx, e.Changing(e.Next, e.Change.TakeOver(m.opts.Self))); err != nil {
			return settled(err)
		}
	} else if err := m.opts.Doors.Published(ctx, e); err != nil {
		return err
	}
	if err := j.load(ctx); err != nil {
		j.record = record{Step: j.entry.Change.Generation, Owner: m.opts.Self, Problem: err.Error()}
		return errors.Join(err, m.moves.write(ctx, j.entry, &j.record))
	}
	err = j.goOn(ctx)
	if err := settled(err); err != nil && ctx.Err() == nil && j.entry.Change != nil {
		j.record.Problem = err.Error()
		return errors.Join(err, m.moves.write(ctx, j.entry, &j.record))
	}
	return settled(err)
}

func settled(err error) error {
	if errors.Is(err, errLost) || errors.Is(err, catalog.ErrChanged) {
		return nil
	}
	return err
}

// publish replaces the current entry with next and tells the doors.
func (j *journey) publish(ctx context.Context, next *catalog.Entry) error {
	e, err := j.opts.Catalogue.Publish(ctx, j.entry, next)
	if err != nil {
		return err
	}
	j.entry = e
	return j.opts.Doors.Published(ctx, e)
}

// load reads the table and the progress of the change.
func (j *journey) load(ctx context.Context) error {
	e := j.entry
	s, err := j.opts.Catalogue.Schema(ctx, e.Keyspace)
	if err != nil {
		return err
	}
	if j.table, err = between(s, e); err != nil && !(e.Second != nil && e.Change.Back && e.Change.Step != reshard.Switched && e.Change.Step != reshard.Switching) {
		return err // a second table that will only be dropped may have changed
	}
	if j.table != nil {
		j.table.rollovers = j.opts.Rollovers
		j.table.known = e.Change.Known(j.opts.Lease(), underWay)
	}
	return j.begin(ctx)
}

// between returns a table between the two layouts of an entry, as the store has it.
func between(s *schema.Schema, e *catalog.Entry) (*Table, error) {
	from := s.Table(e.Keyspace, e.Physical)
	if from == nil || from.ID != e.PhysicalID() {
		return nil, fmt.Errorf("the table %s is gone", e)
	}
	logical, ok := catalog.Logical(from, e.Layout)
	if !ok {
		return nil, fmt.Errorf("the table %s has not the shape that its layout asks for", e)
	}
	to := from
	if e.Second != nil {
		to = s.Table(e.Keyspace, e.Second.Physical)
		if to == nil || to.ID != e.Second.ID {
			return nil, fmt.Errorf("the table %s.%s, which rows of %s are copied to, is gone; take the change back", e.Keyspace, e.Second.Physical, e)
		}
		if copied, ok := catalog.Logical(to, e.Next); !ok || !sameColumns(logical, copied) {
			return nil, fmt.Errorf("the table %s.%s has not the columns of %s, whose rows are copied to it; take the change back", e.Keyspace, e.Second.Physical, e)
		}
	}
	old, err := plan.NewKept(logical, plan.Kept{Layout: e.Layout, Physical: from.Name, ID: from.ID})
	if err != nil {
		return nil, err
	}
	next, err := plan.NewKept(logical, plan.Kept{Layout: e.Next, Physical: to.Name, ID: to.ID})
	if err != nil {
		return nil, err
	}
	return NewTable(from, to, old, next, e.Change.Started), nil
}

// sameColumns reports whether two tables have the same columns, in the same order.
func sameColumns(a, b *schema.Table) bool {
	x, y := a.All(), b.All()
	return slices.EqualFunc(x, y, func(c, d *schema.Column) bool {
		return c.Name == d.Name && c.Kind == d.Kind && c.Desc == d.Desc && c.Type.String() == d.Type.String()
	})
}

// begin reads the position from which the mover continues a step.
func (j *journey) begin(ctx context.Context) error {
	records, err := j.moves.read(ctx, j.entry)
	if err != nil {
		return err
	}
	step := j.entry.Change.Generation
	at, before := furthest(records, step)
	j.record = record{Step: step, Owner: j.opts.Self, Begun: at.Begun, Position: at.Position, Settled: at.Settled, Sofar: at.Settled}
	switch j.entry.Change.Step { // a repeated step counts anew
	case reshard.Announced:
		before.Moved = 0
	case reshard.Switching:
		before.Verified = 0
	}
	if !at.Begun {
		j.record.Position = math.MinInt64
		j.record.Settled, j.record.Sofar = before, before
	}
	for _, r := range records {
		if r.Step == step && r.Owner == j.opts.Self {
			j.record.Beat = r.Beat
		}
		j.record.Sofar.Total = max(j.record.Sofar.Total, r.Sofar.Total)
		j.record.Settled.Total = j.record.Sofar.Total
	}
	return nil
}

func (j *journey) pause(ctx context.Context) error {
	if err := deadline.Sleep(ctx, j.opts.Poll); err != nil {
		return err
	}
	return j.beat(ctx)
}

// beat shows the other doors that the mover is alive, at most once a second.
func (j *journey) beat(ctx context.Context) error {
	if now := j.opts.Now(); now.Sub(j.written) >= time.Second {
		j.written = now
		j.record.Beat++
		return j.moves.write(ctx, j.entry, &j.record)
	}
	return nil
}

// look reads the entry again: an operator may have paused the change or taken it back.
func (j *journey) look(ctx context.Context) error {
	e, err := j.opts.Catalogue.Entry(ctx, j.entry.Keyspace, j.entry.Table)
	switch {
	case err != nil:
		return err
	case e == nil || e.Change == nil || e.Change.Owner != j.opts.Self || e.ID != j.entry.ID || e.Change.Counter != j.entry.Change.Counter:
		return errLost
	}
	done := j.entry.Change.Done && e.Change.Generation == j.entry.Change.Generation
	j.entry = e
	e.Change.Done = e.Change.Done || done
	return nil
}

// goOn carries out the protocol's work until the change is over.
func (j *journey) goOn(ctx context.Context) error {
	for {
		if err := j.look(ctx); err != nil {
			return err
		}
		c := *j.entry.Change
		todo, next := c.Next(reshard.Facts{Barrier: j.passed == j.entry.Layout.Generation, Vanished: j.without, Quiet: j.isQuiet(c)})
		switch {
		case !c.Paused && j.passed != j.entry.Layout.Generation:
			if err := j.barrier(ctx); err != nil {
				return err
			}
		case todo == reshard.Wait:
			if err := j.pause(ctx); err != nil {
				return err
			}
		case todo == reshard.Publish:
			if err := j.step(ctx, c, next); err != nil {
				return err
			}
		case todo == reshard.End:
			return j.end(ctx)
		default:
			if err := j.do(ctx, todo); err != nil {
				return err
			}
		}
	}
}

// barrier waits for the doors and beats meanwhile.
func (j *journey) barrier(ctx context.Context) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	e := j.entry
	without := false
	go func() {
		var err error
		without, err = j.opts.Doors.Barrier(waiting, e)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			if c := e.Change; e.Second != nil && c.Step.Revocable() && !c.Back {
				if why, err := j.against(ctx, e); err != nil {
					return err
				} else if why != "" {
					return j.takeBack(ctx, e, why)
				}
			}
			j.passed, j.without = e.Layout.Generation, without
			return nil
		case <-time.After(j.opts.Poll):
			err := j.beat(ctx)
			if err == nil {
				err = j.look(ctx)
			}
			if err != nil || j.entry.Layout.Generation != e.Layout.Generation {
				cancel()
				<-done // its error is that it was given up
				return err
			}
		}
	}
}

// takeBack takes the change back for a reason that was found after the change had begun.
func (j *journey) takeBack(ctx context.Context, e *catalog.Entry, why string) error {
	j.opts.Log.Warn("a change of layout is taken back", "table", e.String(), "why", why)
	back, err := e.Change.TakeBack()
	if err != nil {
		return err
	}
	return j.publish(ctx, e.Changing(e.Next, back))
}

// isQuiet reports whether no write can reach an old place late any more.
func (j *journey) isQuiet(c reshard.Change) bool {
	if c.Step != reshard.Settled || j.opts.Hints == 0 || c.Hurry {
		return true
	}
	if j.passed != j.entry.Layout.Generation {
		return false
	}
	if j.quiet.IsZero() {
		j.quiet = j.opts.Now()
	}
	return j.opts.Now().Sub(j.quiet) >= j.opts.Hints
}

// step publishes the next step.
func (j *journey) step(ctx context.Context, c reshard.Change, next reshard.Step) error {
	n, err := c.Publish(next)
	if err != nil {
		return err
	}
	if err := j.moves.write(ctx, j.entry, &j.record); err != nil {
		return err
	}
	if err := j.publish(ctx, j.entry.Changing(j.entry.Next, n)); err != nil {
		return err
	}
	j.opts.Log.Info("a change of layout goes on", "table", j.entry.String(), "step", next.String())
	return j.begin(ctx)
}

// do goes over the table and does one kind of work.
func (j *journey) do(ctx context.Context, todo reshard.Work) error {
	if j.entry.Second != nil && (todo == reshard.Clean || todo == reshard.Discard) {
		j.entry.Change.Done = true // the mover drops the table at the end
		return nil
	}
	only, err := j.partitions()
	if err != nil {
		return err
	}
	if todo == reshard.Copy && !j.record.Begun {
		if ready, err := j.prepare(ctx, only); err != nil || !ready {
			return j.interrupted(err)
		}
	}
	j.table.fix()
	p := j.pass(todo, only)
	p.alive = func() error { return j.beat(ctx) }
	begun, first := j.opts.Now(), j.record.Settled
	p.at = func(token int64, before, sofar counts) error {
		j.record.Begun, j.record.Position, j.record.Settled = true, token, before
		if s := j.opts.Now().Sub(begun).Seconds(); s > 0 {
			j.record.Store = p.pace.latency()
			j.record.Rate = int64(float64(sofar.Moved+sofar.Verified-first.Moved-first.Verified) / s)
		}
		return j.progress(ctx, sofar)
	}
	got, err := p.run(ctx, j.record.Position, j.record.Settled)
	if err != nil {
		return j.interrupted(err)
	}
	// The table received writes meanwhile: the final figures count.
	got.Total = max(got.Total, got.Moved, got.Verified)
	j.record.Begun, j.record.Position, j.record.Settled, j.record.Sofar = true, math.MaxInt64, got, got
	j.entry.Change.Done = true
	return j.moves.write(ctx, j.entry, &j.record)
}

// pass returns a pass over the table, or over some of its physical partitions.
func (j *journey) pass(todo reshard.Work, only [][][]byte) *pass {
	return &pass{table: j.table, only: only, backend: j.backend, buckets: j.opts.Buckets, pace: newPace(j.opts.Now, j.opts.Clients),
		now: j.opts.Now, stamps: j.opts.Stamps, all: todo.AtAll(), work: todo}
}

// partitions returns the physical partitions that a change of some keys concerns. It returns nil
// for a change of all keys.
func (j *journey) partitions() ([][][]byte, error) {
	from, to := j.entry.Layout, j.entry.Next
	if !ofKeys(from, to) {
		return nil, nil
	}
	var out [][][]byte
	n := len(j.table.from.physical.PartitionKey) - 1
	for _, key := range from.Keys.Changed(to.Keys) {
		parts, err := plan.SplitKey([]byte(key), n)
		if err != nil {
			return nil, fmt.Errorf("the key 0x%x of a change: %w", key, err)
		}
		places := slices.Concat(j.table.old.Shards(parts), j.table.new.Shards(parts))
		slices.Sort(places)
		for _, shard := range slices.Compact(places) {
			out = append(out, append(slices.Clone(parts), integer(int32(shard))))
		}
	}
	return out, nil
}

// errAside reports that a pass ends because the entry has changed.
var errAside = errors.New("the change was paused or taken back")

func (j *journey) interrupted(err error) error {
	if errors.Is(err, errAside) {
		return nil
	}
	return err
}

// progress writes a pass's counts and returns an error if the pass must not continue.
func (j *journey) progress(ctx context.Context, sofar counts) error {
	j.record.Sofar = sofar
	if j.opts.Now().Sub(j.written) < j.opts.Poll {
		return nil
	}
	j.written = j.opts.Now()
	j.record.Beat++
	if err := j.moves.write(ctx, j.entry, &j.record); err != nil {
		return err
	}
	generation := j.entry.Layout.Generation
	if err := j.look(ctx); err != nil {
		return err
	}
	if j.entry.Layout.Generation != generation {
		return errAside
	}
	return nil
}

// end removes the change from the entry: the table has its final layout.
func (j *journey) end(ctx context.Context) error {
	e := j.entry
	layout, result := *e.Next, reshard.ResultDone
	if e.Change.Step == reshard.Withdrawn {
		layout, result = *e.Layout, reshard.ResultTakenBack
	}
	layout.Used = max(top(e.Layout), top(e.Next))
	layout.Remains = j.record.Sofar.strays > 0
	switch {
	case e.Second == nil:
	case e.Change.Step == reshard.Cleaned: // the second table has the rows of this change only
		layout.Used, layout.Remains = top(e.Next), false
		if layout.Strategy == shard.Time || layout.Strategy == shard.Rollover {
			layout.Used = 0 // these shards have no base
		}
	default: // the first table is as it was
		layout.Used, layout.Remains = e.Layout.Used, e.Layout.Remains
	}
	if ofKeys(e.Layout, e.Next) { // the pass did not look at the other keys
		layout.Remains = layout.Remains || e.Layout.Remains
	}
	layout.Generation = e.Layout.Generation
	if err := j.moves.keep(ctx, e, last{time.UnixMicro(e.Change.Started), j.opts.Now(), result, j.record.Sofar}); err != nil {
		return err
	}
	next := e.With(&layout)
	if e.Second != nil && e.Change.Step == reshard.Cleaned {
		next = e.Filled(&layout)
	}
	over, err := j.opts.Catalogue.Publish(ctx, e, next)
	if err != nil {
		return err
	}
	j.entry = over
	if err := j.opts.Doors.Ended(ctx, over); err != nil {
		return err
	}
	j.opts.Log.Info("a change of layout is over", "table", e.String(), "step", e.Change.Step.String(), "moved", j.record.Sofar.Moved, "verified", j.record.Sofar.Verified)
	if err := j.moves.forget(ctx, e); err != nil || over.Second == nil {
		return err
	}
	return j.tidy(ctx, over)
}
