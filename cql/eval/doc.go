// SPDX-License-Identifier: Apache-2.0

// Package eval evaluates CQL expressions over raw cells: terms, native functions, casts, arithmetic,
// selections and aggregates.
//
// An expression is a tree of exported nodes (Expr). Package analysis types and validates it; this
// package only computes. A row is an interface that returns raw cells by position, so that both the
// rows of a storage engine and rows merged from the wire fit.
//
// It promises:
//
//  1. Results have the types and bytes of Apache Cassandra 5.0. Errors have its codes and texts.
//  2. It reads no clock, draws no random numbers and does no I/O: Env provides them.
//  3. No value, however malformed, makes it panic.
//
// It imports cql/value, cql/schema, cql/wire and partitioner.
package eval
