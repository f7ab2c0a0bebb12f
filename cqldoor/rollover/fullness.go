// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"context"
	"time"
)

// Between two looks at a shard, this door writes at least the part leastStep of the shard. If there are other
// doors, it writes at most the part stepAmongDoors.
const (
	leastStep      = 1.0 / 128
	stepAmongDoors = 1.0 / 32
)

// look estimates how full the current shard of a key is. The estimate includes the counts that other doors have
// shared. If the current shard will be full when the next one can be opened, look announces the next shard.
// Otherwise it shares this door's counts if the door has written much and there are other doors. It sets the
// fullness at which the door looks again. It returns an error if the directory cannot be read or written.
func (o *Rollovers) look(ctx context.Context, f *fill) (err error) {
	doors, rank := o.Doors()
	t, changing := o.tableOf(f.table)
	if t == nil {
		return nil // the table was dropped
	}
	// While the layout changes, a mover shares the counts of the rows that it copies to the table.
	said, err := o.said(ctx, f, doors > 1 || changing)
	if err != nil {
		f.mu.Lock()
		f.next = 0 // the next write makes the fill due again
		f.mu.Unlock()
		return err
	}
	has, open := t.Layout.Rolled.Shards([]byte(f.key)), t.Layout.Rolled.Last([]byte(f.key))
	o.mu.Lock()
	pending := has > open && o.pending(KeyShard{f.table, f.key, has})
	o.mu.Unlock()
	f.mu.Lock()
	now := o.x.Opts.Now().UnixMicro()
	at, rows, bytes := f.shard, f.rows, f.bytes
	own := f.fill.Part(rows, bytes)
	// With this share, a shard takes about two directory writes for each door. Two of them are for the next shard.
	share := 2.0 / float64(3*doors)
	estimate, others := own, 0
	if said.shard == at {
		others = min(said.doors, doors-1)
		// On average, each other door that writes has half a share that it has not shared yet.
		estimate += f.fill.Part(said.rows, said.bytes) + float64(others)*share/2
	}
	// A door that has shared nothing may have written as much as this one, or nothing.
	estimate += float64(doors-1-others) * min(own, share) / 2
	lead := o.lead().Microseconds()
	rest := 1 - estimate
	if lead > 0 {
		passed := max(now-f.since, lead/4) // a very short burst does not last
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
		due = now-f.ready >= int64(min(rank, 2))*2*o.x.Doors.LookEvery().Microseconds()
	}
	if rest <= 0 && open <= at && at >= t.Layout.Max {
		if _, told := o.loggedFull.LoadOrStore(f.table, true); !told {
			o.x.Opts.Log.Warn("a key has as many shards as it may have ('max'); its last shard takes all further rows", "table", t.Keyspace+"."+t.Name, "shards", at)
		}
	}
	toShare := doors > 1 && own-f.shared >= share
	f.next = own + max(rest/float64(2*(1+others)), leastStep)
	if doors > 1 {
		f.next = min(f.next, own+stepAmongDoors) // other doors write too, and may share their counts at any time
	}
	f.mu.Unlock()
	switch {
	case due:
		err = o.AnnounceNext(ctx, f.table, f.key, has+1)
	case toShare:
		err = o.Catalogue.Share(ctx, f.table, []byte(f.key), at, rows, bytes)
	default:
		return nil
	}
	f.mu.Lock()
	if err != nil {
		f.next = own // the next write makes the fill due again
	} else if toShare && !due && f.shard == at {
		f.shared = own
	}
	f.mu.Unlock()
	return err
}

// said returns how much other doors have written to the shard of a fill, as the directory says. An earlier
// run of this door counts as another door. others reports whether anybody else may share counts now. If not,
// said reads the directory only once for each shard.
func (o *Rollovers) said(ctx context.Context, f *fill, others bool) (sum, error) {
	f.mu.Lock()
	at, said := f.shard, f.said
	f.mu.Unlock()
	if !others && said.shard == at {
		return said, nil
	}
	counts, err := o.Catalogue.Counts(ctx, f.table, []byte(f.key))
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

// Doors returns how many doors are alive, and how many of them come before this one in the order of
// their ids. Doors that come later announce a shard later, so that two doors seldom try at the same time.
func (o *Rollovers) Doors() (n, before int) {
	seen := o.x.Doors.Beaten.Load()
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

// lead returns the time between the announcement of a shard and the first writes to it. It returns 0 if there is
// no other door.
func (o *Rollovers) lead() time.Duration {
	if o.x.Doors.Member == nil {
		return 0
	}
	// The doors read the directory at intervals, and open shards at intervals.
	return o.Announcing + o.leaseAndDrift() + o.AheadOfClock + o.ClockSkew + 2*o.x.Doors.LookEvery()
}
