// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// While a table of strategy rollover gets another layout, the shards of its partition keys must stay as
// they are: an item's old place must not become another one. A door that does not know of the change yet,
// or that was stopped, may be about to begin a shard. So before a door or the mover uses a partition key
// during the change, it puts a mark into the directory, where the next shard would have its entry. The
// condition of the other door's write then fails.
//
// The mark has the number of the change. If the change is taken back, the marks stay, and a door replaces
// one when it begins the key's next shard. It knows then that the mark's change is over, but another one
// may have begun. So the mark of an earlier change does not count: a door replaces it by its own. A write
// that replaces a mark has the condition that the mark is still the same. When a change has ended, other
// requests may still go by it. So the door waits until there are none: for other doors, longer than a lease.
// It does not hold requests up for that, but later writes try again.
//
// If a shard has begun and is not open yet, doors that do not know of the change may read items in that
// shard, or hold back writes. So its beginning is brought to its end before the key gets the mark.

// freeze returns the shards of a partition key during a change. They stay as they are until it ends.
func (r *Runner) freeze(ctx context.Context, m missingKey) (*rolledState, error) {
	k := r.rolls.key(m.name)
	if s := k.usable(m.change); s != nil {
		return s, nil
	}
	grace := r.Tables.Grace() / 2
	var before *rolledState
	for {
		s, err := r.directoryNow(ctx, m.name, before)
		if err != nil {
			return nil, err
		}
		before = s
		switch begun := s.last.Step; {
		case s.frozen.Change == m.change, Off(OwnMark) && s.frozen.Step == catalog.Frozen, Off(FrozenFirst):
			k.frozen.Store(s)
			return s, nil
		case s.frozen.Change > m.change:
			return nil, tables.BeingChanged(m.table.Logical.Name) // the door has missed the end of its change
		case begun == 0, begun == catalog.Open, begun == catalog.Readable && Off(OpenedFirst):
			mark := catalog.Beginning{Shard: len(s.Bounds) + 2, Step: catalog.Frozen, Change: m.change}
			if err := r.enter(ctx, m.name, s, mark); err != nil {
				return nil, tables.DoorError(err)
			}
		default:
			wait := grace - r.Now().Sub(s.since)
			if wait <= 0 && k.stepping.TryLock() {
				err = r.step(ctx, m.table.FirstOf(m.hash), k, s)
				k.stepping.Unlock()
			} else {
				err = tables.Wait(ctx, max(time.Millisecond, min(wait, grace/4)))
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// usable returns the door's knowledge of a partition key that counts during a change; 0: there is none. It
// returns nil if the door does not know the key.
func (k *rolledKey) usable(change int64) *rolledState {
	if change == 0 {
		return k.state.Load()
	}
	if s := k.frozen.Load(); s != nil && s.frozen.Change == change {
		return s
	}
	return nil
}

// thawing is when a door first knew that the change of a mark was over.
type thawing struct {
	mark  catalog.Beginning
	since time.Time
}

// thaws reports whether a door that uses a table may begin a shard in the place of a partition key's mark.
func (r *Runner) thaws(k *rolledKey, mark catalog.Beginning, t *plan.Table) bool {
	switch {
	case mark.Step != catalog.Frozen:
		return true
	case mark.Change >= t.Layout.Generation && !Off(MarkStays):
		return false
	case Off(MarkOutlasts):
		return true
	case !r.Tables.Shared():
		e := r.Tables.Entry(t.Logical.Name)
		return e != nil && e.InUse() && !e.BusyBefore()
	}
	known := k.thawing.Load()
	if known == nil || !known.mark.Equal(&mark) {
		k.thawing.Store(&thawing{mark, r.Now()})
		return false
	}
	return r.Now().Sub(known.since) > r.Tables.Grace()
}
