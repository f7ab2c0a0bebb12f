// SPDX-License-Identifier: Apache-2.0

// Package engine is a Cassandra node in this process: it takes the bodies of
// native protocol requests and answers as a node of Apache Cassandra 5.0 would,
// on its own storage. It is a store.Store; sockets, framing, compression and
// authentication are the business of the door in front of it.
//
// It promises:
//
//  1. An acknowledged write or schema change survives the death of the process
//     and of the machine (Options.Storage.Periodic aside).
//  2. Statements mean what they mean to Cassandra: rows, order, paging, metadata,
//     error codes and texts. What is not supported is refused by an error that
//     names it.
//  3. A request is answered exactly once. Work that waits for the disk or may
//     take long is not done on the caller's goroutine. A bounded number of such
//     requests is carried out at a time: links take turns, and what is over soon
//     does not wait for what may take long (lanes.go).
//  4. What nobody waits for any more is not begun, and reads of it under way end. A
//     write that has begun is finished.
//  5. Memory per request is bounded by the page size, unless the statement asks
//     for all at once (no paging, ORDER BY over several partitions, aggregation
//     by group).
//  6. Paging states are small, survive a restart, and are refused when they were
//     made for another table or by another engine. Another statement on the table
//     goes on with one within its own restrictions.
//
// It is one node by design: every consistency level is satisfied by it, whatever
// the replication factor of the keyspace says.
//
// The way of a request: link.go (→ lanes.go) → query.go, execute.go, batch.go → plan.go (cached)
// → read.go or write.go → respond.go. The schema is a snapshot (state.go) that DDL
// (schema_change.go) replaces.
//
// It imports cql/…, lane, partitioner, engine/capacity, engine/storage and engine/system.
package engine
