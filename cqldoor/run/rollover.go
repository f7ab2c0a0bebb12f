// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
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
	"github.com/evenkeel/evenkeel/shard"
)

// Under strategy rollover a write that only adds goes to the current shard of its key. A door that
// estimates that the current shard is nearly full goes on to the next shard in two steps.
//
//  1. It announces the shard in the directory (catalog.Rollovers), with an opening, which is a
//     time. Every door reads the directory whenever it renews its lease. After one lease every door
//     reads the shard, and sends deletions to it whose timestamps are not before the opening.
//  2. Then it marks the shard open. From the opening on, by its own clock, a door writes to the
//     shard what has this timestamp or a later one. Writes with earlier timestamps go to earlier
//     shards.
//
// So a deletion that did not reach the shard is older than all cells of the shard. A door that does
// not know of the shard yet may send such a deletion for one lease. So the opening lies beyond
// that, and beyond what timestamps and clocks may be ahead. If the announcement took too long for
// this to hold, its shard stays closed, and the door announces the next one.
//
// A plan.Table holds the directory as it was when the door read it. If the directory changes, the
// door makes a new State. So a request that was planned on the old one is done again, as after
// any change of a layout (premise.go).

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

	margin  time.Duration // if there is no other door: how far the opening of a shard is ahead
	writing time.Duration // see announcing
	ahead   time.Duration // see aheadOfClock
	skew    time.Duration // see clockSkew

	mu     sync.Mutex
	due    []*fill                     // fills that have reached their next mark
	said   map[[16]byte]map[string]sum // what the directory says of the last shard of each key with rows in it, by table
	mine   map[rolledTo]*announcement  // the shards that this door has announced and not opened yet
	closed map[rolledTo]time.Time      // the announced shards that are not open, and since when this door knows of them

	full    sync.Map // ids of the tables of which it was logged that a key has no further shard
	started int64    // when the door started, in microseconds
	latest  sync.Map // table id → *atomic.Int64: the latest timestamp of a deletion that this door has sent
}

// sum is how much doors have written to the shard of a key, as the directory says.
type sum struct {
	shard, doors int // doors besides this one
	rows, bytes  int64
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
	if uuid := x.r.opts.UUID; uuid != nil {
		door = uuid()
	}
	o := &rollovers{x: x, catalogue: catalog.NewRollovers(x.session, door), wake: make(chan struct{}, 1),
		said: map[[16]byte]map[string]sum{}, mine: map[rolledTo]*announcement{}, closed: map[rolledTo]time.Time{}, margin: openingMargin, writing: announcing, ahead: aheadOfClock, skew: clockSkew}
	if now := x.r.opts.Now; now != nil {
		o.started = now().UnixMicro()
	}
	return o
}

// draw returns the shard of a write that only adds, and counts the write. now and stamp are in
// microseconds.
func (o *rollovers) draw(t *plan.Table, key []byte, b *analysis.BoundWrite, stamp, now int64) int {
	if !rule.On(rule.OpenedBeforeWritten) {
		return t.Layout.Rolled.Shards(key)
	}
	n := t.Layout.Rolled.Current(key, min(stamp, now))
	if n != t.Layout.Rolled.Current(key, now) {
		return n // an older timestamp: it does not fill the current shard
	}
	size := len(key)
	for i := range b.Mutations {
		size += len(b.Mutations[i].Value)
	}
	if f := o.fills.count(t, key, n, int64(size), now); f != nil {
		o.mu.Lock()
		o.due = append(o.due, f)
		o.mu.Unlock()
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
	return n
}

// draws returns the Draw of a request. once says that its writes to one partition must stay
// together.
func (r *Router) draws(req *cqldoor.Request, params *wire.Params, once bool) plan.Draw {
	random := r.drawers.draw
	if once {
		random = r.drawers.drawOnce()
	}
	var now int64
	return func(t *plan.Table, key [][]byte, b *analysis.BoundWrite, adds bool) []int {
		if t.Layout.Strategy != shard.Rollover {
			return random(t, key, b, adds)
		}
		if now == 0 {
			now = r.opts.Now().UnixMicro()
		}
		k, stamp := plan.AppendKey(nil, key), r.timeOf(req, params, b)
		if !adds {
			if e, ok := req.Link.(*coordinator); ok {
				e.reaches = true
			}
			return t.Layout.Rolled.Reached(k, stamp)
		}
		return []int{r.schema.rollovers.draw(t, k, b, stamp, now)}
	}
}

// timeOf returns the timestamp of a write, in microseconds: its own, that of the request, or the
// door's.
func (r *Router) timeOf(req *cqldoor.Request, params *wire.Params, b *analysis.BoundWrite) int64 {
	switch {
	case b.Timestamp != nil:
		return *b.Timestamp
	case params.Has(wire.QueryDefaultTimestamp):
		req.Stamp = params.DefaultTimestamp // with it the write can be repeated
	case req.Stamp == 0:
		req.Stamp = r.clock.next()
	}
	return req.Stamp
}

// checkAhead refuses a write to all shards of a key whose timestamp is so far in the future that
// later shards would need the write too. It notes the timestamp of any other.
func (r *Router) checkAhead(req *cqldoor.Request, params *wire.Params, w *plan.Write, b *analysis.BoundWrite) error {
	if w.Table.Layout.Strategy != shard.Rollover || w.Adds(b) || !rule.On(rule.NothingFromTheFuture) {
		return nil
	}
	stamp := r.timeOf(req, params, b)
	if ahead := stamp - r.opts.Now().UnixMicro(); ahead > r.schema.rollovers.ahead.Microseconds() {
		return wire.Invalidf("write_sharding: under strategy 'rollover', a deletion, a null, a TTL or a write of a collection goes to the shards that its key has now, and its timestamp is %s ahead of the door's clock: "+
			"it would have to reach shards that come later; use a timestamp of now, or let the door give it", time.Duration(ahead)*time.Microsecond)
	}
	at := r.schema.rollovers.latestOf(w.Table.ID, math.MinInt64)
	for {
		last := at.Load()
		if last >= stamp || at.CompareAndSwap(last, stamp) {
			return nil
		}
	}
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

// read reads the directories of tables. It returns the openings of each.
func (o *rollovers) read(ctx context.Context, tables [][16]byte) (map[[16]byte]*shard.Rolled, error) {
	out := make(map[[16]byte]*shard.Rolled, len(tables))
	said := make(map[[16]byte]map[string]sum, len(tables))
	closed := map[rolledTo]bool{}
	for _, id := range tables {
		rows, err := o.catalogue.Read(ctx, id)
		if err != nil {
			return nil, err
		}
		openings, sums := map[string][]shard.Opening{}, map[string]sum{}
		for i := range rows {
			r := &rows[i]
			key := string(r.Key)
			if r.Opening != nil {
				for len(openings[key]) < r.Shard-1 {
					openings[key] = append(openings[key], shard.Opening{From: math.MinInt64})
				}
				openings[key][r.Shard-2] = *r.Opening
				if !r.Opening.Open {
					closed[rolledTo{id, key, r.Shard}] = true
				}
				continue
			}
			s := sums[key]
			if r.Own || r.Shard < s.shard {
				continue
			}
			if r.Shard > s.shard {
				s = sum{shard: r.Shard}
			}
			s.doors, s.rows, s.bytes = s.doors+1, s.rows+r.Rows, s.bytes+r.Bytes
			sums[key] = s
		}
		out[id], said[id] = shard.NewRolled(openings), sums
	}
	now := o.x.lease.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = said
	for at := range o.closed {
		if !closed[at] {
			delete(o.closed, at)
		}
	}
	for at := range closed {
		if _, known := o.closed[at]; !known {
			o.closed[at] = now
		}
	}
	return out, nil
}

// rolled reads the directories of all tables of strategy rollover among entries.
func (o *rollovers) rolled(ctx context.Context, entries []*catalog.Entry) (map[[16]byte]*shard.Rolled, error) {
	var tables [][16]byte
	for _, e := range entries {
		if e.Layout.Strategy == shard.Rollover && e.State == catalog.Active {
			tables = append(tables, e.ID)
		}
	}
	return o.read(ctx, tables)
}

// changed reads the directories again, and says whether a key has another shard or opening than
// the present State has.
func (o *rollovers) changed(ctx context.Context) (bool, error) {
	var tables [][16]byte
	have := map[[16]byte]*shard.Rolled{}
	for _, all := range o.x.r.state.Load().Tables {
		for _, t := range all {
			if t.Layout.Strategy == shard.Rollover {
				tables = append(tables, t.ID)
				have[t.ID] = t.Layout.Rolled
			}
		}
	}
	if len(tables) == 0 {
		return false, nil
	}
	now, err := o.read(ctx, tables)
	if err != nil {
		return false, err
	}
	for id, r := range now {
		if !r.Equal(have[id]) {
			return true, nil
		}
	}
	return false, nil
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
