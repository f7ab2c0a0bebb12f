// SPDX-License-Identifier: Apache-2.0

// Package statements carries out PartiQL. It turns a statement into another request of the API,
// which package items carries out as if a client had sent it. So a statement means the same on
// plain and on sharded tables. If the backend knows PartiQL, package statements forwards statements
// on plain tables unchanged.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/partiql, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/items, dynamodoor/plan and
// dynamodoor/tables.
package statements
