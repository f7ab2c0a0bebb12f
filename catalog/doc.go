// SPDX-License-Identifier: Apache-2.0

// Package catalog keeps which tables are sharded and how: in the backend itself,
// in keyspace evenkeel, so that front doors have no state of their own.
//
// An entry says that the physical table with a certain id has a layout. It goes
// through these states, by lightweight transactions:
//
//	CREATE  (none) → creating → [physical CREATE TABLE] → active
//	DROP    active → dropping → [physical DROP TABLE]   → (none)
//
// It promises:
//
//  1. Whoever ends half-way (a crash, a lost connection) leaves an entry that any
//     door brings in line with the physical schema (Settle): an operation took
//     place whole or not at all.
//  2. Of several doors that create a table at the same time one does, and the
//     others learn that it exists.
//  3. A layout applies only to the physical table that it was made for: where
//     another has its name, the entry is stale, which is logged, and ignored.
//  4. Nothing is used that Amazon Keyspaces lacks: no index, type, view, TRUNCATE.
//  5. Reads and writes are at LOCAL_QUORUM and LOCAL_SERIAL; where a backend
//     refuses serial reads, at LOCAL_QUORUM. The catalogue's keyspace has the
//     replication of the keyspace of the first sharded table.
//
// What it does, it does over a Session: the door's own account. The physical
// statements are the client's, and are executed by functions that are given.
//
// It imports cql/schema, cql/store, cql/syntax, cql/value, cql/wire, reshard and shard.
package catalog
