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
	"github.com/evenkeel/evenkeel/reshard"
)

// Catalogue is what a mover needs of package catalog.
type Catalogue interface {
	Entry(ctx context.Context, keyspace, table string) (*catalog.Entry, error)
	Publish(ctx context.Context, old, next *catalog.Entry) (*catalog.Entry, error)
	Schema(ctx context.Context, keyspaces ...string) (*schema.Schema, error)
	Adopt(ctx context.Context, e *catalog.Entry, like *schema.Keyspace) error
	Remove(ctx context.Context, e *catalog.Entry) error
	Agree(ctx context.Context) bool
}

// Doors are the doors in front of the store, this one among them.
type Doors interface {
	// Published tells them of an entry's generation, which the catalogue has by now.
	Published(ctx context.Context, e *catalog.Entry) error
	// Barrier waits until none of them goes by an earlier one. vanished says that some lost
	// their leases without acknowledging.
	Barrier(ctx context.Context, e *catalog.Entry) (vanished bool, err error)
	// Ended says that the change is over, and the doors know of it.
	Ended(ctx context.Context, e *catalog.Entry) error
	// Gone says that a table has no entry any more: it is plain, as it was.
	Gone(ctx context.Context, e *catalog.Entry) error
}

// Options are what a Mover needs from outside.
type Options struct {
	Store     store.Store
	Session   catalog.Session
	Catalogue Catalogue
	Doors     Doors
	Now       func() time.Time
	Self      [16]byte // who this mover is: another one each time a door starts

	// Hints is for how long the store may deliver a write late: 0 where it has no hints.
	Hints time.Duration

	// Poll is how often a mover that waits looks again. Default 200 ms.
	Poll time.Duration
	Log  *slog.Logger
}

// Mover carries out changes of layout. It is safe for concurrent use for several tables.
type Mover struct {
	opts    Options
	backend *backend
	moves   moves
}

// New makes a mover; it does nothing until it is asked.
func New(o Options) *Mover {
	if o.Poll <= 0 {
		o.Poll = 200 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Mover{opts: o, backend: &backend{store: o.Store}, moves: moves{session: o.Session}}
}

// Close ends the mover's link to the store.
func (m *Mover) Close() { m.backend.close() }

// errLost says that another mover has taken the change over, or that it has ended.
var errLost = errors.New("the change goes on without this mover")

// journey is one mover's part of one change.
type journey struct {
	*Mover
	entry   *catalog.Entry
	table   *Table
	record  record
	passed  int64     // generation of the layout whose barrier was passed
	without bool      // that barrier was passed without doors that have vanished
	quiet   time.Time // when the doors had all acknowledged settled
	written time.Time // when the record was
}

// Run takes a table's change over and carries it on until it is over, or another mover
// has taken it over in turn (no error), or something keeps it from going on.
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

// publish puts an entry in the place of the present one and tells the doors.
func (j *journey) publish(ctx context.Context, next *catalog.Entry) error {
	e, err := j.opts.Catalogue.Publish(ctx, j.entry, next)
	if err != nil {
		return err
	}
	j.entry = e
	return j.opts.Doors.Published(ctx, e)
}

// load reads the table, and where the change has come to.
func (j *journey) load(ctx context.Context) error {
	e := j.entry
	s, err := j.opts.Catalogue.Schema(ctx, e.Keyspace)
	if err != nil {
		return err
	}
	if j.table, err = between(s, e); err != nil && !(e.Second != nil && e.Change.Back && e.Change.Step != reshard.Switched && e.Change.Step != reshard.Switching) {
		return err // a second table that is only to be dropped need not be as it was
	}
	return j.begin(ctx)
}

// between is a table between the layouts of an entry, as the store has it.
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
	old, err := plan.NewTable(logical, e.Layout)
	if err != nil {
		return nil, err
	}
	next, err := plan.NewTable(logical, e.Next)
	if err != nil {
		return nil, err
	}
	return NewTable(from, to, old, next, e.Change.Started), nil
}

// sameColumns says whether two tables have the same columns, in the same order.
func sameColumns(a, b *schema.Table) bool {
	x, y := a.All(), b.All()
	return slices.EqualFunc(x, y, func(c, d *schema.Column) bool {
		return c.Name == d.Name && c.Kind == d.Kind && c.Desc == d.Desc && c.Type.String() == d.Type.String()
	})
}

// begin reads from where a step is gone on with.
func (j *journey) begin(ctx context.Context) error {
	records, err := j.moves.read(ctx, j.entry)
	if err != nil {
		return err
	}
	step := j.entry.Change.Generation
	at, before := furthest(records, step)
	j.record = record{Step: step, Owner: j.opts.Self, Begun: at.Begun, Position: at.Position, Settled: at.Settled, Sofar: at.Settled}
	switch j.entry.Change.Step { // a step that comes again counts anew
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
	t := time.NewTimer(j.opts.Poll)
	defer t.Stop()
	select {
	case <-t.C:
		return j.beat(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beat shows the other doors that the mover lives, at most each second.
func (j *journey) beat(ctx context.Context) error {
	if now := j.opts.Now(); now.Sub(j.written) >= time.Second {
		j.written = now
		j.record.Beat++
		return j.moves.write(ctx, j.entry, &j.record)
	}
	return nil
}

// look reads the entry anew: an operator may have paused the change or taken it back.
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

// goOn does what the protocol says, until the change is over.
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

// barrier waits for the doors, and shows meanwhile that the mover lives.
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
			if err == nil {
				j.passed, j.without = e.Layout.Generation, without
			}
			if c := e.Change; err == nil && without && c.Step == reshard.Announced && !c.Back && e.Layout.Plain() {
				// It may still forward to the plain table what it had judged before.
				back, err := c.TakeBack()
				if err != nil {
					return err
				}
				return j.publish(ctx, e.Changing(e.Next, back))
			}
			return err
		case <-time.After(j.opts.Poll):
			if err := j.beat(ctx); err != nil {
				return errors.Join(err, wait(cancel, done))
			}
			if err := j.look(ctx); err != nil || j.entry.Layout.Generation != e.Layout.Generation {
				return errors.Join(err, wait(cancel, done))
			}
		}
	}
}

// wait ends what waits for the doors.
func wait(cancel func(), done chan error) error {
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// isQuiet says whether nothing can come late to an old place any more.
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

// step publishes a step.
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

// do goes over the table with a kind of work.
func (j *journey) do(ctx context.Context, todo reshard.Work) error {
	if j.entry.Second != nil && (todo == reshard.Clean || todo == reshard.Discard) {
		j.entry.Change.Done = true // the table is dropped in the end
		return nil
	}
	only, err := j.partitions()
	if err != nil {
		return err
	}
	p := &pass{table: j.table, only: only, backend: j.backend, pace: newPace(), now: j.opts.Now, all: todo.AtAll(), work: todo}
	if todo == reshard.Copy && !j.record.Begun && j.record.Sofar.Total == 0 {
		p.work, p.all = reshard.Wait, false
		p.at = func(_ int64, _, _ counts) error { return j.progress(ctx, j.record.Sofar) } // a part of it is no total
		got, err := p.run(ctx, math.MinInt64, counts{})
		if err != nil {
			return j.interrupted(err)
		}
		j.record.Settled.Total, j.record.Sofar.Total = got.Total, got.Total
		p.work, p.all = todo, todo.AtAll()
	}
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
	// The table had writes meanwhile: what was found in the end counts.
	got.Total = max(got.Total, got.Moved, got.Verified)
	j.record.Begun, j.record.Position, j.record.Settled, j.record.Sofar = true, math.MaxInt64, got, got
	j.entry.Change.Done = true
	return j.moves.write(ctx, j.entry, &j.record)
}

// partitions are the physical partitions that a change is about, where it is about some keys
// alone; nil: about all.
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

// errAside says that a pass ends because the entry has changed.
var errAside = errors.New("the change was paused or taken back")

func (j *journey) interrupted(err error) error {
	if errors.Is(err, errAside) {
		return nil
	}
	return err
}

// progress keeps a pass's counts, and looks whether it is to go on.
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

// end takes the change's record away: the table has its layout.
func (j *journey) end(ctx context.Context) error {
	e := j.entry
	layout, result := *e.Next, reshard.ResultDone
	if e.Change.Step == reshard.Withdrawn {
		layout, result = *e.Layout, reshard.ResultTakenBack
	}
	layout.Used = max(top(e.Layout), top(e.Next))
	layout.Remains = j.record.Sofar.strays > 0
	if ofKeys(e.Layout, e.Next) { // the others were not looked at
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
