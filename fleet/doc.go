// SPDX-License-Identifier: Apache-2.0

// Package fleet is what several doors in front of one store need to know of each other,
// so that none goes by a layout that another has changed.
//
// Doors have no coordinator but the store. Each has a row in table evenkeel.doors, which
// it writes anew while it lives, and a lease: what it has read of the catalogue it may go
// by until the lease is over. A door that cannot renew its lease serves nothing of sharded
// tables.
//
// A door is a Member. At each renewal it
//
//  1. takes the time, from which the lease is to count (Beat does);
//  2. writes its row, with what it has acknowledged, and reads all rows and what has been
//     published (Beat does);
//  3. reads the layouts, where something was published or the schema has changed;
//  4. lets its lease begin at the time of 1.
//
// Whoever changes a layout, the mover, writes the catalogue and then, as a Member too,
//
//	m.Knows(ctx, steps...)            // before anything begins: do all doors know the steps?
//	m.Publish(ctx, fleet.Publication{Table: t, Generation: 7, Step: "announced"})
//	err := m.Barrier(ctx, t, 7)       // nobody goes by what was before generation 7
//	m.Withdraw(ctx, t)                // at the end of the change
//
// It promises:
//
//  1. A door registers, then reads the layouts; the mover publishes, then reads the
//     doors. So either the mover waits for the door, or the door knows the generation.
//  2. Barrier returns nil when every door that there is has acknowledged the generation:
//     nothing that was planned under an earlier one is under way at it.
//  3. Barrier returns a *VanishedError when the others have, and some doors have
//     neither acknowledged nor renewed their leases for as long as a lease, the longest
//     request and the drift of clocks take. These acknowledge nothing to their clients any
//     more, but what they have sent may have arrived: the change goes back to verify. A
//     registration that vanished is reported by one barrier of a Member, and not waited
//     for again.
//  4. No clocks of two machines are compared. The mover counts from its own publication,
//     by its own clock.
//  5. A door that was away for longer than its lease comes back with another id, and
//     registers before it reads. A row without renewal is gone after 10 minutes.
//  6. A door that does not know the catalogue's format, or the step of a change that is
//     under way, does not join.
//
// All reads and writes are at QUORUM, over all data centres; where a store does not have
// that level (Amazon Keyspaces), at LOCAL_QUORUM, and all doors must then be in one
// region.
//
// It imports catalog and cql/wire.
package fleet
