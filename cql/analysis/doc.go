// SPDX-License-Identifier: Apache-2.0

// Package analysis is the meaning of CQL: it turns a syntax tree and a schema
// into a typed, validated statement, and a statement with bound values into
// explicit data: partition keys, slices of clustering keys, filters, mutations.
//
// It is used by whoever executes CQL (package engine) and by whoever plans it
// on a logical schema (package cqldoor/plan), so what it returns is data that
// can be read, not behaviour that must be run.
//
// It promises:
//
//  1. What Apache Cassandra 5.0 refuses is refused, with its error code and its
//     text; what it accepts is accepted. Errors are *wire.Error.
//  2. Binds and Columns are those of Cassandra's PREPARED and RESULT metadata.
//  3. The slices of a bound statement select exactly the rows that its WHERE
//     describes, once each.
//  4. Analysed statements are immutable and may be used concurrently; so may
//     bound ones, but they hold on to the values they were bound with.
//  5. No input makes it panic.
//
// It does no I/O and reads no clock; it imports cql/eval, cql/schema,
// cql/syntax, cql/value, cql/wire and partitioner.
package analysis
