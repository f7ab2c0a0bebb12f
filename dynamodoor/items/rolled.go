// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Under strategy rollover, the shards of a partition key are ranges of the sort key. The doors count
// in the directory (dynamodoor/catalog/rolled.go) the writes to the last shard. When these are as many as fill it,
// the next shard begins: after the greatest sort key in the last shard.
//
// No item may be in two shards. So no door may create an item at or after that sort key in the old
// shard when another one creates it in the new shard.
//
// If there are no other doors, this door holds a lock while it finds the sort key and writes the
// directory. Requests that may create items of the partition key hold the lock as readers.
//
// If there are other doors, what a door has read of a partition key is valid for a lease. After the
// store's answer, a door whose lease has ended reads the directory again. If the bounds have changed,
// the answer does not count: the door repeats a read, and reports the outcome of a write as unknown.
// The shard begins in steps. A door takes a step when it has known the one before for longer than a
// lease, so that all doors know it:
//
//  1. Announced: doors hold requests that may create items at or after the sort key. After a lease,
//     nobody creates such items. If the old shard has some nevertheless, the shard begins after these,
//     and this step begins again.
//  2. Readable: doors read such items in the new shard. After a lease, nobody reads them in the old
//     one.
//  3. Open: doors create them in the new shard.
//
// The waiting requests themselves take these steps. So if a door dies, the requests at other doors
// finish them.

// steps is about how often the doors update the count of a shard while it fills. A door draws one of
// many writes at random, and counts it for all of them. So a door that dies forgets no write.
const steps = 64

// counting limits the time in which a door counts writes and begins a shard.
const counting = 10 * time.Second

// errAgain says that the request must be planned again.
var errAgain = errors.New("items: the partition key has other shards")

// uses is what a request uses: tables, and partition keys of strategy rollover.
type uses struct {
	tables.Pinned
	rolled  map[string]usedKey
	missing []missingKey  // the partition keys that the door must read the directory for
	filled  []plan.Filled // the items that the request may create
}

type usedKey struct {
	key     *rolledKey
	state   *rolledState
	version uint64 // of the key's lock
	change  int64  // Change.Began of the change during which the key's shards stay as they are; 0: there is none
}

// missingKey is a partition key of a table of strategy rollover.
type missingKey struct {
	name   string // in the directory
	table  *plan.Table
	hash   attribute.Value
	change int64 // as in usedKey
}

// bounds returns the bounds of a partition key. If the door must read them first, it notes that.
func (r *Runner) bounds(by *uses, m missingKey) *plan.Rolled {
	if u, ok := by.rolled[m.name]; ok && u.change == m.change {
		return &u.state.Rolled
	}
	version := r.rolls.lock(m.name).version.Load()
	k := r.rolls.key(m.name)
	s := k.usable(m.change)
	if s == nil || m.change == 0 && r.age(s) > r.rolledFor()/2 {
		if !slices.ContainsFunc(by.missing, func(o missingKey) bool { return o.name == m.name }) {
			by.missing = append(by.missing, m)
		}
		return new(plan.Rolled)
	}
	by.use(m.name, usedKey{k, s, version, m.change})
	return &s.Rolled
}

func (by *uses) use(name string, u usedKey) {
	if by.rolled == nil {
		by.rolled = make(map[string]usedKey)
	}
	by.rolled[name] = u
}

// readMissing reads the directory for the partition keys that the plan of a request lacked.
func (r *Runner) readMissing(ctx context.Context, q api.Request, by *uses) error {
	for _, m := range by.missing {
		if m.change > 0 {
			// The door writes the directory with its own rights, so the client's rights are checked first.
			if err := r.Permitted(ctx, q, errPermitted); err != errPermitted {
				return err
			}
			s, err := r.freeze(ctx, m)
			if err != nil {
				return err
			}
			by.use(m.name, usedKey{state: s, change: m.change})
			continue
		}
		version := r.rolls.lock(m.name).version.Load()
		k := r.rolls.key(m.name)
		s := k.state.Load()
		valid := s != nil && r.age(s) <= r.rolledFor() // once: what is valid now may not be so a moment later
		if !valid || k.reading.TryLock() {
			if valid {
				k.reading.Unlock() // no other request is reading
			}
			var err error
			if s, err = r.readKey(ctx, k, r.rolledFor()/2); err != nil {
				return err
			}
		}
		by.use(m.name, usedKey{key: k, state: s, version: version})
	}
	return nil
}

// readKey returns the state of a partition key. If the door knows only a state that is older than the
// limit than, it reads the directory.
func (r *Runner) readKey(ctx context.Context, k *rolledKey, than time.Duration) (*rolledState, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	if s := k.state.Load(); s != nil && r.age(s) < than {
		return s, nil
	}
	if !r.Tables.Shared() { // else the door could store a state that has just become old, and keep it
		lock := r.rolls.lock(k.name)
		lock.RLock()
		defer lock.RUnlock()
	}
	return r.readDirectory(ctx, k)
}

// readDirectory reads the state of a partition key from the directory, and keeps it.
func (r *Runner) readDirectory(ctx context.Context, k *rolledKey) (*rolledState, error) {
	s, err := r.directoryNow(ctx, k.name, k.state.Load())
	if err == nil {
		k.state.Store(s)
	}
	return s, err
}

// directoryNow reads the state of a partition key from the directory. before is what the door knew before,
// or nil.
func (r *Runner) directoryNow(ctx context.Context, name string, before *rolledState) (*rolledState, error) {
	began := r.Now()
	all, err := r.Catalog.Beginnings(ctx, name)
	if err != nil {
		return nil, tables.DoorError(err)
	}
	s := stateOf(all, began, r.Now())
	if before != nil && before.last.Equal(&s.last) {
		s.since = before.since
	}
	return s, nil
}

// rolledHold reports, after the store has answered, whether the partition keys that a request used
// had the same shards within a lease of now.
func (r *Runner) rolledHold(ctx context.Context, q api.Request, by *uses) (bool, error) {
	if !r.Tables.Shared() {
		return true, nil
	}
	for _, u := range by.rolled {
		if u.change > 0 || r.age(u.state) <= r.rolledFor() {
			continue
		}
		now, err := r.readKey(ctx, u.key, 0)
		if err != nil {
			return false, err
		}
		switch q.(type) {
		case *api.PutItem, *api.UpdateItem:
			if !by.filled[0].Stays(&now.Rolled) {
				return false, nil
			}
		default:
			if !now.Rolled.Equal(&u.state.Rolled) {
				return false, nil
			}
		}
	}
	return true, nil
}

// fill carries out a request that may create items in tables of strategy rollover. It returns errAgain
// if the request must be planned again.
func (r *Runner) fill(ctx context.Context, p *plan.Direct, q api.Request, by *uses, use func(api.Response) error) error {
	by.filled = p.Filled
	for i := range p.Filled {
		if p.Filled[i].Held {
			if err := r.await(ctx, q, &p.Filled[i]); err != nil {
				return err
			}
			return errAgain
		}
	}
	unlock := func() {}
	if !r.Tables.Shared() {
		var same bool
		if unlock, same = r.rolls.hold(by); !same {
			unlock()
			return errAgain
		}
	}
	err := r.carryOut(ctx, p, q, use)
	unlock()
	if err == nil {
		r.count(ctx, p.Filled)
	}
	return err
}

// await waits until an item can be created, and takes the steps of its shard's beginning.
func (r *Runner) await(ctx context.Context, q api.Request, f *plan.Filled) error {
	// The door writes the directory with its own rights, so the client's rights are checked first.
	if err := r.Permitted(ctx, q, errPermitted); err != errPermitted {
		return err
	}
	grace := r.Tables.Grace() / 2
	k := r.rolls.key(f.Partition())
	for {
		s, err := r.readKey(ctx, k, grace/8)
		if err != nil || !f.HeldIn(&s.Rolled) {
			return err
		}
		wait := grace - r.Now().Sub(s.since)
		if wait <= 0 && k.stepping.TryLock() {
			err := r.step(ctx, f, k, s)
			k.stepping.Unlock()
			if err != nil {
				return err
			}
			continue
		}
		if err := tables.Wait(ctx, max(time.Millisecond, min(wait, grace/4))); err != nil {
			return err
		}
	}
}

// step takes the next step of the beginning of a partition key's last shard.
func (r *Runner) step(ctx context.Context, f *plan.Filled, k *rolledKey, s *rolledState) error {
	is := s.last
	next := is
	next.Step++
	greatest, beyond, err := r.greatest(ctx, f.In(is.Shard-1))
	if err != nil {
		return err
	}
	if c, ok := attribute.Compare(greatest, is.From); ok && c >= 0 {
		switch next.Step = catalog.Announced; {
		case beyond.Kind() != attribute.Invalid:
			next.From = beyond
		case is.Step == catalog.Announced:
			next.Step = 0 // nothing can follow the greatest sort key: the shard stays the last one
		}
	}
	if err := r.Catalog.MoveShard(ctx, k.name, is, next); err != nil {
		return tables.DoorError(err)
	}
	_, err = r.readKey(ctx, k, 0)
	return err
}

// greatest returns the greatest sort key in a shard, and the first one after it. They are Invalid if
// there is none.
func (r *Runner) greatest(ctx context.Context, f *plan.Filled) (greatest, after attribute.Value, err error) {
	ctx = principal.With(ctx, principal.Principal{})
	err = r.Backend.Answer(ctx, f.Greatest(), func(a api.Response) (err error) {
		greatest, after, err = f.Next(a.(*api.ItemsResponse))
		return err
	})
	return greatest, after, err
}

// count counts the creation of items in last shards, and begins the next shards of the partition
// keys whose last shard is full. If that fails, later writes try again.
func (r *Runner) count(ctx context.Context, filled []plan.Filled) {
	for i := range filled {
		f := &filled[i]
		layout := f.Table.Layout
		each := max(1, layout.Fill.Rows/steps)
		if !f.Last || !f.Roll() || r.Draw()%uint64(each) > 0 {
			continue
		}
		within, cancel := context.WithTimeout(principal.With(context.WithoutCancel(ctx), principal.Principal{}), counting)
		total, err := r.Catalog.CountWrites(within, f.Partition(), f.Shard, each)
		if err == nil && total >= layout.Fill.Rows {
			err = r.begin(within, f)
		}
		cancel()
		if err != nil {
			r.Log.Warn("dynamodb: the door cannot open the next shard of a partition key yet; a later write tries again", "table", f.Table.Logical.Name, "error", err)
		}
	}
}

// begin begins the shard after that of an item.
func (r *Runner) begin(ctx context.Context, f *plan.Filled) error {
	k := r.rolls.key(f.Partition())
	step := catalog.Announced
	if !r.Tables.Shared() {
		step = catalog.Open
		lock := r.rolls.lock(k.name)
		lock.Lock()
		defer lock.Unlock()
		defer lock.version.Add(1)
	}
	s, err := r.readDirectory(ctx, k)
	if err != nil {
		return err
	}
	if s.shards() != f.Shard || !r.thaws(k, s.frozen, f.Table) {
		return nil // another request has begun the shard, or requests go by a change of the table's layout
	}
	_, from, err := r.greatest(ctx, f)
	if err != nil || from.Kind() == attribute.Invalid {
		return err
	}
	k.state.Store(nil) // whatever becomes of the request
	if err := r.enter(ctx, k.name, s, catalog.Beginning{Shard: f.Shard + 1, From: from, Step: step}); err != nil {
		return err
	}
	_, err = r.readDirectory(ctx, k)
	return err
}

// enter adds a shard after the last one of a partition key, or the mark of a change, if the directory is as
// in a state.
func (r *Runner) enter(ctx context.Context, name string, is *rolledState, b catalog.Beginning) error {
	if is.frozen.Step == catalog.Frozen {
		return r.Catalog.MoveShard(ctx, name, is.frozen, b)
	}
	return r.Catalog.BeginShard(ctx, name, b)
}
