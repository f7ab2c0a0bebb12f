// Package run carries out the plans of write-sharded DynamoDB tables: it is the
// store that the door fronts, on top of another, which knows plain tables only.
//
// It promises:
//
//  1. Requests about plain tables go to the backend as they are; while no table is
//     sharded, they are not even read.
//  2. A table is sharded from its CreateTable on: its entry in the catalogue is
//     written before the physical table, and what is left half-way is settled when
//     a door starts.
//  3. A physical table without an entry is refused, not served as a plain one, and
//     so is an entry whose physical table is another than it was made for.
//  4. A fan-out is bounded: so many requests at a time, and pages of 1 MB.
//  5. The catalogue is not shown, and no client's request reaches it.
//
// The way of a request: Do (router.go) → plan → execute.go or fanout.go; requests
// about tables themselves: ddl.go.
//
// It imports dynamo/…, dynamodoor/catalog, dynamodoor/plan, scatter and shard.
package run
