// SPDX-License-Identifier: Apache-2.0

// Package streams carries out requests of DynamoDB Streams. The streams belong to the backend. The
// door shows a sharded table's stream with keys and images without the hidden attributes. The
// streams of a deleted table stay readable, because the catalogue keeps its layout as long as they
// last.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/plan, dynamodoor/principal and
// dynamodoor/tables.
package streams
