// SPDX-License-Identifier: Apache-2.0

// Package items carries out requests on the items of plain and sharded tables: reads, writes,
// batches and transactions.
//
// The way of a request: Runner.Do (execute.go) plans it. A Direct plan is one request to the
// backend. A Fanout plan reads several shards and merges them (fanout.go). A Search plan first
// finds out which shard has the item (search.go). Package shift carries out requests on tables
// whose layout is being changed (shifted.go).
//
// A fan-out is bounded: Runner.Fanout requests at a time, and pages of 1 MB. The parts of a
// fan-out are tried again while the backend throttles them, for Runner.RetryFor at most.
//
// Before the door rejects a request on a sharded table, it sends the store an equivalent invalid
// request as the client (probe.go). A client without rights learns nothing of the table.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamodoor/backend,
// dynamodoor/catalog, dynamodoor/plan, dynamodoor/principal, dynamodoor/reshard,
// dynamodoor/shift, dynamodoor/tables, observe and scatter.
package items
