// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// barrier waits until doors have acknowledged a generation of a table. It does no I/O: look is
// called with the doors' rows and the time.
type barrier struct {
	table      [16]byte
	generation int64
	grace      time.Duration // added to the lease: the longest request, and the drift of clocks
	waits      map[[16]byte]*waiting
}

// waiting is a door that has not acknowledged.
type waiting struct {
	door  *Door
	since time.Time // when its row was last seen to change, or first seen
	over  bool      // its lease has certainly ended
}

func newBarrier(table [16]byte, generation int64, grace time.Duration) *barrier {
	return &barrier{table: table, generation: generation, grace: grace, waits: map[[16]byte]*waiting{}}
}

// look takes the doors as they were read at a time of the mover's clock. It is first called after
// the publication. It says whether the wait is over. of lists the doors that have vanished or, if
// the wait is not over, the doors that it waits for.
func (b *barrier) look(now time.Time, doors []*Door) (passed bool, of []*Door) {
	present := map[[16]byte]bool{}
	for _, d := range doors {
		present[d.ID] = true
		w := b.waits[d.ID]
		switch {
		case d.Acknowledged[b.table] >= b.generation || d.Left():
			delete(b.waits, d.ID)
		case w == nil:
			b.waits[d.ID] = &waiting{door: d, since: now}
		case w.door.Beat != d.Beat:
			w.door, w.since, w.over = d, now, false
		case now.Sub(w.since) > d.Lease+b.grace:
			w.over = true
		}
	}
	var vanished, awaited []*Door
	for id, w := range b.waits {
		// A row disappears if nobody has renewed it for 10 minutes.
		if w.over || !present[id] {
			w.over = true
			vanished = append(vanished, w.door)
		} else {
			awaited = append(awaited, w.door)
		}
	}
	if len(awaited) > 0 {
		return false, awaited
	}
	return true, vanished
}

// A VanishedError says that doors neither acknowledged a generation nor renewed their leases.
// Requests that they had sent before may arrive late.
type VanishedError struct {
	Table      Table
	Generation int64
	Doors      []*Door
}

func (e *VanishedError) Error() string {
	return fmt.Sprintf("doors vanished without acknowledging generation %d of %s: %s", e.Generation, e.Table, names(e.Doors))
}

func names(doors []*Door) string {
	var all []string
	for _, d := range doors {
		all = append(all, d.Name())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
