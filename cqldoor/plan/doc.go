// SPDX-License-Identifier: Apache-2.0

// Package plan turns an analysed statement on a sharded table into the
// statements that are sent to its shards.
//
// A plan is a value: it prints (Explain), and it is the same on every door. What
// it takes to answer is one of these:
//
//   - One: the statement goes to one shard, with the shard's column bound beside
//     what it says already, and the answer comes back as it is.
//   - Partitions: the rows of whole logical partitions (or slices of them) are
//     read from their shards and merged in clustering order (package scatter).
//   - Scan: physical partitions are read as they come.
//   - Owners: logical partitions are read whole, each where a scan meets the shard
//     of lowest token that has anything of it.
//
// Where no shard has all of a row (strategy random, static columns), rows are put
// together here, and filters, aggregates and limits are applied after that.
//
// It promises:
//
//  1. Every plan asks the layout how many shards a key has; none holds N.
//  2. The value that is hashed is the value that is sent: a literal that feeds the
//     shard is bound, never parsed a second time by the backend.
//  3. A position in a partition is an interval intersected with the statement's
//     own restrictions, and every interval prints as statements that select its
//     rows, each once, whatever the clustering order.
//  4. Static columns are in one shard of their partition (shard.Layout.Home).
//  5. Under strategy random only what adds goes to one shard; what could take
//     something away goes to all (random.go).
//  6. What a plan cannot keep exact is refused, with the reason and the way out;
//     no text mentions the hidden column.
//
// It does no I/O, starts no goroutine and reads no clock. It imports cql/analysis,
// cql/eval, cql/schema, cql/syntax, cql/value, cql/wire, cqldoor/internal/rule, partitioner
// and shard.
package plan
