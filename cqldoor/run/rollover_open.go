// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// This file estimates how full shards are, and announces and opens the next ones (see rollover.go).

// run announces and opens shards until ctx is done.
func (o *rollovers) run(ctx context.Context) {
	tick := time.NewTicker(o.x.doors.lookEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, refreshLimit)
		if err := o.step(within); err != nil && ctx.Err() == nil {
			o.x.opts.Log.Warn("the door cannot open the next shard of a key yet; it tries again", "error", err)
		}
		cancel()
	}
}

// step looks at the fills that are due, which may announce shards, and opens the announced shards that
// every door knows.
func (o *rollovers) step(ctx context.Context) error {
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
		if err := o.open(ctx, at); err != nil {
			return err
		}
		o.mu.Lock()
		delete(o.announced, at)
		o.mu.Unlock()
	}
	if len(ripe) > 0 {
		return o.catchUpAll(ctx)
	}
	return nil
}

// addAnnounced has the State get the shards that this door has announced since the last call.
func (o *rollovers) addAnnounced(ctx context.Context) error {
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
	if err := o.catchUpAll(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	for _, a := range unknown {
		a.inState = true
	}
	o.mu.Unlock()
	return nil
}

// appends is how often a door tries to append an entry while other doors append theirs.
const appends = 8

// errAppends says that every try has failed.
var errAppends = errors.New("other doors write the directory of rollovers all the time")

// next returns the number of the first entry of a table's log that this door has not read, and how many
// shards a key has by the entries before.
func (o *rollovers) next(table [16]byte, key string) (next, has int) {
	o.reading.Lock()
	defer o.reading.Unlock()
	l := o.logs[table]
	if l == nil {
		return 0, 0 // it was dropped
	}
	return l.next, l.rolled.Shards([]byte(key))
}

// announce announces shard n of a key, unless it was announced already.
func (o *rollovers) announce(ctx context.Context, table [16]byte, key string, n int) error {
	for range appends {
		began := o.x.doors.lease.Now()
		from := o.opening(table)
		next, has := o.next(table, key)
		if has+1 != n {
			return nil
		}
		did, err := o.catalogue.Append(ctx, table, next, catalog.Rollover{Key: []byte(key), Shard: n, From: &from})
		if err != nil {
			return err
		}
		if did {
			stored := o.x.doors.lease.Now()
			o.mu.Lock()
			o.announced[keyShard{table, key, n}] = &announcement{from: from, stored: stored, safe: stored.Sub(began) <= o.announcing}
			o.mu.Unlock()
			return nil
		}
		if err := o.catchUpAll(ctx); err != nil {
			return err
		}
	}
	return errAppends
}

// open marks a shard open that this door has announced.
func (o *rollovers) open(ctx context.Context, at keyShard) error {
	for range appends {
		next, has := o.next(at.table, at.key)
		if has < at.shard {
			return nil // the table was dropped
		}
		did, err := o.catalogue.Append(ctx, at.table, next, catalog.Rollover{Key: []byte(at.key), Shard: at.shard})
		if did || err != nil {
			return err
		}
		if err := o.catchUpAll(ctx); err != nil {
			return err
		}
	}
	return errAppends
}

// opening returns an opening for a shard that is about to be announced.
func (o *rollovers) opening(table [16]byte) int64 {
	now := o.x.clock.Now().UnixMicro()
	if o.x.doors.member != nil {
		return now + (o.announcing + o.leaseAndDrift() + o.aheadOfClock + o.clockSkew).Microseconds()
	}
	if !rule.On(rule.NothingFromTheFuture) {
		return now
	}
	o.mu.Lock()
	margin := o.margin
	o.mu.Unlock()
	return max(now+margin.Microseconds(), o.latestDeletion(table, math.MinInt64).Load()+1)
}

// ripe returns the shards that this door has announced and may open now, because every door knows them.
// It forgets those that must stay closed.
func (o *rollovers) ripe() []keyShard {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, wait := o.x.doors.lease.Now(), o.leaseAndDrift()
	var out []keyShard
	for at, a := range o.announced {
		if !a.inState {
			continue
		}
		if o.x.doors.member == nil {
			// There is no other door, and this door's State has the shard. The door repeats a deletion that
			// is under way and was planned on an older State. It has noted the timestamps of the others.
			a.safe = o.latestDeletion(at.table, math.MinInt64).Load() < a.from || !rule.On(rule.NothingFromTheFuture)
			if !a.safe {
				o.margin = min(2*o.margin, 2*o.aheadOfClock)
			}
		}
		switch {
		case !a.safe:
			delete(o.announced, at)
			o.closed[at] = time.Time{} // the next one is announced at once
		case now.Sub(a.stored) >= wait:
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b keyShard) int { return a.shard - b.shard })
	return out
}

// pending reports whether a door will still open a shard that the State has as announced and not open.
// A door that has not opened its shard in time is gone. A shard that is not in closed was opened just
// now, and the next State will have it as open. The caller holds mu.
func (o *rollovers) pending(at keyShard) bool {
	if o.announced[at] != nil {
		return true
	}
	since, known := o.closed[at]
	return !known || o.x.doors.lease.Now().Sub(since) < 3*o.leaseAndDrift()
}

// leaseAndDrift returns how long another door may use an older directory, measured by this door's clock.
func (o *rollovers) leaseAndDrift() time.Duration {
	if o.x.doors.member == nil {
		return 0
	}
	length := o.x.doors.lease.Length()
	return length + length/10
}

// lead returns how long after the announcement of a shard the doors write to it.
func (o *rollovers) lead() time.Duration {
	if o.x.doors.member == nil {
		return 0
	}
	// The doors read the directory at intervals, and open shards at intervals.
	return o.announcing + o.leaseAndDrift() + o.aheadOfClock + o.clockSkew + 2*o.x.doors.lookEvery()
}

// doors returns how many doors are alive, and how many of them come before this one in the order of
// their ids. Later ones announce a shard later, so that seldom two try it.
func (o *rollovers) doors() (n, before int) {
	seen := o.x.doors.beaten.Load()
	if seen == nil {
		return 1, 0
	}
	for _, d := range seen.Doors {
		switch {
		case d.ID == seen.Self:
			before = n
		case d.Left() || d.Silent():
			continue
		}
		n++
	}
	return max(1, n), before
}

// look estimates how full the current shard of a key is, with what the other doors have shared.
// It announces the next shard if the current one will be full when the next can be opened.
// Otherwise it shares this door's counts, if the door has written much and there are other doors. It
// sets the next mark.
func (o *rollovers) look(ctx context.Context, f *fill) (err error) {
	doors, rank := o.doors()
	t := o.tableOf(f.table)
	if t == nil {
		return nil // it was dropped
	}
	said, err := o.said(ctx, f, doors)
	if err != nil {
		f.mu.Lock()
		f.next = 0 // it is tried again
		f.mu.Unlock()
		return err
	}
	has, open := t.Layout.Rolled.Shards([]byte(f.key)), t.Layout.Rolled.Last([]byte(f.key))
	o.mu.Lock()
	pending := has > open && o.pending(keyShard{f.table, f.key, has})
	o.mu.Unlock()
	f.mu.Lock()
	now := o.x.opts.Now().UnixMicro()
	at, rows, bytes := f.shard, f.rows, f.bytes
	own := fullness(f.fill, rows, bytes)
	share := 2.0 / float64(3*doors) // so many directory writes that, with the two of the next shard, there are two for each door
	estimate, others := own, 0
	if said.shard == at {
		others = min(said.doors, doors-1)
		// Each other door that writes has on average half of a share that it has not shared.
		estimate += fullness(f.fill, said.rows, said.bytes) + float64(others)*share/2
	}
	// A door that has shared nothing may have written as much as this one, or nothing.
	estimate += float64(doors-1-others) * min(own, share) / 2
	lead := o.lead().Microseconds()
	rest := 1 - estimate
	if lead > 0 {
		passed := max(now-f.since, lead/4) // a burst of a moment does not last
		rest -= (own - f.before) * float64(1+others) * float64(lead) / float64(passed)
		if now-f.since > lead {
			f.since, f.before = now, own
		}
	}
	if estimate < 0.5 {
		rest = max(rest, 0.5-estimate) // a short burst does not make a key with few rows hot
	}
	due := rest <= 0 && open <= at && !pending && has < t.Layout.Max
	if due {
		// Another door may be about to announce the shard.
		if f.ready == 0 {
			f.ready = now
		}
		due = now-f.ready >= int64(min(rank, 2))*2*o.x.doors.lookEvery().Microseconds()
	}
	if rest <= 0 && open <= at && at >= t.Layout.Max {
		if _, told := o.loggedFull.LoadOrStore(f.table, true); !told {
			o.x.opts.Log.Warn("a key has as many shards as it may have ('max'); its last shard takes all further rows", "table", t.Keyspace+"."+t.Name, "shards", at)
		}
	}
	toShare := doors > 1 && own-f.shared >= share
	f.next = own + max(rest/float64(2*(1+others)), leastStep)
	if doors > 1 {
		f.next = min(f.next, own+stepAmongDoors) // other doors write too, and may share it at any time
	}
	f.mu.Unlock()
	switch {
	case due:
		err = o.announce(ctx, f.table, f.key, has+1)
	case toShare:
		err = o.catalogue.Share(ctx, f.table, []byte(f.key), at, rows, bytes)
	default:
		return nil
	}
	f.mu.Lock()
	if err != nil {
		f.next = own // it is tried again
	} else if toShare && !due && f.shard == at {
		f.shared = own
	}
	f.mu.Unlock()
	return err
}

// said returns how much other doors have written to the shard of a fill, by the directory. An earlier
// run of this door counts as another door.
func (o *rollovers) said(ctx context.Context, f *fill, doors int) (sum, error) {
	f.mu.Lock()
	at, said := f.shard, f.said
	f.mu.Unlock()
	if doors < 2 && said.shard == at {
		return said, nil
	}
	counts, err := o.catalogue.Counts(ctx, f.table, []byte(f.key))
	if err != nil {
		return sum{}, err
	}
	said = sum{shard: at}
	for _, c := range counts {
		if c.Shard == at && !c.Own {
			said.doors, said.rows, said.bytes = said.doors+1, said.rows+c.Rows, said.bytes+c.Bytes
		}
	}
	f.mu.Lock()
	f.said = said
	f.mu.Unlock()
	return said, nil
}

// leastStep is the least part of a shard that this door writes between two looks at it, and
// stepAmongDoors the largest one if there are other doors.
const (
	leastStep      = 1.0 / 128
	stepAmongDoors = 1.0 / 32
)

// tableOf returns a table of strategy rollover of the present State.
func (o *rollovers) tableOf(id [16]byte) *plan.Table {
	for _, all := range o.x.state.Load().Tables {
		for _, t := range all {
			if t.ID == id && t.Layout.Strategy == shard.Rollover {
				return t
			}
		}
	}
	return nil
}

// leave runs at the door's end. It writes the counts that this door has not shared yet to the directory,
// where the remaining doors read them.
func (o *rollovers) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	for _, f := range o.fills.all() {
		own := fullness(f.fill, f.rows, f.bytes)
		if own-f.shared < worthSharing {
			continue
		}
		if err := o.catalogue.Share(ctx, f.table, []byte(f.key), f.shard, f.rows, f.bytes); err != nil {
			o.x.opts.Log.Warn("this door cannot share its counts with other doors; shards can become fuller than they should", "error", err)
			return
		}
	}
}

// worthSharing is the least part of a shard that a door which ends shares.
const worthSharing = 0.1
