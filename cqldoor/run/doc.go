// SPDX-License-Identifier: Apache-2.0

// Package run executes the plans of statements on sharded tables. It is the door's Router.
//
// A request is parsed, analysed on the logical schema and planned (cqldoor/plan) once for each
// prepared statement. If it goes to one shard, the client's message is rewritten and passed on.
// If it goes to several shards, the door sends a bounded number of fetches at a time over the
// client's own link, merges their rows (package scatter), and answers once.
//
// It promises:
//
//  1. An answer is complete, or it is the error of the first shard that returned one.
//  2. Paging states are plan.Cursors: the door keeps nothing between pages.
//  3. A request for a client is sent over that client's link, with its rights.
//  4. An EXECUTE of one shard does not allocate.
//  5. If the store throttles some shards of a read, the door asks those shards again, as
//     long as Options.RetryFor lasts and the client waits. It never repeats a write or a
//     request to a single shard.
//  6. A prepared id is a hash of keyspace and text, the same on every door. The registry is
//     bounded; an id that it has forgotten is answered with UNPREPARED.
//
// It imports catalog, cqldoor, cqldoor/internal/rule, cqldoor/plan, partitioner,
// scatter, shard, fleet and cql.
package run
