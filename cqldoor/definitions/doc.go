// SPDX-License-Identifier: Apache-2.0

// Package definitions serves DDL. It creates, alters and drops sharded tables, begins changes of their
// layouts, and adopts tables that were sharded by hand.
//
// The Definer decides which statements it serves (definer.go). A change carries one statement out (ddl.go, and
// one file for each kind of statement). Movers carries out the changes of layout in this door (movers.go).
// ShardRules applies the shard rules (shardrules.go). Explainer explains the rules for a table (explain_rules.go).
//
// It imports catalog, cql/ddl, cql/describe, cql/schema, cql/store, cql/syntax, cql/value, cql/wire,
// cqldoor, cqldoor/buckets, cqldoor/mover, cqldoor/plan, cqldoor/request, cqldoor/schemaview,
// cqldoor/tables, deadline, fleet, observe, registry, reshard, shard and shardrules.
package definitions
