// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shard"
)

// LatestDeletion returns the latest timestamp, in microseconds, of a deletion on a table. The caller may raise it.
// If no timestamp is known yet, LatestDeletion starts with first. table is the id of the physical table.
func (o *Rollovers) LatestDeletion(table [16]byte, first int64) *atomic.Int64 {
	latest, ok := o.deleted.Load(table)
	if !ok {
		made := new(atomic.Int64)
		made.Store(first)
		latest, _ = o.deleted.LoadOrStore(table, made)
	}
	return latest.(*atomic.Int64)
}

// AssumeDeletions sets the latest timestamp of a deletion on each table of v to the highest possible one. The door
// calls it when it starts. An earlier run of the door may have sent deletions with timestamps ahead of its clock.
func (o *Rollovers) AssumeDeletions(v *tables.View) {
	now := o.x.Clock.Now().UnixMicro()
	for _, tables := range v.Tables {
		for _, t := range tables {
			e := t.Entry
			if e.Layout.Strategy == shard.Rollover {
				o.LatestDeletion(e.PhysicalID(), now+o.AheadOfClock.Microseconds())
			}
			if e.Next != nil && e.Next.Strategy == shard.Rollover && e.Second != nil {
				o.LatestDeletion(e.Second.ID, now+o.AheadOfClock.Microseconds())
			}
		}
	}
}
