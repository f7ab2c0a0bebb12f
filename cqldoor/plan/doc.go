// SPDX-License-Identifier: Apache-2.0

// Package plan turns an analysed statement on a sharded table into the statements that the door
// sends to its shards.
//
// A plan is a value. It can be printed (Explain), and it is the same on every door. It has one of
// four kinds of access:
//
//   - One: the statement goes to one shard. The door binds the shard's value beside the statement's
//     own values, and returns the answer unchanged.
//   - Partitions: the rows of whole logical partitions, or of slices of them, are read from
//     their shards and merged in clustering order (package scatter).
//   - Scan: physical partitions are read in the order of their tokens.
//   - Owners: logical partitions are read whole. A scan reads a partition when it reaches
//     the partition's shard with the lowest token.
//
// If no shard has all of a row (strategy random, static columns), the door combines rows first,
// then applies filters, aggregates and limits.
//
// It promises:
//
//  1. Every plan asks the layout how many shards a key has. No plan stores the number.
//  2. The door sends exactly the value that it has hashed. If a literal decides the shard, the door
//     binds it as a value, so the backend does not parse it again.
//  3. A position in a partition is an interval intersected with the statement's own
//     restrictions. Every interval prints as statements that select each of its rows
//     exactly once, in any clustering order.
//  4. Static columns are in one shard of their partition (shard.Layout.Home).
//  5. Under strategy random only a write that adds goes to one shard. A write that could
//     remove something goes to all shards (random.go).
//  6. If the package cannot answer a statement exactly, it refuses the statement. The error gives the
//     reason and the way out. No error mentions the hidden column.
//
// It does no I/O, starts no goroutine and reads no clock. It imports cql/analysis,
// cql/eval, cql/schema, cql/syntax, cql/value, cql/wire, cqldoor/internal/rule, partitioner
// and shard.
package plan
