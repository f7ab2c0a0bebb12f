// SPDX-License-Identifier: Apache-2.0

// Package reshard is the protocol by which a CQL table gets another layout while it is in use. It
// says which steps a change has, what a door and the mover do in each step, and which step may
// follow which. It is a state machine of values. It does no I/O and reads no clock: doors and the
// mover carry out its acts.
//
// # Words
//
// The place of a row is the physical partition that a layout puts it in. A row has an
// old place, by the old layout, and a new place, by the new one. If they differ, the
// row moves. This package is about rows that move. A place is never used twice: where
// a row moves to, no row of its key has ever been.
//
// A door is a front door. The mover copies rows. One door at a time runs it. The mover
// publishes a step by writing it to the catalogue. Each publication has a number, the
// generation. A door acknowledges a generation when it has no request under way that it
// planned under an earlier one. The mover waits at a barrier until each door has
// acknowledged the generation or has lost its lease.
//
// # Steps
//
//	step        reads    writes            the mover, after the barrier
//	none        old      old               –
//	announced   old      new, then old     copies the rows that move
//	switching   both     new, then old     verifies them at ALL
//	switched    new      new, then old     waits, if it has the order to
//	settled     new      new               moves what came late to the old places
//	cleaned     new      new               empties the old places, ends the change
//	withdrawn   old      old               deletes the copies, ends the change
//
// A change goes from announced to cleaned. Before settled it can be taken back:
// switched → switching (verified again) → announced → withdrawn. If a door loses its lease
// without acknowledging switched then the change goes back to switching, too, and all rows
// are verified again. The exploration goes both ways there: neither loses data.
//
// A change between a plain table and a sharded one has the same steps in both directions, and so
// has a change to, from or between buckets of time, and one to or from strategy rollover. Its places are in two physical tables. The
// mover empties neither: at the end it drops the table that is no longer used. The second table has
// a name that no table had before. Otherwise a late request of an earlier change could write to the
// new place.
//
// A statement that a door forwards to a plain table is one of step none. Like any other answer, its
// answer counts only if the door's lease is still valid.
//
// Readers see a place that is a bucket of time only if the directory of buckets lists it. Before a
// door or the mover writes a row to such a place, or copies one there, it adds the bucket to the
// directory. Then it repeats in the bucket the deletions of many buckets that the directory has. A
// door records such a deletion before it reads from the directory which buckets there are.
//
// Under strategy rollover any shard of a key can have cells of a row. The newest of each cell counts. A
// row's place under this strategy is then all shards of its key. A look at the place merges the shards. A drop
// goes to all of them. A copy goes to one that accepts cells of any time, or to all shards if it expires. So a
// reader sees in this place what the same writes would leave in one partition. So the programs need no change
// for it.
//
// A door may begin further shards of a key at any moment. So when the mover has looked at such a place, it asks
// which shards there are now, and looks at those that it did not know.
//
// In step announced the mover opens the shards that accept cells of any time, before it copies; a
// barrier passes between their announcement and that. So no deletion is under way whose door does not know them.
// The deletions before that have reached shard 1 alone. So clients' cells go to the other shards only if they are
// later than all of these deletions.
//
// What a door does is a Duty: short programs of acts (Act), one for reads and two
// for writes. What the mover does with a row is a program of the same acts.
//
// # Rules
//
// Each rule of rule.go is needed: if one is switched off, the exploration in explore_test.go finds
// a row that is lost, comes back, or disappears after a reader has seen it.
//
// # What is explored, and what is not
//
// Explored, exhaustively for small bounds: one cell of one row; two doors; a mover
// that dies and begins its work anew; one or two writes and deletions, stamped before
// or after the change, or sent at ONE or ANY; one client that reads at both doors;
// doors that crash, stall between planning and sending, and lose their leases;
// messages of doors, of readers and of the mover that arrive any time later; the way
// back from every step; tombstones that are purged; places in one table and in two; places that
// are buckets of time, with deletions of many buckets; places of strategy rollover with two shards, whose second
// one a door or the mover begins during the change.
//
// What the exploration found, and what was changed for it: a copy that a dead mover
// had sent may arrive after verify. If the copier did not see an acknowledged
// deletion (it was sent at ONE before the change) then the copy brings the row back,
// even though verify reads at ALL. So the copier reads at ALL too (rule AtAll).
//
// The exploration leaves these out:
//
//   - several cells of a row that depend on each other, and row markers
//   - range tombstones other than of many buckets, times to live, collections, counters, conditions, batches
//   - clocks: the exploration assumes that doors stamp
//   - single replicas
//   - requests to the directory of buckets that arrive late
//   - races of the catalogue
//   - more than two doors, and more than one reader
//   - two changes in a row, except for the rule FreshPlaces
//
// Known and accepted:
//
//   - A deletion at ANY that is a hint when the change begins, and reaches its replica
//     after the rows were verified, is lost. A write at ANY shows after the sweep.
//   - A client that uses two doors during switching may see an unacknowledged
//     deletion and then the older write once more.
//   - The change does not copy tombstones. If a client later writes data with a timestamp older
//     than a deletion from before the change, readers see these data.
package reshard
