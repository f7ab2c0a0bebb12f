// SPDX-License-Identifier: Apache-2.0

// Package schema holds the logical schema as values: keyspaces, tables, columns, types. A Schema
// is an immutable snapshot; a change makes a new one.
//
// It promises:
//
//  1. Load returns what the server knows from the rows of system_schema: resolved types, key
//     columns by position, other columns by name, clustering order, options, dropped
//     columns, indexes, views. An unknown type becomes an opaque one. A user-defined type
//     that cannot be resolved is an error. No row makes Load panic.
//  2. No function changes a snapshot or a part of one: With, WithTable and similar functions
//     share the unchanged parts.
//
// It does no I/O; it imports cql/value.
package schema
