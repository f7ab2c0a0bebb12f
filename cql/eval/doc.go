// SPDX-License-Identifier: Apache-2.0

// Package eval evaluates CQL expressions over raw cells: terms, native
// functions, casts, arithmetic, selections and aggregates.
//
// An expression is a tree of exported nodes (Expr) that package analysis has
// typed and validated; this package only computes. A row is an interface that
// gives raw cells by position, so that rows of a storage engine and rows merged
// from the wire fit alike.
//
// It promises:
//
//  1. Results have the types and bytes that Apache Cassandra 5.0 gives, errors
//     its codes and texts.
//  2. Nothing here reads a clock, draws a random number or does I/O: Env brings them.
//  3. No value, however malformed, makes it panic.
//
// It imports cql/value, cql/schema, cql/wire and partitioner.
package eval
