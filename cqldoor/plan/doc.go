// SPDX-License-Identifier: Apache-2.0

// Package plan turns an analysed statement on a sharded table into the statements that the door
// sends to its shards.
//
// A plan is a value. It can be printed (Explain), and it is the same on every door. It has one of
// four kinds of access:
//
//   - One: the statement goes to one shard. The shard's value is bound with the statement's
//     own, and the answer is returned unchanged.
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
//  2. The value that is hashed is the value that is sent: a literal that decides the shard
//     is bound as a value, so the backend does not parse it again.
//  3. A position in a partition is an interval intersected with the statement's own
//     restrictions. Every interval prints as statements that select each of its rows
//     exactly once, in any clustering order.
//  4. Static columns are in one shard of their partition (shard.Layout.Home).
//  5. Under strategy random only a write that adds goes to one shard. A write that could
//     remove something goes to all shards (random.go).
//  6. A statement that cannot be answered exactly is refused, with the reason and the way
//     out. No message mentions the hidden column.
//
// It does no I/O, starts no goroutine and reads no clock. It imports cql/analysis,
// cql/eval, cql/schema, cql/syntax, cql/value, cql/wire, cqldoor/internal/rule, partitioner
// and shard.
package plan
