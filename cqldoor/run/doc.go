// SPDX-License-Identifier: Apache-2.0

// Package run carries out the plans of statements on sharded tables: it is the
// door's Router.
//
// A request is parsed, analysed on the logical schema and planned (cqldoor/plan)
// once for each prepared statement. One shard: the client's message is rewritten
// and passed on. Several: fetches are sent over the client's own link, bounded
// in number, merged (package scatter), and answered as one.
//
// It promises:
//
//  1. All or error: an answer is complete, or it is the error of the first shard
//     that gave one.
//  2. Paging states are plan.Cursors: nothing is kept between pages.
//  3. What is sent for a client goes over that client's link, with its rights.
//  4. An EXECUTE of one shard does not allocate.
//  5. A read of several shards asks those again that the store throttles, for as
//     long as Options.RetryFor and the client have patience. Writes and what goes to
//     one shard are never asked again.
//  6. Prepared ids are a hash of keyspace and text, the same on every door; the
//     registry is bounded, and an id that has left it is UNPREPARED.
//
// It imports catalog, cqldoor, cqldoor/internal/rule, cqldoor/plan, partitioner,
// scatter, shard, fleet and cql.
package run
