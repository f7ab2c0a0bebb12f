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

// Under strategy rollover, each partition key has a current shard. An insert or update goes there,
// unless it is one that must reach all shards of the key (see checkAhead). When a door estimates that
// the current shard will soon be full, it adds the next shard in two steps:
//
//  1. It announces the shard: it appends an entry with the shard's opening to the directory
//     (catalog.Rollovers). The opening is a time in the future. Every door reads new entries when it
//     renews its lease, so one lease later every door knows the shard. A door that knows the shard
//     reads it, and sends it each deletion whose timestamp is not before the opening.
//  2. It marks the shard open: it appends a second entry. The shard is then the current one for writes
//     whose timestamp is not before the opening, as soon as the writing door's clock has passed the
//     opening. Writes with an earlier timestamp go to an earlier shard.
//
// A deletion must reach every cell that it deletes. Doors that do not know the shard do not send their
// deletions to it. This is safe if all these deletions are older than the opening: they have nothing to
// delete in the shard. So the announcing door adds to its clock
//
//   - announcing, in which the store must have stored the announcement,
//   - one lease, after which every door knows the shard,
//   - clockSkew, by which the store's clock may be ahead as another door knows it (storeClock), and
//   - aheadOfClock, by which a deletion's timestamp may be ahead of that.
//
// If the store takes longer than announcing, the opening is too early. The door then never opens that
// shard, and announces another one.
//
// A plan.Table holds a snapshot of the directory. When the directory changes, the door publishes a new
// State. After an answer, the door repeats a request that it had planned on the old State, but only if
// the request may have missed a shard (premise.go). So a new shard of one key does not disturb requests
// on other keys.

const (
	// aheadOfClock is how far the timestamp of a deletion may be ahead of the store's time as the door knows it.
	aheadOfClock = 2 * time.Second

	// announcing is how long the store may take to store an announcement.
	announcing = time.Second

	// clockSkew is the largest difference between the store's times as two doors know them.
	clockSkew = time.Second

	// openingMargin is the first value of rollovers.margin.
	openingMargin = 20 * time.Millisecond
)

// rollovers announces and opens shards of tables of strategy rollover.
type rollovers struct {
	x         *schemas
	catalogue *catalog.Rollovers
	fills     fills
	wake      chan struct{} // wakes run: due has a new element

	announcing   time.Duration // the constants, which tests change
	aheadOfClock time.Duration
	clockSkew    time.Duration

	reading sync.Mutex            // locked after schemas.refreshes.running and before mu
	logs    map[[16]byte]*readLog // by table id; guarded by reading

	mu        sync.Mutex
	margin    time.Duration              // how far an opening is ahead of the clock if there is no other door
	due       []*fill                    // the fills that run must look at
	announced map[keyShard]*announcement // the shards that this door has announced and not opened yet
	closed    map[keyShard]time.Time     // the shards that any door has announced and none has opened: when this door read the announcement

	loggedFull sync.Map // table ids: this door has logged that a key of the table may have no further shard
	deleted    sync.Map // table id → *atomic.Int64: the latest timestamp of a deletion that this door has sent
}

// readLog holds what this door has read of a table's log.
type readLog struct {
	next   int           // the number of the first entry that it has not read
	rolled *shard.Rolled // the shards of the table's keys by the entries before
}

// keyShard identifies a shard of a partition key.
type keyShard struct {
	table [16]byte
	key   string // serialized
	shard int
}

// announcement is an announcement that this door has appended to the directory.
type announcement struct {
	from    int64     // the opening
	stored  time.Time // when the store had stored it
	safe    bool      // deletions that do not reach the shard are older than the opening
	inState bool      // this door's State has the shard
}

func newRollovers(x *schemas) *rollovers {
	var door [16]byte
	if uuid := x.opts.UUID; uuid != nil {
		door = uuid()
	}
	o := &rollovers{x: x, catalogue: catalog.NewRollovers(x.session, door), wake: make(chan struct{}, 1),
		logs: map[[16]byte]*readLog{}, announced: map[keyShard]*announcement{}, closed: map[keyShard]time.Time{},
		margin: openingMargin, announcing: announcing, aheadOfClock: aheadOfClock, clockSkew: clockSkew}
	return o
}

// tally is a write to the current shard of a key. The door counts it when the store has carried it out:
// before that, the door does not know whether the client has the right to write.
type tally struct {
	table *plan.Table
	key   []byte
	shard int
	size  int64 // bytes
	now   int64 // microseconds
}

// draw returns the shard for a write that only adds, with timestamp stamp, at the time now, both in
// microseconds. The tally is nil if the write goes to an earlier shard than the current one.
func (o *rollovers) draw(t *plan.Table, key []byte, b *analysis.BoundWrite, stamp, now int64) (int, *tally) {
	if !rule.On(rule.OpenedBeforeWritten) {
		return t.Layout.Rolled.Shards(key), nil
	}
	n := t.Layout.Rolled.Current(key, min(stamp, now))
	if n != t.Layout.Rolled.Current(key, now) {
		return n, nil // stamp is before the opening of the current shard
	}
	size := len(key)
	for i := range b.Mutations {
		size += len(b.Mutations[i].Value)
	}
	return n, &tally{t, key, n, int64(size), now}
}

// count counts a write that the store has carried out. It wakes run if the write has made a fill due.
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

// counting is the premise of a write to one shard. It counts the write when the store has carried it
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

// latestDeletion returns the latest timestamp of a deletion on a table. If this door has sent none, its
// value is first.
func (o *rollovers) latestDeletion(table [16]byte, first int64) *atomic.Int64 {
	latest, ok := o.deleted.Load(table)
	if !ok {
		made := new(atomic.Int64)
		made.Store(first)
		latest, _ = o.deleted.LoadOrStore(table, made)
	}
	return latest.(*atomic.Int64)
}

// catchUp reads the entries of a table's log that this door has not read, and returns the shards of the
// table's keys by all entries. The caller holds reading.
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

// apply applies an entry of a table's log to the shards of the table's keys, and to closed. It returns
// false if the entry cannot follow the earlier ones.
func (o *rollovers) apply(to *shard.Rolling, table [16]byte, r *catalog.Rollover) bool {
	at := keyShard{table, string(r.Key), r.Shard}
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

// rolled catches up with the logs of the entries of strategy rollover, and returns the shards of their
// keys by table id. It forgets the logs of other tables.
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

// shards returns how many shards a partition key of a table has.
func (o *rollovers) shards(table [16]byte, key [][]byte) int {
	_, has := o.next(table, string(plan.AppendKey(nil, key)))
	return max(1, has)
}

// catchUpAll reads the new entries of all logs. If there are any, it publishes a new State. Without a
// log it does not wait for a refresh that runs.
func (o *rollovers) catchUpAll(ctx context.Context) error {
	if !rollsOver(o.x.state.Load()) {
		return nil
	}
	o.x.refreshes.running.Lock()
	defer o.x.refreshes.running.Unlock()
	old, v := o.x.state.Load(), o.x.view.Load()
	next := &State{Schema: old.Schema, Tables: maps.Clone(old.Tables), under: new(underWay)}
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
			now, err := v.tables[keyspace][name].placed(rolled)
			if err != nil {
				return err
			}
			changed = true
			next.Tables[keyspace] = maps.Clone(next.Tables[keyspace])
			next.Tables[keyspace][name] = now
		}
	}
	if changed {
		o.x.state.replace(next)
	}
	return nil
}

// rollsOver says whether a table of a state has strategy rollover.
func rollsOver(s *State) bool {
	for _, tables := range s.Tables {
		for _, t := range tables {
			if t.Layout.Strategy == shard.Rollover {
				return true
			}
		}
	}
	return false
}

// assumeDeletions is called at the door's start. An earlier run of the door may have sent deletions with
// timestamps ahead of its clock. So assumeDeletions takes the highest possible one as the latest
// timestamp of a deletion on each table of v.
func (o *rollovers) assumeDeletions(v *view) {
	now := o.x.clock.Now().UnixMicro()
	for _, tables := range v.tables {
		for _, t := range tables {
			if t.entry.Layout.Strategy == shard.Rollover {
				o.latestDeletion(t.entry.ID, now+o.aheadOfClock.Microseconds())
			}
		}
	}
}

// checkAhead checks the timestamp of a write that goes to all shards of a key, as a deletion does. It
// refuses a timestamp more than aheadOfClock ahead of the store's clock, because shards that are announced
// later would need the write too. It notes any other timestamp in rollovers.deleted.
func (p *placer) checkAhead(req *cqldoor.Request, params *wire.Params, w *plan.Write, b *analysis.BoundWrite) error {
	if w.Table.Layout.Strategy != shard.Rollover || w.Adds(b) || !rule.On(rule.NothingFromTheFuture) {
		return nil
	}
	stamp := p.timeOf(req, params, b)
	if ahead := stamp - p.now().UnixMicro(); ahead > p.rollovers.aheadOfClock.Microseconds() {
		return wire.Invalidf("write_sharding: under strategy 'rollover', a deletion, a null, a TTL or a write of a collection goes to the shards that its key has now, and its timestamp is %s ahead of the store's clock: "+
			"it would have to reach shards that come later; use a timestamp of now, or let the door give it", time.Duration(ahead)*time.Microsecond)
	}
	at := p.rollovers.latestDeletion(w.Table.ID, math.MinInt64)
	for {
		last := at.Load()
		if last >= stamp || at.CompareAndSwap(last, stamp) {
			return nil
		}
	}
}
