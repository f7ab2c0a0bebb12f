// SPDX-License-Identifier: Apache-2.0

// Package read executes SELECTs that one shard cannot answer.
//
// A fetcher sends physical reads, a bounded number at a time (fetch.go). A merger merges the rows of
// the shards of a segment (merge.go), and a reader reads logical partitions (partitions.go). A scan
// reads all partitions in the order of their tokens (scan.go). Shards compute aggregates if the door
// can combine the results (aggregate.go). The door evaluates other aggregates, groups and expressions
// itself (evaluate.go).
//
// While the layout of a table is being changed, a read asks both places of a row (moving.go). The
// Resolver makes them equal (resolve.go).
//
// It imports catalog, cql/analysis, cql/eval, cql/result, cql/schema, cql/store, cql/wire, cqldoor,
// cqldoor/buckets, cqldoor/internal/rule, cqldoor/plan, cqldoor/request, deadline, observe, reshard,
// scatter and shard.
package read
