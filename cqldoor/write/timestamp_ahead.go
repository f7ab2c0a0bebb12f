// SPDX-License-Identifier: Apache-2.0

package write

import (
	"math"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// checkAhead checks the timestamp of a write under strategy rollover that goes to all shards of a key,
// for example a deletion. It returns an error if the timestamp is more than AheadOfClock ahead of the
// store's clock: shards that are announced later would need the write too. It notes any other
// timestamp in Rollovers.LatestDeletion if it is the latest one.
func (p *Placer) checkAhead(req *cqldoor.Request, params *wire.Params, w *plan.Write, b *analysis.BoundWrite) error {
	t := w.Table
	if w.To != nil && w.To.Table.Layout.Strategy == shard.Rollover {
		t = w.To.Table
	}
	if t.Layout.Strategy != shard.Rollover || w.Adds(b) || !rule.On(rule.NothingFromTheFuture) {
		return nil
	}
	stamp := p.timeOf(req, params, b)
	if ahead := stamp - p.Now().UnixMicro(); ahead > p.Rollovers.AheadOfClock.Microseconds() {
		return wire.Invalidf("write_sharding: under strategy 'rollover', a deletion, a null, a TTL or a write of a collection goes to the shards that its key has now, and its timestamp is %s ahead of the store's clock: "+
			"it would have to reach shards that come later; use a timestamp of now, or let the door give it", time.Duration(ahead)*time.Microsecond)
	}
	at := p.Rollovers.LatestDeletion(t.PhysicalID(), math.MinInt64)
	for {
		last := at.Load()
		if last >= stamp || at.CompareAndSwap(last, stamp) {
			return nil
		}
	}
}
