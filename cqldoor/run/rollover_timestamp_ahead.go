// SPDX-License-Identifier: Apache-2.0

package run

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// aheadOfClock is how far the timestamp of a deletion may be ahead of the store's time as the door knows it.
const aheadOfClock = 2 * time.Second

// checkAhead checks the timestamp of a write that goes to all shards of a key, as a deletion does. It
// refuses a timestamp more than aheadOfClock ahead of the store's clock, because shards that are announced
// later would need the write too. It notes any other timestamp in rollovers.deleted.
func (p *placer) checkAhead(req *cqldoor.Request, params *wire.Params, w *plan.Write, b *analysis.BoundWrite) error {
	t := w.Table
	if w.To != nil && w.To.Table.Layout.Strategy == shard.Rollover {
		t = w.To.Table
	}
	if t.Layout.Strategy != shard.Rollover || w.Adds(b) || !rule.On(rule.NothingFromTheFuture) {
		return nil
	}
	stamp := p.timeOf(req, params, b)
	if ahead := stamp - p.now().UnixMicro(); ahead > p.rollovers.aheadOfClock.Microseconds() {
		return wire.Invalidf("write_sharding: under strategy 'rollover', a deletion, a null, a TTL or a write of a collection goes to the shards that its key has now, and its timestamp is %s ahead of the store's clock: "+
			"it would have to reach shards that come later; use a timestamp of now, or let the door give it", time.Duration(ahead)*time.Microsecond)
	}
	at := p.rollovers.latestDeletion(t.PhysicalID(), math.MinInt64)
	for {
		last := at.Load()
		if last >= stamp || at.CompareAndSwap(last, stamp) {
			return nil
		}
	}
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

// assumeDeletions is called at the door's start. An earlier run of the door may have sent deletions with
// timestamps ahead of its clock. So assumeDeletions takes the highest possible one as the latest
// timestamp of a deletion on each table of v.
func (o *rollovers) assumeDeletions(v *view) {
	now := o.x.clock.Now().UnixMicro()
	for _, tables := range v.tables {
		for _, t := range tables {
			e := t.entry
			if e.Layout.Strategy == shard.Rollover {
				o.latestDeletion(e.PhysicalID(), now+o.aheadOfClock.Microseconds())
			}
			if e.Next != nil && e.Next.Strategy == shard.Rollover && e.Second != nil {
				o.latestDeletion(e.Second.ID, now+o.aheadOfClock.Microseconds())
			}
		}
	}
}
