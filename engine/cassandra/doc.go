// SPDX-License-Identifier: Apache-2.0

// Package cassandra is a Cassandra node in this process. It takes the bodies of native protocol
// requests and answers as a node of Apache Cassandra 5.0 would, on its own storage. It is a
// store.Store. The door in front of it does sockets, framing, compression and authentication.
//
// It promises:
//
//  1. An acknowledged write or schema change survives the death of the process and of the
//     machine (except with Options.Storage.Periodic).
//  2. A statement has the same result as in Cassandra: rows, order, paging, metadata, error codes
//     and texts. If the engine does not support something, it refuses it with an error that names
//     it.
//  3. Each request is answered exactly once. Work that waits for the disk or may take long
//     does not run on the caller's goroutine. A bounded number of such requests runs at a
//     time. Links take turns, and short requests do not wait for long ones (lanes.go).
//  4. If nobody waits for a request any more, the engine does not begin it, and ends a read that is
//     under way. It finishes a write that has begun.
//  5. Memory for each request is bounded by the page size, unless the statement asks for
//     all rows at once (no paging, ORDER BY over several partitions, aggregation by group).
//  6. Paging states are small and survive a restart. They are refused if they were made for
//     another table or by another engine. Another statement on the table can continue from
//     one, within its own restrictions.
//
// The engine is a single node by design. It satisfies every consistency level, whatever the
// replication factor of the keyspace says.
//
// A request takes the path link.go (→ lanes.go) → call.go → query.go, batch.go → plan.go (cached in
// prepared.go) → read.go or write.go → rows.go. The schema is a snapshot (state.go) that DDL
// (schema_change.go) replaces.
//
// It imports cql/…, lane, partitioner, engine/throughput, engine/storage and engine/cassandra/system.
package cassandra
