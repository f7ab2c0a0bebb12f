// SPDX-License-Identifier: Apache-2.0

// Package schemaview shows clients the schema as if sharded tables were plain ones, and the doors as
// the nodes. It does so in the system tables (systemtables.go, noderows.go) and in DESCRIBE
// (describe.go).
//
// It imports catalog, cql/analysis, cql/describe, cql/eval, cql/result, cql/schema, cql/syntax,
// cql/value, cql/wire, cqldoor, cqldoor/request, cqldoor/tables and partitioner.
package schemaview
