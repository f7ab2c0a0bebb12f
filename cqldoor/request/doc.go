// SPDX-License-Identifier: Apache-2.0

// Package request has what all parts of the router need to serve a client's request.
//
//   - A Statement is a text with its plan. Statements plans texts on the present State, and the
//     PlanCache remembers the plans, the ids that clients have prepared (prepared_ids.go), and the
//     store's ids of physical statements (physical.go).
//   - A Coordinator wraps the client's link. It collects warnings and traces, and notes the rights
//     that the client needs. Attempts repeats a request if the schema has changed meanwhile.
//   - Premises says, when the store has answered, whether a plan is still valid (overtaken.go).
//     Standing says the same of statements that doors have forwarded.
//   - Relays sends a request to the store unchanged.
//
// It does not know how rows are read or written. It imports budget, catalog, cql/analysis, cql/eval,
// cql/schema, cql/store, cql/syntax, cql/wire, cqldoor, cqldoor/plan, cqldoor/tables, deadline,
// observe, reshard and shard.
package request
