// SPDX-License-Identifier: Apache-2.0

// Package request plans statements, and sends a client's requests to the store. All parts of the router use
// it.
//
//   - A Statement is a text with its plan. Statements plans texts on the present State. The
//     PlanCache remembers the plans, the ids that clients have prepared (prepared_ids.go), and the
//     store's ids of physical statements (physical.go).
//   - A Coordinator wraps the client's link. It collects warnings and traces, and notes the rights
//     that the client needs. Attempts repeats a request if the schema has changed meanwhile.
//   - Premises decides, when the store has answered, whether a plan is still valid (overtaken.go).
//     Standing decides the same about statements that doors have forwarded (forwarded.go).
//   - Relays sends a request to the store unchanged.
//
// The package does not know how other packages read and write rows. It imports budget, catalog, cql/analysis, cql/eval,
// cql/schema, cql/store, cql/syntax, cql/wire, cqldoor, cqldoor/plan, cqldoor/tables, deadline,
// observe, reshard and shard.
package request
