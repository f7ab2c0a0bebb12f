// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// longest is how long one page of the mover is tried again.
const longest = time.Minute

const (
	moverPage   = 100                    // items that are looked at together
	moverLooks  = time.Second            // how often it looks for changes
	aloneLooks  = 100 * time.Millisecond // where no other door is, which takes a look into memory
	rateOver    = time.Second            // what it takes to tell a rate
	moverIsGone = 30 * time.Second       // after how long without progress another door goes on
)

// Run carries changes of tables' layouts on until the context ends.
func (r *Mover) Run(ctx context.Context) {
	type look struct {
		beat int64
		at   time.Time
	}
	seen := make(map[string]look)
	var at sync.Map // names of tables that it is at
	var all sync.WaitGroup
	defer all.Wait()
	looks := moverLooks
	if !r.Tables.Shared() {
		looks = aloneLooks
	}
	for r.Tables.Wait(ctx, looks) == nil {
		if r.Tables.Shared() {
			if err := r.Tables.Current(ctx); err != nil {
				continue // which the log has, and is tried again
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
					if seen[name] = (look{p.Beat, time.Now()}); known || p.Beat > 0 {
						continue // somebody is at it
					}
				} else if p.Beat > 0 && time.Since(l.at) < moverIsGone {
					continue
				}
			}
			delete(seen, name)
			at.Store(name, nil)
			all.Go(func() { // some steps wait for long
				defer at.Delete(name)
				r.carryOn(ctx, name)
			})
		}
	}
}

// carryOn carries a change on as far as it goes.
func (r *Mover) carryOn(ctx context.Context, name string) {
	var err error
	for more := true; more && err == nil; {
		more, err = r.StepChange(ctx, name)
	}
	if err == nil || ctx.Err() != nil {
		r.problems.Delete(name)
		return
	}
	r.problems.Store(name, err.Error())
	r.Log.Warn("dynamodb: a change of a table's layout does not go on, and is tried again", "table", name, "error", err)
}

// StepChange carries the change of a table's layout on by one step. more is false where it
// is done, or paused.
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
	m := &turn{mover: r, e: e, progress: p}
	done, err := m.step(ctx)
	if err != nil || !done {
		return false, err
	}
	now := m.current()
	if now == nil {
		return true, nil // somebody else was here
	}
	now, err = r.Tables.Advance(ctx, now, nextStep(now))
	return err == nil && now.Change != nil, err
}

// nextStep is the change of an entry to its next step, or to the end of the change.
func nextStep(e *tables.Entry) func(*catalog.Entry) error {
	return func(n *catalog.Entry) error {
		next := e.Shift.Step.Next()
		if next == protocol.Cleaning {
			n.Floor = n.Layout.Generation // in which it was settled
		}
		n.Layout.Generation++
		if next == protocol.None {
			return end(n)
		}
		n.Change.Step = next.String()
		return nil
	}
}

// barrier waits until no request goes by a state of the table before the present one.
func (r *Mover) barrier(ctx context.Context, e *tables.Entry) error {
	if r.Tables.Shared() {
		return r.Tables.Wait(ctx, r.Tables.Grace())
	}
	for e.BusyBefore() {
		if err := r.Tables.Wait(ctx, 5*time.Millisecond); err != nil {
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

// step does it; it returns false where the change is another by now.
func (m *turn) step(ctx context.Context) (done bool, err error) {
	switch m.e.Shift.Step {
	case protocol.Moving, protocol.Closing, protocol.Cleaning:
		if m.e.Shift.Step == protocol.Closing {
			m.progress.Verified = 0
		}
		return m.pass(ctx)
	case protocol.Looking:
		m.progress.Moved, m.progress.Verified, m.progress.Generation = 0, 0, 0 // which may be those of a change that was taken back
		if err := m.beat(ctx); err != nil {
			return false, err
		}
	case protocol.Settled:
		for begun := time.Now(); time.Since(begun) < m.mover.Caution; {
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
			if err := m.mover.Tables.Wait(ctx, moverLooks); err != nil {
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

// current is the table's entry, if the change is still in this step.
func (m *turn) current() *tables.Entry {
	now := m.mover.Tables.Entry(m.e.Table)
	if now == nil || now.Change == nil || !now.IsState(m.e) {
		return nil
	}
	return now
}

func (m *turn) beat(ctx context.Context) error {
	m.progress.Beat++
	return m.mover.Catalog.KeepProgress(ctx, m.e.Table, m.progress)
}

// pass goes through all items, from where a mover before has come to.
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
	for since, looked := time.Now(), int64(0); ; {
		now := m.current()
		if now == nil || now.Change.Paused {
			return false, nil
		}
		begun := time.Now()
		page, err := m.mover.Items.ShiftStore(tables.PinnedTo(now), time.Now().Add(longest)).Pass(ctx, now.Shift, from, moverPage)
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
		if took := time.Since(since); took > rateOver {
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
		// What the store does for others goes first: rest for as long as the page took.
		if err := m.mover.Tables.Wait(ctx, time.Since(begun)); err != nil {
			return false, err
		}
	}
}
