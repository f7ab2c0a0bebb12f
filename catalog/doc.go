// SPDX-License-Identifier: Apache-2.0

// Package catalog stores which tables are sharded and how. It stores this in the backend itself,
// in keyspace evenkeel, so that front doors have no state of their own.
//
// An entry says that the physical table with a certain id has a layout. It goes through these
// states, by lightweight transactions:
//
//	CREATE  (none) → creating → [physical CREATE TABLE] → active
//	DROP    active → dropping → [physical DROP TABLE]   → (none)
//
// It promises:
//
//  1. If an operation ends half-way (a crash, a lost connection), any door can bring its
//     entry in line with the physical schema (Settle): the operation then took place
//     completely or not at all. An entry in state dropping stays until all nodes have
//     dropped the table, because statements can name a table longer than the schema shows it.
//  2. If several doors create a table at the same time, one succeeds, and the others
//     learn that the table exists.
//  3. A layout applies only to the physical table that it was made for. If another table
//     has that name, the entry is stale: it is logged and ignored.
//  4. It uses nothing that Amazon Keyspaces lacks: no index, type, view or TRUNCATE.
//  5. Conditional writes are decided at SERIAL and committed at EACH_QUORUM (Everywhere). One entry
//     is read at SERIAL, all entries at LOCAL_QUORUM, and the directories of buckets and of
//     rollovers at QUORUM. If a backend lacks such a level, the package uses LOCAL_QUORUM (the
//     directories do not). A new keyspace has three replicas in each data centre (Found), or the
//     replication of the keyspace of the first sharded table.
//
// The package sends its requests over a Session, as the door's own account. The physical
// statements are the client's; the caller passes functions that execute them.
//
// It imports cql/schema, cql/store, cql/syntax, cql/value, cql/wire, deadline, registry, reshard
// and shard.
package catalog
