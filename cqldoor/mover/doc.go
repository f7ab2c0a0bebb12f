// SPDX-License-Identifier: Apache-2.0

// Package mover carries out the mover's part of a change of layout (package reshard)
// on the physical table: it copies, verifies, sweeps and deletes rows, and publishes the
// steps. Doors that read and write meanwhile are not its concern: they learn of each
// step from the catalogue, and a barrier says when all have.
//
// A pass goes over the physical partitions in the order of their tokens. Its position
// is kept in the catalogue (table evenkeel.moves), so that another mover goes on from
// there. Everything that a pass does can be done twice: cells are written with the times
// that they have, and are deleted at them.
//
// It promises:
//
//  1. A row that moves is written with the write time and the remaining time to live of
//     each of its cells. Its marker gets the time of its oldest cell, or the change's
//     start where it has none; if all its cells expire, it expires with the last of them.
//  2. A pass that is interrupted is gone on with from its position.
//  3. A mover that was taken for dead publishes nothing: each publication is a
//     conditional write that names the entry it goes by, and a mover that takes a change
//     over publishes first.
//  4. What cannot be moved so is refused before a change begins (Refuse).
//  5. No more is asked of the store at a time than it answers in good time (pace.go).
//
// It imports catalog, cql/describe, cql/schema, cql/store, cql/syntax, cql/value, cql/wire,
// cqldoor/plan, reshard and shard.
package mover
