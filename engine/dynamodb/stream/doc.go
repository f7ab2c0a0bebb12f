// SPDX-License-Identifier: Apache-2.0

// Package stream keeps DynamoDB Streams. A write to an item of a table with a stream adds a change
// to the batch of the write.
//
// It promises:
//
//  1. Changes have numbers, by which they are stored and read. The store gives a change
//     its number, and makes the batch visible, under the stream's lock: a client that has
//     read up to a number never sees a lower one appear later.
//  2. A stream has one open shard. After ShardLife another shard follows it, as its child.
//  3. Changes are kept for Life, and so is a stream that is disabled or whose table is
//     deleted.
//  4. Records does not return a change before it is durable.
//
// change.go makes changes, store.go writes them, read.go reads them and trim.go removes them.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/schema, engine/storage and
// Pebble.
package stream
