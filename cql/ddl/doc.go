// SPDX-License-Identifier: Apache-2.0

// Package ddl is what CREATE, ALTER and DROP mean: a schema and a statement
// give another schema, or Cassandra's refusal.
//
// It promises:
//
//  1. Apply is a function: the schema it is given is never changed, and what it
//     returns shares all that did not change.
//  2. What Apache Cassandra 5.0 refuses is refused with its error code and its
//     text, checked in its order; options that are not given have its defaults.
//  3. What is not supported (views, triggers, functions, roles, COMPACT STORAGE,
//     secondary indexes) is refused by an InvalidRequest error that names it.
//
// It does no I/O and reads no clock; it imports cql/analysis (for types as
// written), cql/schema, cql/syntax, cql/value and cql/wire.
package ddl
