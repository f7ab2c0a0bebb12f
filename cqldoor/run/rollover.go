// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// Under strategy rollover, a write that only adds goes to the current shard of its key. When a door
// estimates that the current shard is nearly full, it makes the next shard current in two steps.
//
//  1. The door announces the shard in the directory (catalog.Rollovers). The announcement has an
//     opening, which is a time. Every door reads the directory when it renews its lease. So after
//     one lease every door knows the shard. From then on, doors read the shard, and send it each
//     deletion whose timestamp is not before the opening.
//  2. The door marks the shard open. A door writes to an open shard when its own clock has passed
//     the opening. It writes there only cells whose timestamp is not before the opening. A write
//     with an earlier timestamp goes to an earlier shard.
//
// No deletion may miss a cell. For one lease, some doors do not know the shard and do not send
// their deletions to it. Therefore the opening is later than the timestamp of every such deletion:
// it is one lease ahead, plus the largest difference between clocks, plus the most that a timestamp
// may be ahead of a clock. If the store takes too long for the announcement, the opening comes too
// early. Then the door never opens that shard, and announces another one.
//
// A plan.Table holds a snapshot of the directory. When the directory changes, the door makes a new
// State. The door repeats a request that was planned on the old State only if the request may have
// missed a shard (premise.go). A new shard of one key does not disturb requests on other keys.

const (
	// aheadOfClock is how far the timestamp of a deletion may be ahead of the door's clock.
	aheadOfClock = 2 * time.Second

	// announcing is how long the store may take for an announcement.
	announcing = time.Second

	// clockSkew is the largest difference between the clocks of two doors.
	clockSkew = time.Second

	// openingMargin is how far a shard's opening is ahead of the clock of the only door, at first.
	openingMargin = 20 * time.Millisecond
)

// rollovers moves keys on to their next shards.
type rollovers struct {
	x         *schemas
	catalogue *catalog.Rollovers
	fills     fills
	wake      chan struct{}

	writing time.Duration // see announcing
	ahead   time.Duration // see aheadOfClock
	skew    time.Duration // see clockSkew

	reading sync.Mutex            // after schemas.refreshing, before mu
	logs    map[[16]byte]*readLog // what this door has read of each table's log; guarded by reading

	mu     sync.Mutex
	margin time.Duration              // if there is no other door: how far the opening of a shard is ahead
	due    []*fill                    // fills that have reached their next mark
	mine   map[rolledTo]*announcement // the shards that this door has announced and not opened yet
	closed map[rolledTo]time.Time     // the announced shards that are not open, and since when this door knows of them

	full    sync.Map // ids of the tables of which it was logged that a key has no further shard
	started int64    // when the door started, in microseconds
	latest  sync.Map // table id → *atomic.Int64: the latest timestamp of a deletion that this door has sent
}

// readLog is the part of a table's log that this door has read.
type readLog struct {
	next   int // the number of the next entry
	rolled *shard.Rolled
}

// rolledTo names a shard of a key.
type rolledTo struct {
	table [16]byte
	key   string
	shard int
}

// announcement is that of a shard by this door.
type announcement struct {
	from  int64     // the opening
	done  time.Time // when the store had it
	good  bool      // the opening is later than the timestamps of deletions that do not reach the shard
	known bool      // this door's State has the shard
}

func newRollovers(x *schemas) *rollovers {
	var door [16]byte
	if uuid := x.opts.UUID; uuid != nil {
		door = uuid()
	}
	o := &rollovers{x: x, catalogue: catalog.NewRollovers(x.session, door), wake: make(chan struct{}, 1),
		logs: map[[16]byte]*readLog{}, mine: map[rolledTo]*announcement{}, closed: map[rolledTo]time.Time{}, margin: openingMargin, writing: announcing, ahead: aheadOfClock, skew: clockSkew}
	if now := x.opts.Now; now != nil {
		o.started = now().UnixMicro()
	}
	return o
}

// tally is a write to the current shard of a key, to be counted when the store has carried it out.
// Before, the door does not know whether the client may write.
type tally struct {
	table *plan.Table
	key   []byte
	shard int
	size  int64 // bytes
	now   int64 // microseconds
}

// draw returns the shard of a write that only adds. now and stamp are in microseconds. The tally is
// nil if the write does not fill the current shard.
func (o *rollovers) draw(t *plan.Table, key []byte, b *analysis.BoundWrite, stamp, now int64) (int, *tally) {
	if !rule.On(rule.OpenedBeforeWritten) {
		return t.Layout.Rolled.Shards(key), nil
	}
	n := t.Layout.Rolled.Current(key, min(stamp, now))
	if n != t.Layout.Rolled.Current(key, now) {
		return n, nil // an older timestamp
	}
	size := len(key)
	for i := range b.Mutations {
		size += len(b.Mutations[i].Value)
	}
	return n, &tally{t, key, n, int64(size), now}
}

// count counts a write that the store has carried out.
func (o *rollovers) count(t *tally) {
	f := o.fills.count(t)
	if f == nil {
		return
	}
	o.mu.Lock()
	o.due = append(o.due, f)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// counting is the premise of a write to one shard that is counted when the store has carried it
// out.
type counting struct {
	*statement
	tally     *tally
	rollovers *rollovers
}

// Holds implements cqldoor.Premise. The door calls it only if the store has answered with a result.
func (c *counting) Holds(at *wire.Arrival) bool {
	c.rollovers.count(c.tally)
	return c.statement.Holds(at)
}

// latestOf returns the latest timestamp of a deletion on a table. first is its value if there was
// none.
func (o *rollovers) latestOf(table [16]byte, first int64) *atomic.Int64 {
	at, ok := o.latest.Load(table)
	if !ok {
		made := new(atomic.Int64)
		made.Store(first)
		at, _ = o.latest.LoadOrStore(table, made)
	}
	return at.(*atomic.Int64)
}

// catchUp reads the new entries of a table's log, and returns the shards of the table's keys. The
// caller holds reading.
func (o *rollovers) catchUp(ctx context.Context, table [16]byte) (*shard.Rolled, error) {
	l := o.logs[table]
	if l == nil {
		l = &readLog{}
		o.logs[table] = l
	}
	var rolling *shard.Rolling
	defer func() { // keep the entries read so far if the next request fails
		if rolling != nil {
			l.rolled = rolling.Done()
		}
	}()
	for {
		entries, err := o.catalogue.Read(ctx, table, l.next)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			break
		}
		if rolling == nil {
			rolling = l.rolled.Next()
		}
		for i := range entries {
			if !o.apply(rolling, table, &entries[i]) {
				return nil, fmt.Errorf("read the directory of rollovers: entry %d says that shard %d follows one that does not exist", l.next, entries[i].Shard)
			}
			l.next++
		}
	}
	if rolling != nil {
		l.rolled, rolling = rolling.Done(), nil
	}
	return l.rolled, nil
}

// apply applies an entry of a table's log.
func (o *rollovers) apply(to *shard.Rolling, table [16]byte, r *catalog.Rollover) bool {
	at := rolledTo{table, string(r.Key), r.Shard}
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.From == nil {
		delete(o.closed, at)
		return to.Open(r.Key, r.Shard)
	}
	if _, known := o.closed[at]; !known {
		o.closed[at] = o.x.doors.lease.Now()
	}
	return to.Announce(r.Key, r.Shard, *r.From)
}

// rolled reads the logs of the tables among entries that have strategy rollover.
func (o *rollovers) rolled(ctx context.Context, entries []*catalog.Entry) (map[[16]byte]*shard.Rolled, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	out := map[[16]byte]*shard.Rolled{}
	for _, e := range entries {
		if e.Layout.Strategy != shard.Rollover || e.State != registry.Active {
			continue
		}
		rolled, err := o.catchUp(ctx, e.ID)
		if err != nil {
			return nil, err
		}
		out[e.ID] = rolled
	}
	maps.DeleteFunc(o.logs, func(id [16]byte, _ *readLog) bool {
		_, there := out[id]
		return !there
	})
	return out, nil
}

// adopt reads the new entries of all logs. If there are any, it makes a new State.
func (o *rollovers) adopt(ctx context.Context) error {
	o.x.refreshing.Lock()
	defer o.x.refreshing.Unlock()
	old, v := o.x.state.Load(), o.x.view.Load()
	fresh := &State{Schema: old.Schema, Tables: maps.Clone(old.Tables), under: new(underWay)}
	changed := false
	for keyspace, tables := range old.Tables {
		for name, t := range tables {
			if t.Layout.Strategy != shard.Rollover {
				continue
			}
			o.reading.Lock()
			rolled, err := o.catchUp(ctx, t.ID)
			o.reading.Unlock()
			if err != nil {
				return err
			}
			if rolled == t.Layout.Rolled {
				continue
			}
			layout := *t.Layout
			layout.Rolled = rolled
			s := v.tables[keyspace][name]
			now, err := plan.NewKept(s.logical, plan.Kept{Layout: &layout, Physical: s.entry.Physical})
			if err != nil {
				return err
			}
			changed = true
			fresh.Tables[keyspace] = maps.Clone(fresh.Tables[keyspace])
			fresh.Tables[keyspace][name] = now
		}
	}
	if changed {
		o.x.state.replace(fresh)
	}
	return nil
}

// since notes, at the door's start, which tables there are. Before the start the door may have
// sent deletions with timestamps ahead of its clock.
func (o *rollovers) since(v *view) {
	for _, tables := range v.tables {
		for _, t := range tables {
			if t.entry.Layout.Strategy == shard.Rollover {
				o.latestOf(t.entry.ID, o.started+o.ahead.Microseconds())
			}
		}
	}
}

// checkAhead refuses a write to all shards of a key whose timestamp is so far in the future that
// later shards would need the write too. It notes the timestamp of any other.
func (p *placer) checkAhead(req *cqldoor.Request, params *wire.Params, w *plan.Write, b *analysis.BoundWrite) error {
	if w.Table.Layout.Strategy != shard.Rollover || w.Adds(b) || !rule.On(rule.NothingFromTheFuture) {
		return nil
	}
	stamp := p.timeOf(req, params, b)
	if ahead := stamp - p.now().UnixMicro(); ahead > p.rollovers.ahead.Microseconds() {
		return wire.Invalidf("write_sharding: under strategy 'rollover', a deletion, a null, a TTL or a write of a collection goes to the shards that its key has now, and its timestamp is %s ahead of the door's clock: "+
			"it would have to reach shards that come later; use a timestamp of now, or let the door give it", time.Duration(ahead)*time.Microsecond)
	}
	at := p.rollovers.latestOf(w.Table.ID, math.MinInt64)
	for {
		last := at.Load()
		if last >= stamp || at.CompareAndSwap(last, stamp) {
			return nil
		}
	}
}
