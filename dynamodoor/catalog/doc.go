// SPDX-License-Identifier: Apache-2.0

// Package catalog keeps which DynamoDB tables are sharded and how: in the store
// itself, in table evenkeel, so that front doors have no state of their own.
//
// An entry says that the physical table with a certain id has a layout. It goes
// through these states, by conditional writes:
//
//	CREATE  (none) → creating → [physical CreateTable] → active
//	DELETE  active → dropping → [physical DeleteTable] → (none), or → dropped → (none)
//
//	ADOPT   (none) → active → (none): the physical table was there, and stays
//	CHANGE  active → active, of the next version: of several at once one succeeds
//
// Where there may be other doors, a table that was deleted is dropped for a while:
// its name is not free before all of them have read that.
//
// It promises:
//
//  1. Who ends half-way (a crash, a lost connection) leaves an entry that Settle
//     brings in line with the physical table: an operation took place whole or not
//     at all.
//  2. Of several doors that create a table at the same time one does.
//  3. A layout applies only to the physical table that it was made for: its
//     TableId tells.
//
// It imports dynamo/exception and shard.
package catalog
