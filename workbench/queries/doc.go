// Package queries reads the queries that a design has to serve: a plain text, a
// statement a line, with its rate behind it.
//
//	SELECT * FROM readings WHERE device = ? AND day = ? ORDER BY at DESC LIMIT 100 -- 50/s
//	INSERT INTO readings (device, day, at, value) VALUES (?, ?, ?, ?) -- 5,000/s
//	Query InvoiceNumber = :n AND begins_with(ClientTransactionid, :c) LIMIT 20 -- 3/min
//	PutItem InvoiceNumber, ClientTransactionid, amount -- 2k/s
//	# a line that is a comment, as -- at the beginning is, and //
//
// A statement is CQL, or a DynamoDB operation and its expression: Query (which may
// be left out), Scan, GetItem, PutItem, UpdateItem, DeleteItem. Behind an
// expression may stand FILTER with another one, LIMIT n, and BACKWARD
// (ScanIndexForward false). The rate is a number by s, min, h or day, with
// thousands parted by commas, or k and M behind it.
//
// It promises:
//
//  1. What it refuses is named with line and column and the way out; no input makes
//     it panic.
//  2. Columns come as the statement has them. Resolve finds those of the data,
//     whatever their case, and names the nearest where there is none.
//
// It does no I/O; it imports cql/syntax.
package queries
