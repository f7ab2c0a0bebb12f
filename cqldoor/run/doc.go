// SPDX-License-Identifier: Apache-2.0

// Package run executes the plans of statements on sharded tables. It is the door's Router.
//
// A request is parsed, analysed on the logical schema and planned (cqldoor/plan) once for each
// prepared statement. If it goes to one shard, the client's message is rewritten and passed on.
// If it goes to several shards, the door sends a bounded number of fetches at a time over the
// client's own link, merges their rows (package scatter), and answers once.
//
// The Router sends a request to one of its parts. Each part has only the state that it may use:
//
//   - queries, executes and batches serve the requests of clients: QUERY and PREPARE, EXECUTE, BATCH.
//   - passer rewrites a statement of one shard and passes it on. answers executes any other: reads
//     and writer carry it out.
//   - Below reads, fetcher sends physical reads, merger merges the rows of segments, and reader reads
//     logical partitions.
//   - Below writer, placer draws shards and gives timestamps, buckets keeps the directory of
//     strategy time, applier sends physical writes, and resolver makes two places of a row equal.
//   - statements plans texts. attempts repeats a request if the schema has changed meanwhile, and
//     premises says whether a plan is still valid when the store has answered. standing says the
//     same of statements that the doors have forwarded.
//   - definer serves DDL and starts changes of layout. viewer shows the schema and the nodes. explains
//     says what the shard rules say.
//   - schemas reads the catalogue, and keeps the State and the view. membership holds the lease and
//     talks to the other doors. rollovers, movers, adoptions and keeper work in the background.
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
//  6. A prepared id is a hash of keyspace and text, the same on every door. The plan cache is
//     bounded. If it has forgotten an id, the Router answers UNPREPARED.
//
// It imports catalog, cqldoor, cqldoor/internal/rule, cqldoor/plan, partitioner, registry,
// scatter, shard, shard/timebucket, fleet and cql.
package run
