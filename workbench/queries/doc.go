// SPDX-License-Identifier: Apache-2.0

// Package queries reads the queries that a design has to serve: a plain text of statements, each
// followed by its rate.
//
//	SELECT * FROM readings WHERE device = ? AND day = ? ORDER BY at DESC LIMIT 100 -- 50/s
//	INSERT INTO readings (device, day, at, value) VALUES (?, ?, ?, ?) -- 5,000/s
//	SELECT * FROM "Orders" WHERE OrderID IN [1, ?] AND begins_with(Line, ?) -- 5 per sec
//	Query InvoiceNumber = :n AND begins_with(ClientTransactionid, :c) LIMIT 20 -- 3/min
//	PutItem InvoiceNumber, ClientTransactionid, amount -- 2k/s
//	# a line that is a comment, as -- at the beginning is, and //
//
// A statement is CQL, or DynamoDB's PartiQL, or a DynamoDB operation and its expression: Query
// (which may be left out), Scan, GetItem, PutItem, UpdateItem, DeleteItem. An expression may be
// followed by FILTER with another expression, LIMIT n, and BACKWARD (ScanIndexForward false). If a
// statement may be CQL or PartiQL, Parse reads it in the language of the other statements; if all
// are open, as CQL.
//
// A statement ends with a semicolon, at a blank line, or if the next line cannot continue it.
//
// The rate is a number per unit of time, in any of the forms in which people write it (rate.go). A
// comment that looks like a rate and belongs to no statement is an error.
//
// It promises:
//
//  1. An error names the line, the column and the way out. No input makes Parse panic.
//  2. Columns have the names in the statement. Resolve finds those of the data, whatever their
//     case, and names the nearest if there is none.
//  3. A written rate is read, or is an error.
//
// It does no I/O; it imports cql/syntax and dynamo/partiql.
package queries
