// SPDX-License-Identifier: Apache-2.0

package write

import (
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// Drawers draw the shard of a write that may go to any shard. They draw evenly for each table and
// number of shards: each has its own shard.Drawer.
type Drawers struct {
	IntN func(n int) int
	all  sync.Map // drawKey → *shard.Drawer
}

type drawKey struct {
	keyspace, table string
	n               int
}

// one draws a shard of a key.
func (d *Drawers) one(t *plan.Table, key [][]byte) int {
	spread := t.Layout.Spread(plan.AppendKey(nil, key))
	n := spread.N
	if drawn := t.Layout.Drawn; drawn > 0 && rule.On(rule.ReadBeforeDrawn) {
		n = min(n, drawn)
	}
	k := drawKey{t.Keyspace, t.Name, n}
	drawer, ok := d.all.Load(k)
	if !ok {
		drawer, _ = d.all.LoadOrStore(k, shard.NewDrawer(k.n, d.IntN))
	}
	return spread.Base + drawer.(*shard.Drawer).Draw()
}

// Draw is a plan.Draw that draws a shard anew for each write.
func (d *Drawers) Draw(t *plan.Table, key [][]byte, _ *analysis.BoundWrite, adds bool) []int {
	if !adds {
		return t.Shards(key)
	}
	return []int{d.one(t, key)}
}

// drawOnce returns a Draw that draws one shard for each logical partition. So the writes of a batch
// to one partition go to one shard.
func (d *Drawers) drawOnce() plan.Draw {
	drawn := map[string]int{}
	return func(t *plan.Table, key [][]byte, _ *analysis.BoundWrite, adds bool) []int {
		if !adds {
			return t.Shards(key)
		}
		place := placeOf(t, key)
		n, ok := drawn[place]
		if !ok {
			n = d.one(t, key)
			drawn[place] = n
		}
		return []int{n}
	}
}

// placeOf returns a name for a logical partition.
func placeOf(t *plan.Table, key [][]byte) string {
	return t.Keyspace + "." + t.Name + "\x00" + string(plan.AppendKey(nil, key))
}
