// SPDX-License-Identifier: Apache-2.0

// Package run is the door's Router. It serves statements on sharded tables.
//
// The door parses a statement, analyses it on the logical schema and plans it (cqldoor/plan). It does this
// once for each prepared statement. If the statement goes to one shard, the door rewrites the client's message
// and passes it on. If it goes to several shards, the door sends a bounded number of fetches at a time over the
// client's own link, merges their rows (package scatter), and answers once.
//
// The Router sends a request to one of its parts. Each part has only the state that it may use. These
// parts are packages, from the lowest up:
//
//   - tables has the door's knowledge of tables, its lease, and the gate.
//   - request plans statements, and sends a client's requests to the store.
//   - rollover and buckets keep the directories of the strategies rollover and time.
//   - read and write carry out statements on rows.
//   - schemaview shows the schema and the nodes. definitions serves DDL, and runs changes of layout.
//
// In this package, queries serves QUERY and PREPARE, executes serves EXECUTE, and batches serves BATCH.
// passer rewrites a statement of one shard and passes it on. answers executes all other statements.
//
// It promises:
//
//  1. An answer is complete, or it is the error of the first shard that returned one.
//  2. Paging states are plan.Cursors: the door keeps nothing between pages.
//  3. The door sends a request for a client over that client's link, with the client's rights.
//  4. An EXECUTE of one shard does not allocate.
//  5. If the store throttles some shards of a read, the door asks those shards again, as
//     long as Options.RetryFor lasts and the client waits. It does not do so for a write or for a
//     request to a single shard.
//  6. A prepared id is a hash of keyspace and text, the same on every door. The plan cache is
//     bounded. If it has forgotten an id, the Router answers UNPREPARED.
//
// The package imports catalog, cqldoor, cqldoor/internal/rule, cqldoor/plan, these parts, fleet, observe,
// reshard, shard, shardrules and cql.
package run
