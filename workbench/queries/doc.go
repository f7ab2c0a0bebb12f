// SPDX-License-Identifier: Apache-2.0

// Package queries reads the queries that a design has to serve: a plain text of
// statements, each with its rate behind it.
//
//	SELECT * FROM readings WHERE device = ? AND day = ? ORDER BY at DESC LIMIT 100 -- 50/s
//	INSERT INTO readings (device, day, at, value) VALUES (?, ?, ?, ?) -- 5,000/s
//	SELECT * FROM "Orders" WHERE OrderID IN [1, ?] AND begins_with(Line, ?) -- 5 per sec
//	Query InvoiceNumber = :n AND begins_with(ClientTransactionid, :c) LIMIT 20 -- 3/min
//	PutItem InvoiceNumber, ClientTransactionid, amount -- 2k/s
//	# a line that is a comment, as -- at the beginning is, and //
//
// A statement is CQL, or DynamoDB's PartiQL, or a DynamoDB operation and its
// expression: Query (which may be left out), Scan, GetItem, PutItem, UpdateItem,
// DeleteItem. Behind an expression may stand FILTER with another one, LIMIT n, and
// BACKWARD (ScanIndexForward false). What may be CQL or PartiQL is what the other
// statements are; CQL where all may.
//
// A statement ends with a semicolon, a blank line, or where the next line cannot go on
// with it.
//
// The rate is a number by a unit of time, in any of the ways in which people write
// that (rate.go). A comment that looks like a rate and is no statement's is an error.
//
// It promises:
//
//  1. What it refuses is named with line and column and the way out; no input makes
//     it panic.
//  2. Columns come as the statement has them. Resolve finds those of the data,
//     whatever their case, and names the nearest where there is none.
//  3. A rate that is written is read, or is an error.
//
// It does no I/O; it imports cql/syntax and dynamo/partiql.
package queries
