// SPDX-License-Identifier: Apache-2.0

// Package items is a DynamoDB in this process: tables, items and indexes on the
// same Pebble store as the CQL engine (engine/storage).
//
// # Promises
//
//  1. An acknowledged write survives the death of the process and of the machine,
//     and so does what a failed condition was told. An item and all its index
//     entries, and all items of a transaction, are there together or not at all.
//  2. Writes to one item are one after another: what a condition or an update
//     reads is what it writes over. Transactions are serializable with each other
//     and with single writes; TransactGetItems reads one moment.
//  3. Indexes, global ones too, are up to date when a write is acknowledged, unless
//     Options.IndexLag has global ones follow later.
//  4. Memory is bounded by the request and by one page (1 MB), whatever tables
//     hold; Close waits for all that Open started.
//  5. Expired items are readable until they are removed, as with AWS, by a sweep
//     that looks every Options.SweepInterval.
//  6. Scans go by the hash of the partition key, and index entries with equal keys
//     in an order of their own, both as AWS's do.
//  7. What changes an item of a table with a stream is in the stream when the item
//     is changed, and both survive or neither does. Who reads a stream on misses
//     nothing, and sees the changes of an item in their order. A table without a
//     stream pays nothing for them.
//
// # Layout
//
// Items are kept as canonical DynamoDB JSON, so that reading one is mostly
// copying. key.go says where they are kept, record.go what is kept of a table.
//
// Every operation has a file of its own, or its family's. A request goes call.go → the
// operation's file → write.go or page.go. The Store carries operations out; what they
// share has types of its own: tables (tables.go) changes tables one at a time, meter
// (meter.go) holds requests to limits, stripes (lock.go) puts the writes of an item
// in order, package stream keeps what changes.
//
// It imports dynamo/…, engine/capacity, engine/items/stream, engine/storage, lane and
// Pebble.
package items
