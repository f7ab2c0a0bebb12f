// SPDX-License-Identifier: Apache-2.0

// Package statements carries out PartiQL. A statement becomes a request of the rest of the API,
// which package items carries out as if a client had sent it. So a statement means the same on
// plain and on sharded tables. Where the backend knows PartiQL, statements on plain tables are
// forwarded unchanged.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/partiql, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/items, dynamodoor/plan and
// dynamodoor/tables.
package statements
