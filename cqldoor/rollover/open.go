// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// Run announces and opens shards until ctx is done.
func (o *Rollovers) Run(ctx context.Context) {
	tick := time.NewTicker(o.x.Doors.LookEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, tables.RefreshLimit)
		if err := o.Step(within); err != nil && ctx.Err() == nil {
			o.x.Opts.Log.Warn("the door cannot open the next shard of a key yet; it tries again", "error", err)
		}
		cancel()
	}
}

// Step looks at the fills that are due. If a shard will soon be full, it announces the key's next shard. Then it
// opens the shards that this door has announced and every door knows. It returns the first error.
func (o *Rollovers) Step(ctx context.Context) error {
	o.mu.Lock()
	due := o.due
	o.due = nil
	o.mu.Unlock()
	for i, f := range due {
		err := o.look(ctx, f)
		if err != nil {
			o.mu.Lock()
			o.due = append(o.due, due[i:]...)
			o.mu.Unlock()
			return err
		}
	}
	if err := o.addAnnounced(ctx); err != nil {
		return err
	}
	ripe := o.ripe()
	for _, at := range ripe {
		if err := o.OpenNext(ctx, at); err != nil {
			return err
		}
		o.mu.Lock()
		delete(o.announced, at)
		o.mu.Unlock()
	}
	if len(ripe) > 0 {
		return o.CatchUpAll(ctx)
	}
	return nil
}

// addAnnounced adds the shards that this door has announced since the last call to the State.
func (o *Rollovers) addAnnounced(ctx context.Context) error {
	var unknown []*announcement
	o.mu.Lock()
	for _, a := range o.announced {
		if !a.inState {
			unknown = append(unknown, a)
		}
	}
	o.mu.Unlock()
	if len(unknown) == 0 {
		return nil
	}
	if err := o.CatchUpAll(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	for _, a := range unknown {
		a.inState = true
	}
	o.mu.Unlock()
	return nil
}

// appendAttempts is the largest number of attempts to append an entry while other doors append theirs.
const appendAttempts = 8

// errAppends says that every attempt has failed.
var errAppends = errors.New("the door could not append to the directory of rollovers: other doors were faster each time")

// AnnounceNext announces shard n of a key, unless a door has announced it already.
func (o *Rollovers) AnnounceNext(ctx context.Context, table [16]byte, key string, n int) error {
	for range appendAttempts {
		began := o.x.Doors.Lease.Now()
		from := o.opening(table)
		next, has := o.Next(table, key)
		if has+1 != n {
			return nil
		}
		did, err := o.Catalogue.Append(ctx, table, next, catalog.Rollover{Key: []byte(key), Shard: n, From: &from})
		if err != nil {
			return err
		}
		if did {
			stored := o.x.Doors.Lease.Now()
			o.mu.Lock()
			o.announced[KeyShard{table, key, n}] = &announcement{from: from, stored: stored, safe: stored.Sub(began) <= o.Announcing}
			o.mu.Unlock()
			return nil
		}
		if err := o.CatchUpAll(ctx); err != nil {
			return err
		}
	}
	return errAppends
}

// OpenNext marks a shard open that this door has announced.
func (o *Rollovers) OpenNext(ctx context.Context, at KeyShard) error {
	for range appendAttempts {
		next, has := o.Next(at.Table, at.Key)
		if has < at.Shard {
			return nil // the table was dropped
		}
		did, err := o.Catalogue.Append(ctx, at.Table, next, catalog.Rollover{Key: []byte(at.Key), Shard: at.Shard})
		if did || err != nil {
			return err
		}
		if err := o.CatchUpAll(ctx); err != nil {
			return err
		}
	}
	return errAppends
}

// opening returns the opening for a shard that this door will announce now, in microseconds.
func (o *Rollovers) opening(table [16]byte) int64 {
	now := o.x.Clock.Now().UnixMicro()
	if o.x.Doors.Member != nil {
		return now + (o.Announcing + o.leaseAndDrift() + o.AheadOfClock + o.ClockSkew).Microseconds()
	}
	if !rule.On(rule.NothingFromTheFuture) {
		return now
	}
	return max(now+time.Duration(o.Margin.Load()).Microseconds(), o.LatestDeletion(table, math.MinInt64).Load()+1)
}

// ripe returns the shards that this door has announced and may open now, because every door knows them.
// It forgets the announced shards that must stay closed.
func (o *Rollovers) ripe() []KeyShard {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, wait := o.x.Doors.Lease.Now(), o.leaseAndDrift()
	var out []KeyShard
	for at, a := range o.announced {
		if !a.inState {
			continue
		}
		if o.x.Doors.Member == nil {
			// There is no other door, and this door's State has the shard. If a deletion is in flight and was
			// planned on an older State, the door repeats it. The door has noted the timestamps of all others.
			a.safe = o.LatestDeletion(at.Table, math.MinInt64).Load() < a.from || !rule.On(rule.NothingFromTheFuture)
			if !a.safe {
				o.Margin.Store(min(2*o.Margin.Load(), 2*int64(o.AheadOfClock)))
			}
		}
		switch {
		case !a.safe:
			delete(o.announced, at)
			o.closed[at] = time.Time{} // so the door may announce the next shard at once (see pending)
		case now.Sub(a.stored) >= wait:
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b KeyShard) int { return a.Shard - b.Shard })
	return out
}

// pending reports whether a shard will still be opened that is announced and not open in the State. If a door has
// not opened its shard in time, pending takes the door as gone. If a shard is not in closed, a door has opened it
// just now, and the next State will have it as open. The caller holds mu.
func (o *Rollovers) pending(at KeyShard) bool {
	if o.announced[at] != nil {
		return true
	}
	since, known := o.closed[at]
	return !known || o.x.Doors.Lease.Now().Sub(since) < 3*o.leaseAndDrift()
}

// leaseAndDrift returns how long another door may use an older directory, measured by this door's clock. It
// returns 0 if there is no other door.
func (o *Rollovers) leaseAndDrift() time.Duration {
	if o.x.Doors.Member == nil {
		return 0
	}
	length := o.x.Doors.Lease.Length()
	return length + length/10
}
