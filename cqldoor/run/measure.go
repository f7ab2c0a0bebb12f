// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
)

// Stats holds the router's counts and the state of its tables.
type Stats struct {
	ShardedTables int
	Layouts       []tables.LayoutState // read-only
	Changing      tables.Changing
	CursorErrors  int64 // paging states that are invalid or belong to another statement

	// These count the statements that the door remembers. Clients have prepared Prepared statements of
	// PreparedBytes bytes, and have sent Texts statements as text. Physicals are the statements for shards.
	Prepared, PreparedBytes, Texts, Physicals int

	// Lease is how long the door may use what it has read about tables, in seconds. It is 0 if no other
	// door uses the store. LeaseLeft is the rest of that time. It is negative if the time has ended.
	Lease, LeaseLeft float64
}

// Stats returns the present statistics.
func (r *Router) Stats() Stats {
	s := Stats{CursorErrors: r.reads.CursorErrors.Load(), Changing: r.schema.View.Load().Changing, Layouts: r.schema.View.Load().Layouts,
		Texts: r.cache.Texts.Len(), Physicals: r.cache.Physicals.Len()}
	for _, keyspace := range r.state.Load().Tables {
		s.ShardedTables += len(keyspace)
	}
	s.Prepared, s.PreparedBytes = r.cache.Known.Held()
	s.Lease = r.schema.Doors.Lease.Length().Seconds()
	s.LeaseLeft = r.schema.Doors.Lease.Left().Seconds()
	return s
}

// Changes returns the changes of layout that are under way, in the order of their tables. It serves metrics.
// Changes does not ask the store. Only changes that this door carries out have figures.
func (r *Router) Changes() []reshard.Status {
	var all []reshard.Status
	for _, keyspace := range r.schema.View.Load().Tables {
		for _, t := range keyspace {
			if t.Entry.Change != nil && r.definer.Movers != nil {
				all = append(all, r.definer.Movers.Mover.Glance(t.Entry))
			}
		}
	}
	slices.SortFunc(all, func(a, b reshard.Status) int { return strings.Compare(a.Table, b.Table) })
	return all
}
