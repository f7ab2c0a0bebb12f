// SPDX-License-Identifier: Apache-2.0

// Package tables is what a CQL door knows of tables, and this door's place among the doors.
//
// Schemas reads the store's schema and the catalogue. It publishes two immutable snapshots: the
// State, on which statements are planned, and the View, by which the gate (gate.go) decides who
// handles a statement. Tables of strategy rollover also have shards that package rollover reads.
//
// Membership holds this door's lease (lease.go). What the door knows is valid as long as the lease
// holds. The claims (claims.go) and the Terms (terms.go) say what the door forwarded before a table
// was sharded.
//
// It serves no requests. It imports catalog, cql/analysis, cql/schema, cql/store, cql/syntax,
// cql/wire, cqldoor, cqldoor/plan, deadline, fleet, observe, partitioner, registry, reshard and
// shard.
package tables
