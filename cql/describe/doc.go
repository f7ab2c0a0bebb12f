// SPDX-License-Identifier: Apache-2.0

// Package describe implements the server's side of DESCRIBE: the CREATE statements of a schema as
// text, and the answers to DESCRIBE statements.
//
// It promises that the texts are, character by character, those of Apache Cassandra 5.0 for the
// same schema, and that executing them creates the schema again. Table options that Cassandra
// does not know (those of a door in front) come last, by name.
//
// It does no I/O; it imports cql/schema, cql/syntax, cql/value and cql/wire.
package describe
