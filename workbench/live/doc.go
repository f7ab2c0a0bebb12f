// SPDX-License-Identifier: Apache-2.0

// Package live reads a table of a running store that speaks CQL: Cassandra, what is
// like it, the embedded engine, an evenkeel door.
//
//	at, err := live.Parse("cql://reader@db1.example.com:9042/tracker.blogs")
//	t, err := live.Open(ctx, at, live.Options{Password: secret})
//	defer t.Close()
//	t.Schema()                        // columns, their types and roles
//	err = t.Read(ctx, live.Range{After: lo, UpTo: hi}, live.Selection{}, each)
//
//	in := t.Rows(live.RowsOptions{Fraction: 0.01}) // an Input of package profile
//	defer in.Close()
//
// # Reading by ranges of tokens
//
// Read goes over a range of tokens page by page, SELECT … WHERE token(key) > ? AND
// token(key) <= ?, so that partitions come whole, one behind the other. A page that
// fails for a reason that may pass (a lost connection, a timeout, an overloaded
// node) is asked for again, some times, before that is an error.
//
// # Partitions that take so much
//
// An embedded engine that keeps the limits of Amazon Keyspaces tells which partitions
// a table has for them (Partitions), in a virtual table; other stores have none.
//
// # A table as rows
//
// Rows reads the table once, as far as it is wanted, and keeps what came in an
// unnamed temporary file: the scans after the first one read that, so they see the
// same rows and cost the store nothing. Columns have the types of the schema, and
// values are serialized as in CQL (rows.Binary).
//
// It promises:
//
//  1. It only reads: every statement is a SELECT.
//  2. An error names the table or the host, and has a way out (livetable.Hint).
//  3. Options.Rate bounds the rows read a second over all goroutines.
//  4. Memory is bounded by pages: one for each Read that is under way.
//
// It is the workbench's rim: it connects. It imports catalog (which reads schemas),
// cql/schema, cql/syntax, cql/value, cql/wire, workbench/livetable and
// workbench/rows.
package live
