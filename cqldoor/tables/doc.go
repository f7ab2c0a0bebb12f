// SPDX-License-Identifier: Apache-2.0

// Package tables holds a CQL door's knowledge of tables, and the door's place among the other doors.
//
// Schemas reads the store's schema and the catalogue. It publishes two immutable snapshots: the
// State, on which statements are planned, and the View, by which the gate (gate.go) decides who
// handles a statement. Tables of strategy rollover also have shards that package rollover reads.
//
// Membership holds this door's lease (lease.go). The door's knowledge is valid as long as the lease
// holds. Doors may have forwarded statements on a table before it was sharded. Claims (claims.go)
// reports whether these have been answered. Terms (terms.go) shows which of the answers count.
//
// The package serves no requests. It imports catalog, cql/analysis, cql/schema, cql/store, cql/syntax,
// cql/wire, cqldoor, cqldoor/plan, deadline, fleet, observe, partitioner, registry, reshard and
// shard.
package tables
