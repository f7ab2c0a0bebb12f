// SPDX-License-Identifier: Apache-2.0

// Package cache keeps responses of a CQL store in memory. Identical reads that are under way
// share one request. The cache is a store.Store on top of another store, below the router and the
// door.
//
// The cache serves an EXECUTE of a SELECT whose markers bind the whole partition key, at ONE or
// LOCAL_ONE. The response must be one page and depend on the partition alone: no function, no
// aggregate, no paging state. All other requests go to the store unchanged. The promises are
// those of dynamodoor/cache:
//
//  1. The cache never shows one account an answer that it keeps for another.
//  2. After a write through this door is acknowledged, no later read of its partition through this
//     door returns older data. Reads see other writes after Options.TTL at the latest.
//  3. Answers are the store's, byte for byte.
//  4. A client that gives up ends only its own request.
//  5. Memory is bounded by Options.Size, in bytes. The memory for prepared statements
//     (maxStatements) comes on top.
//
// # How the second promise is kept
//
// Package cachefence counts the writes. Its keys here are partition keys. A prepared write whose
// markers bind the whole key counts as a write to that partition. Any other prepared write, a
// write sent as text, and TRUNCATE count as writes to the table. Requests that the cache cannot
// read, and all DDL, here or announced by an event, count as writes to anything.
//
// The cache does not keep rows of a table with a default_time_to_live, nor of a table for which a
// statement with USING TTL was prepared or sent here. An answer does not say when its cells
// expire.
//
// It imports cql/store, cql/syntax, cql/wire and cachefence.
package cache
