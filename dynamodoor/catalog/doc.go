// SPDX-License-Identifier: Apache-2.0

// Package catalog records which DynamoDB tables are sharded, and how. It keeps the entries in the
// store itself, in table evenkeel, so that front doors have no state of their own.
//
// An entry says that the physical table with a certain id has a layout. It goes through these
// states, by conditional writes:
//
//	CREATE  (none) → creating → [physical CreateTable] → active
//	DELETE  active → dropping → [physical DeleteTable] → (none), or → dropped → (none)
//
//	ADOPT   (none) → active → (none): the physical table exists before and after
//	CHANGE  active → active, with the next version: one of several concurrent changes succeeds
//
// If there may be other doors, the entry of a deleted table is dropped for a while: the name is
// not free until all doors have read that.
//
// It promises:
//
//  1. A door that ends half-way (a crash, a lost connection) leaves an entry that Settle adapts
//     to the physical table: an operation happens as a whole or not at all.
//  2. If several doors create a table at the same time, one succeeds.
//  3. A layout applies only to the physical table for which it was made, identified by its
//     TableId.
//
// For tables of strategy time, table evenkeel.buckets is the directory of their buckets (buckets.go).
//
// It imports deadline, dynamo/api, dynamo/attribute, dynamo/exception, dynamo/expression, registry,
// shard and shard/timebucket.
package catalog
