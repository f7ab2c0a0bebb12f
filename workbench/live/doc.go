// SPDX-License-Identifier: Apache-2.0

// Package live reads a table of a running store that speaks CQL: Cassandra, a compatible store, the
// embedded engine, or an evenkeel door.
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
// Read goes over a range of tokens page by page, SELECT … WHERE token(key) > ? AND token(key) <= ?,
// so that each partition comes whole, and partitions follow each other. A page that fails for a
// temporary reason (a lost connection, a timeout, an overloaded node) is requested several times
// again before Read returns an error.
//
// # Partitions and their limits
//
// An embedded engine that enforces the limits of Amazon Keyspaces shows the partitions of a table
// to which the limits apply (Partitions), in a virtual table. Other stores show none.
//
// # A table as rows
//
// Rows reads the table once, as far as it is needed, and stores the rows in an unnamed temporary
// file. Later scans read that file, so they see the same rows and cost the store nothing. Columns
// have the types of the schema, and values are serialized as in CQL (rows.Binary).
//
// It promises:
//
//  1. It only reads: every statement is a SELECT.
//  2. An error names the table or the host, and has a way out (livetable.Hint).
//  3. Options.Rate limits the rows read per second, over all goroutines.
//  4. Memory is bounded by pages: one for each Read in progress.
//
// It is at the workbench's edge: it connects. It imports catalog (which reads schemas),
// cql/schema, cql/syntax, cql/value, cql/wire, workbench/livetable and
// workbench/rows.
package live
