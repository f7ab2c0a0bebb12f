// SPDX-License-Identifier: Apache-2.0

// Package cache keeps answers of a CQL store in memory, and lets identical reads that are under
// way share one request: it is a store.Store on top of another, below the router and the door.
//
// What may be answered from it is an EXECUTE of a SELECT whose markers bind the whole partition
// key, at ONE or LOCAL_ONE, whose answer is one page and depends on the partition alone: no
// function, no aggregate, no paging state. All other requests go to the store as they are. The
// promises are those of dynamodoor/cache:
//
//  1. What is kept for one account is shown to no other.
//  2. After a write through this door is acknowledged, no later read of its partition through
//     this door is answered with what was before it. What is written elsewhere is seen after
//     Options.TTL at most.
//  3. Answers are the store's, byte for byte.
//  4. A client that gives up ends its own request only.
//  5. Memory is bounded by Options.Size, in bytes, beside what is known of prepared statements
//     (maxStatements).
//
// # How the second holds
//
// By package fence, whose keys here are partition keys. A prepared write whose markers bind the
// whole key counts as one to that partition. One that does not, a write as text, and TRUNCATE
// count as writes to the table. What cannot be read, and all DDL, here or by another door of which
// an event tells, count as writes to anything.
//
// A table with a default_time_to_live is not kept, nor one to which a statement with USING TTL was
// prepared or sent here: an answer does not say when its cells expire.
//
// It imports cql/store, cql/syntax, cql/wire and fence.
package cache
