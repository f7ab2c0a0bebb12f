// SPDX-License-Identifier: Apache-2.0

// Package keys reads key expressions, which say how a partition key is made:
//
//	code                        a column
//	code, user                  two columns
//	code, salt(user, 200)       a column, and another's hash modulo 200: 0..199
//	day, shard(title, 200)      the shard, 1..200, that write_sharding computes
//	day, code_points(title, 200)  the same with hash code_points
//	server, hour(ts)        a column's hour: minute, hour, day, month or year of a time
//	day, random(200)        a number from 1 to 200, drawn for each row
//	server, rollover(1000)  counts up: 1 for the first 1,000 rows of a server, 2 for the next 1,000, …
//
// Names are taken as they are, without folding. A name with a comma, parenthesis, quote or outer
// space is written in double quotes, and a quote inside is doubled.
//
// It promises:
//
//  1. Parse(e.String()) is e.
//  2. An error of Parse has its place and the way out. No input makes it panic.
//
// It does no I/O; it imports shard.
package keys
