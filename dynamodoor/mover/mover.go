// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// longest is the time for which the mover retries one page.
const longest = time.Minute

const (
	moverPage   = 100                    // items in one page
	moverLooks  = time.Second            // interval at which the mover looks for changes
	aloneLooks  = 100 * time.Millisecond // the interval if there is no other door; a look then only reads memory
	rateOver    = time.Second            // time after which the mover computes a rate
	moverIsGone = 30 * time.Second       // time without progress after which another door takes over
)

// Run carries out changes of tables' layouts until the context ends.
func (r *Mover) Run(ctx context.Context) {
	type look struct {
		beat int64
		at   time.Time
	}
	seen := make(map[string]look)
	var at sync.Map // names of the tables that this mover works on
	var all sync.WaitGroup
	defer all.Wait()
	looks := moverLooks
	if !r.Tables.Shared() {
		looks = aloneLooks
	}
	for tables.Wait(ctx, looks) == nil {
		if r.Tables.Shared() {
			if err := r.Tables.Current(ctx); err != nil {
				continue // Current has logged the error; the next look tries again
			}
		}
		for name, e := range r.Tables.All() {
			if e.Change == nil || e.Wrong != nil {
				delete(seen, name)
				continue
			}
			if _, is := at.Load(name); is {
				continue
			}
			if r.Tables.Shared() {
				p, err := r.Catalog.Progress(ctx, name)
				l, known := seen[name]
				if err != nil || !known || l.beat != p.Beat {
					if seen[name] = (look{p.Beat, r.Now()}); known || p.Beat > 0 {
						continue // another mover works on it
					}
				} else if p.Beat > 0 && r.Now().Sub(l.at) < moverIsGone {
					continue
				}
			}
			delete(seen, name)
			at.Store(name, nil)
			all.Go(func() { // some steps wait for a long time
				defer at.Delete(name)
				r.carryOn(ctx, name)
				if e := r.Tables.Entry(name); e == nil || e.Change == nil {
					r.kept.Delete(name)
				}
			})
		}
	}
}

// carryOn carries out a change as far as it can.
func (r *Mover) carryOn(ctx context.Context, name string) {
	var err error
	for more := true; more && err == nil; {
		more, err = r.StepChange(ctx, name)
	}
	if e := r.Tables.Entry(name); err == nil && e != nil && e.Change != nil && e.Change.Paused {
		return // a problem may have paused it
	}
	if err == nil || ctx.Err() != nil {
		r.problems.Delete(name)
		return
	}
	r.problems.Store(name, err.Error())
	r.Log.Warn("dynamodb: a change of a table's layout cannot go on; the mover tries again", "table", name, "error", err)
}

// StepChange carries out one step of the change of a table's layout. more is false if the change is
// done or paused.
func (r *Mover) StepChange(ctx context.Context, name string) (more bool, err error) {
	p, err := r.Catalog.Progress(ctx, name)
	if err != nil {
		return false, err
	}
	e := r.Tables.Entry(name)
	if e == nil || e.Change == nil || e.Change.Paused {
		return false, nil
	}
	if err := r.barrier(ctx, e); err != nil {
		return false, err
	}
	r.kept.Store(name, p)
	if ours, more, err := r.stepSecond(ctx, e); ours {
		return more, err
	}
	m := &turn{mover: r, e: e, progress: p}
	done, err := m.step(ctx)
	if err != nil || !done {
		return false, err
	}
	now := m.current()
	if now == nil {
		return true, nil // another request or mover has changed the entry
	}
	next := nextStep(now)
	if now.Change.Second != "" && now.Shift.Step.Next() == protocol.Cleaning {
		second, err := r.Tables.Physical(ctx, now.Change.Second)
		if err != nil || second == nil {
			return false, errors.Join(err, fmt.Errorf("table %s, which has all items of table %s, is not there", now.Change.Second, name))
		}
		next = func(n *catalog.Entry) error {
			toSecond(n, second.ID)
			return nil
		}
		m.progress.ID = second.ID
		if err := m.beat(ctx); err != nil {
			return false, err
		}
	}
	now, err = r.Tables.Advance(ctx, now, next)
	return err == nil && now.Change != nil, err
}

// nextStep returns the function that moves an entry to the change's next step, or to its end.
func nextStep(e *tables.Entry) func(*catalog.Entry) error {
	return func(n *catalog.Entry) error {
		next := e.Shift.Step.Next()
		if next == protocol.Cleaning {
			n.Floor = n.Layout.Generation // the generation in which the change was settled
		}
		n.Layout.Generation++
		if next == protocol.None {
			return end(n)
		}
		n.Change.Step = next.String()
		return nil
	}
}

// barrier waits until no request uses an earlier state of the table.
func (r *Mover) barrier(ctx context.Context, e *tables.Entry) error {
	if r.Tables.Shared() {
		return tables.Wait(ctx, r.Tables.Grace())
	}
	if e.Change.Step == catalog.Preparing {
		if err := r.Tables.Forwarded.Passed(ctx); err != nil {
			return err
		}
	}
	for e.BusyBefore() {
		if err := tables.Wait(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// turn does the work of one step of a change.
type turn struct {
	mover    *Mover
	e        *tables.Entry
	progress catalog.Progress
}

// step does the work. It returns false if the change is no longer in this step, or is paused.
func (m *turn) step(ctx context.Context) (done bool, err error) {
	switch m.e.Shift.Step {
	case protocol.Moving, protocol.Closing, protocol.Cleaning:
		if m.e.Shift.Step == protocol.Closing {
			m.progress.Verified = 0
		}
		done, err = m.pass(ctx)
		if done && err == nil && m.e.Shift.Step == protocol.Cleaning && m.e.Plan.InDirectory() {
			m.mover.forget(ctx, m.e.Table, m.e.Plan.Directory())
		}
		return done, err
	case protocol.Looking:
		m.progress.Moved, m.progress.Verified, m.progress.Generation = 0, 0, 0 // the figures may belong to a change that was taken back
		if err := m.beat(ctx); err != nil {
			return false, err
		}
		if m.e.Change.Key != "" || m.e.Shift.NeedsRoom() {
			if err := m.surveyAgain(ctx); err != nil {
				return false, err
			}
		}
	case protocol.Settled:
		for begun := m.mover.Now(); m.mover.Now().Sub(begun) < m.mover.Caution; {
			now := m.current()
			if now == nil || now.Change.Paused {
				return false, nil
			}
			if now.Change.Hurry {
				break
			}
			if err := m.beat(ctx); err != nil {
				return false, err
			}
			if err := tables.Wait(ctx, moverLooks); err != nil {
				return false, err
			}
			if m.mover.Tables.Shared() {
				if err := m.mover.Tables.Current(ctx); err != nil {
					return false, err
				}
			}
		}
	}
	now := m.current()
	if now == nil {
		return false, nil
	}
	m.e = now
	return !now.Change.Paused, nil
}

// forgetting is how long a mover may clean the directory.
const forgetting = 20 * time.Second

// forget removes what the directory has of a layout that a table does not have any more. Nobody reads what
// remains.
func (r *Mover) forget(ctx context.Context, table string, directories ...string) {
	within, cancel := context.WithTimeout(ctx, forgetting)
	defer cancel()
	if err := r.Catalog.ForgetBuckets(within, directories...); err != nil {
		r.Log.Warn("dynamodb: the directory keeps entries of a table's earlier layout, which nobody reads", "table", table, "error", err)
	}
}

// surveyAgain reads the items once more, now that all doors know what they must not write. Before, they
// could take items that have no room in their new places, or whose sort keys tell no time. If an item
// cannot move, the change pauses: it can go on once that is mended, or be taken back.
func (m *turn) surveyAgain(ctx context.Context) error {
	check := func(attribute.Item) error { return nil }
	if m.e.Change.Second != "" {
		check = func(item attribute.Item) error { return m.e.Plan.CheckReserved(item, true) }
	}
	var s survey
	err := m.working(ctx, func(ctx context.Context) (err error) {
		ctx = principal.With(ctx, principal.Principal{})
		if m.e.Change.Key != "" {
			s, err = m.mover.surveyKey(ctx, m.e.Shift)
			return err
		}
		s, err = m.mover.surveyAll(ctx, m.e.Shift, check)
		return err
	})
	if exception.Is(err, exception.Validation) {
		pause := m.mover.amend(ctx, m.e, func(c *catalog.Change) { c.Paused = true })
		return errors.Join(err, pause)
	}
	if err == nil {
		m.progress.Items, m.progress.Moves = s.items, s.moves
		err = m.beat(ctx)
	}
	return err
}

// working calls do, and meanwhile shows other doors that this mover works.
func (m *turn) working(ctx context.Context, do func(context.Context) error) error {
	group, all := errgroup.WithContext(ctx)
	done := make(chan struct{})
	group.Go(func() error {
		defer close(done)
		return do(all)
	})
	group.Go(func() error {
		tick := time.NewTicker(moverIsGone / 6)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return nil
			case <-tick.C:
			}
			if err := m.beat(all); err != nil {
				return err
			}
		}
	})
	return group.Wait()
}

// current returns the table's entry if the change is still in this step.
func (m *turn) current() *tables.Entry {
	now := m.mover.Tables.Entry(m.e.Table)
	if now == nil || now.Change == nil || !now.IsState(m.e) {
		return nil
	}
	return now
}

func (m *turn) beat(ctx context.Context) error {
	m.progress.Beat++
	m.mover.kept.Store(m.e.Table, m.progress)
	return m.mover.Catalog.KeepProgress(ctx, m.e.Table, m.progress)
}

// pass goes over all items, starting at the position that an earlier mover reached.
func (m *turn) pass(ctx context.Context) (done bool, err error) {
	var from attribute.Item
	if m.progress.Generation == m.e.Layout.Generation && m.progress.Position != "" {
		if from, err = new(attribute.Decoder).Item(attribute.Encoded(m.progress.Position)); err != nil {
			return false, err
		}
	} else {
		m.progress.ID, m.progress.Generation, m.progress.Position, m.progress.Looked = m.e.ID, m.e.Layout.Generation, "", 0
		m.progress.Arrived = 0
		if m.e.Shift.Step == protocol.Moving {
			m.progress.Total = 0
		}
	}
	for since, looked := m.mover.Now(), int64(0); ; {
		now := m.current()
		if now == nil || now.Change.Paused {
			return false, nil
		}
		begun := m.mover.Now()
		store := m.mover.Items.ShiftStore(tables.PinnedTo(now), time.Now().Add(longest))
		page, err := store.Pass(ctx, store.Of(now.Table), from, moverPage)
		if err != nil {
			return false, err
		}
		switch now.Shift.Step {
		case protocol.Moving:
			m.progress.Total += page.Seen
		case protocol.Closing:
			m.progress.Verified += page.Seen
		}
		m.progress.Moved += page.Moved
		m.progress.Arrived += page.Arrived
		if now.Shift.Step == protocol.Closing && page.Next == nil {
			m.progress.Moved = m.progress.Arrived // requests have moved items, too
		}
		looked += page.Read
		m.progress.Looked += page.Read
		if took := m.mover.Now().Sub(since); took > rateOver {
			m.progress.Rate = max(1, looked*int64(time.Second)/int64(took))
		}
		from = page.Next
		m.progress.Position = ""
		if from != nil {
			m.progress.Position = string(from.Encode())
		}
		if err := m.beat(ctx); err != nil {
			return false, errors.Join(errors.New("note how far the mover is"), err)
		}
		if from == nil {
			m.progress.Generation = 0
			return true, nil
		}
		// The store's other work goes first: rest for as long as the page took.
		if err := tables.Wait(ctx, m.mover.Now().Sub(begun)); err != nil {
			return false, err
		}
	}
}
