// SPDX-License-Identifier: Apache-2.0

// Package items carries out requests on the items of plain and sharded tables: reads, writes,
// batches and transactions.
//
// Runner.Do (execute.go) plans a request. It sends a Direct plan to the backend as one request. For
// a Fanout plan, it reads several shards and merges them (fanout.go). For a Search plan, it first
// finds the shard that has the item (search.go). Package shift carries out requests on tables whose
// layout is being changed (shifted.go).
//
// Under strategy rollover, the door reads where the shards of a partition key begin, and begins new
// ones (rolled.go). While such a table gets or leaves the strategy, its partition keys get no further
// shards (frozen.go).
//
// If the backend is a Gatherer, it reads the shards of a table in one request (gather.go).
//
// A Query of a table of strategy time reads its buckets one after the other, and a write adds its
// bucket to the directory first (time.go).
//
// A fan-out is limited to Runner.Fanout requests at a time, and to pages of 1 MB. While the backend
// throttles parts of a fan-out, the door retries them, for Runner.RetryFor at most.
//
// Before the door rejects a request on a sharded table, it sends the store an equivalent invalid
// request with the client's rights (probe.go). So a client without rights learns nothing of the
// table.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamodoor/backend,
// dynamodoor/catalog, dynamodoor/plan, dynamodoor/principal, dynamodoor/shift,
// dynamodoor/tables, internal/switches, observe, registry, scatter and shard/timebucket.
package items
