// SPDX-License-Identifier: Apache-2.0

// Package mover carries out the mover's part of a change of layout (package reshard) on the
// physical table. It copies, verifies, sweeps and deletes rows, and it publishes the steps. It does
// not deal with the doors that read and write meanwhile: they learn each step from the catalogue,
// and a barrier tells the mover when all doors know it.
//
// A pass goes over the physical partitions in the order of their tokens. The mover keeps the pass's
// position in the catalogue (table evenkeel.moves), so that another mover can continue there. A
// pass can safely repeat everything that it does: it writes cells with their own write times and
// deletes cells at their own write times.
//
// It promises:
//
//  1. The mover writes a moved row with the write time and the remaining time to live of each
//     of its cells. The row marker gets the time of the oldest cell, or the change's start if
//     the row has no cell. If all its cells expire, the marker expires with the last of them.
//  2. A pass that was interrupted continues from its position.
//  3. If another mover has taken a change over, the first one publishes nothing more. Each
//     publication is a conditional write that names the entry on which it is based, and a mover
//     that takes a change over publishes first.
//  4. Before a change begins, Refuse refuses a table whose rows cannot be moved in this way.
//  5. The mover limits its requests in flight so that the store answers them in good time. It slows
//     down when clients of its door wait longer than without it. It never stops for them (pace.go).
//  6. A request of the mover concerns a bounded number of rows, of one physical partition or of a few (unit.go).
//  7. A row that was deleted in one place is deleted in the other: each cell at its own time, and the row only
//     if its marker is left.
//
// It imports catalog, cql/describe, cql/schema, cql/store, cql/syntax, cql/value, cql/wire,
// cqldoor/plan, deadline, reshard and shard.
package mover
