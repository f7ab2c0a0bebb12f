// SPDX-License-Identifier: Apache-2.0

// Package fleet lets several doors in front of one store know of each other, so that no door uses
// a layout that another door has changed.
//
// The doors have no coordinator but the store. Each door has a row in table evenkeel.doors, which
// it rewrites while it lives, and a lease: it may use what it has read of the catalogue until the
// lease ends. A door that cannot renew its lease does not serve sharded tables.
//
// A door is a Member. At each renewal it
//
//  1. takes the time, from which the lease will count (Beat does this);
//  2. writes its row, with what it has acknowledged, and reads all rows and all
//     publications (Beat does this);
//  3. reads the layouts, if something was published or the schema has changed;
//  4. lets its lease begin at the time of 1.
//
// The mover of a change of layout writes the catalogue and then, as a Member too, calls
//
//	m.Knows(ctx, steps...)            // before anything begins: do all doors know the steps?
//	m.Publish(ctx, fleet.Publication{Table: t, Generation: 7, Step: "announced"})
//	err := m.Barrier(ctx, t, 7)       // no door uses anything older than generation 7
//	m.Withdraw(ctx, t, 7)             // at the end of the change
//
// It promises:
//
//  1. A door registers, then reads the layouts; the mover publishes, then reads the
//     doors. So either the mover waits for the door, or the door knows the generation.
//  2. Barrier returns nil when every door has acknowledged the generation: it has no
//     request under way that was planned under an earlier one.
//  3. Barrier returns a *VanishedError if some doors have neither acknowledged nor renewed
//     their leases for the time of a lease, the longest request and the drift of clocks.
//     Such doors acknowledge no more requests to their clients, but requests that they had
//     sent may have arrived. So the change goes back to verify. One barrier of a Member
//     reports such a registration. Later barriers do not wait for it.
//  4. No clocks of two machines are compared. The mover counts from its own publication,
//     by its own clock.
//     A door that gets an answer after its lease has ended looks at the catalogue again before
//     it passes the answer on, also if it has only forwarded the statement (StepForwarded). So
//     nobody waits for such a door.
//  5. A door that was away for longer than its lease comes back with another id, and
//     registers before it reads. A row that is not renewed disappears after 10 minutes.
//  6. A door that does not know the catalogue's format, or the step of a change that is
//     under way, does not join.
//
// A door reads and writes at LOCAL_QUORUM. So it goes on while another data centre is down. A
// mover publishes, and reads the doors, at EACH_QUORUM. So it reaches the quorum of every data
// centre, and no layout changes while one of them is down. If the store refuses EACH_QUORUM,
// the mover uses ALL, or QUORUM where one number of replicas counts for all data centres. Amazon
// Keyspaces has only LOCAL_QUORUM; all doors must then be in one region.
//
// It imports catalog, cql/wire, deadline and registry.
package fleet
