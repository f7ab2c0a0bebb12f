// SPDX-License-Identifier: Apache-2.0

// Package dynamodb is a DynamoDB in this process: tables, items and indexes in the same Pebble store
// as those of the CQL engine (engine/storage).
//
// # Promises
//
//  1. An acknowledged write survives the death of the process and of the machine.
//     So does the state that a failed condition reported. An item and all its index
//     entries, and all items of a transaction, are there together or not at all.
//  2. Writes to one item are carried out one after another: a condition or an update
//     reads the state that it replaces. Transactions are serializable with each other
//     and with single writes; TransactGetItems reads one moment.
//  3. Indexes, global ones too, are up to date when a write is acknowledged, unless
//     Options.IndexLag makes global ones follow later.
//  4. Memory is bounded by the request and by one page (1 MB), whatever tables
//     hold. Items that a request decodes count against the budget of its context
//     (memory.go). Close waits for all that Open started.
//  5. Expired items are readable until a sweep removes them, as with AWS. The sweep
//     runs every Options.SweepInterval.
//  6. Scans read in the order of the hash of the partition key. Index entries with equal keys have
//     an order of their own. In AWS both are so, too.
//  7. A change of an item of a table with a stream is in the stream when the item is changed, and
//     both survive or neither does. A client that reads a stream misses no change, and sees the
//     changes of an item in their order. A table without a stream has no cost from streams.
//
// # Layout
//
// Items are stored as canonical DynamoDB JSON, so that reading one is mostly copying. key.go
// describes the keys of the store, record.go the description of a table in it.
//
// # Parts
//
// Every operation has its own file, or shares one with related operations. The Store sends a request
// to the part that carries it out (call.go):
//
//   - reader (page.go): reads of items. It reads one page from several partitions for a Gather
//     (gather.go).
//   - writer (write.go, single.go): writes of items, with all entries that depend on them.
//   - transactor (transactwriteitems.go): transactions that write, and tokens (token.go), by which
//     it recognises a repeated transaction.
//   - definer: requests about tables. A filler (fill.go) fills what they add to a table with items.
//   - sweeper (sweep.go): removes expired items and tokens.
//
// The parts share the base: tables (tables.go) changes tables one at a time, and meter (meter.go)
// enforces limits on requests. The locks (lock.go) order the writes of an item, and package stream
// keeps the changes.
//
// It imports budget, deadline, dynamo/…, engine/throughput, engine/dynamodb/stream, engine/storage, lane and Pebble.
package dynamodb
