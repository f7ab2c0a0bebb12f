// SPDX-License-Identifier: Apache-2.0

// Package ddl implements CREATE, ALTER and DROP: from a schema and a statement it makes another
// schema, or returns Cassandra's error.
//
// It promises:
//
//  1. Apply is a function. It never changes the given schema. Its result shares all unchanged
//     parts.
//  2. Apply refuses what Apache Cassandra 5.0 refuses, with its error code and text, checked in
//     its order. Absent options have Cassandra's defaults.
//  3. Apply refuses what it does not support (views, triggers, functions, roles, COMPACT STORAGE,
//     secondary indexes) with an InvalidRequest error that names it.
//
// It does no I/O and reads no clock; it imports cql/analysis (for types as written), cql/schema,
// cql/syntax, cql/value and cql/wire.
package ddl
