// SPDX-License-Identifier: Apache-2.0

// Package schema is the logical schema as values: keyspaces, tables, columns,
// types. A Schema is an immutable snapshot; a change makes a new one.
//
// It promises:
//
//  1. Load makes of the rows of system_schema what the server knows: types
//     resolved, key columns by position, the others by name, clustering order,
//     options, dropped columns, indexes, views. A type that it does not know is an
//     opaque one, a user-defined type that it cannot resolve an error; no row makes
//     it panic.
//  2. No function changes a snapshot that it was given, nor what is part of one:
//     With, WithTable and the like share what stays the same.
//
// It does no I/O; it imports cql/value.
package schema
