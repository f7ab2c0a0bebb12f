// SPDX-License-Identifier: Apache-2.0

// Package plan converts a request on a write-sharded table into requests to the store, and their
// answers into the client's answer.
//
// # The physical table
//
// The physical table's partition key is a string attribute of its own, evenkeel.pk: the logical
// partition key's value, a hyphen and the shard, such as 121212-1. A number is written as DynamoDB
// shows it, binary in base64url without padding. The sort key is the logical one. The logical
// partition key stays beside it, typed and unchanged: conditions, filters and indexes see it. The
// shard of an item is that of its sort key's value in the table's layout (package shard). The hash
// covers the value's UTF-8, its bytes, or the number as DynamoDB shows it.
//
// A sharded global index has one more partition key attribute, which comes first: the number
// evenkeel.s.<index>. It is the shard of the item's primary key (both attributes, as in package
// shard) in the index's layout. It depends on nothing that an update can change, and every put and
// update sets it. As always, an item without the index's own key attributes is not in the index. If
// a store takes only one partition key attribute, an index without a sort key may have the shard as
// its partition key and the index's own key as its sort key (keys=single in the tag).
//
// An adopted table was sharded by hand. It has the shard at the end or the beginning of the logical partition key's
// own attribute (package shard, Affix), and nothing hidden. The plan cuts that value on its way to
// the client, and no expression and no index may use it. If the application drew the shards at
// random, an item may be in any shard.
//
// A plain table that is becoming a sharded one has two physical tables (second_table.go). In the first one,
// each item is in the place 0, with the logical key.
//
// # Tables
//
// A Table consists of parts, each in its file:
//
//   - keys: the logical key attributes, and the values of them in an item.
//   - directory: how a directory of shards names the logical partitions.
//   - adopted (affix.go): the partition key of a table that was sharded by hand.
//   - placement: in which shards items are, before, during and after a change of the layout, and
//     which physical partition key a shard has.
//   - indexes (index.go): the sharded global indexes, and the shards of items in them.
//   - stored: the physical table, and the form of items and keys in it. It consists of the above, and
//     shows clients what the store answers (show.go, partitions.go).
//   - Table: the stored table with its logical schema. It checks what clients send (check.go).
//
// Declarations of tables and indexes are in declare.go, index.go and adopt.go. The operations make
// plans: point.go, query.go, scan.go, many.go.
//
// # Plans
//
// A plan is a value. It can be printed, and it is the same on every door:
//
//   - Direct: one physical request, whose answer the plan makes logical. It serves all operations
//     on single items, batches and transactions, scans, queries of an unsharded index, and queries
//     that bind the table's sort key.
//   - Search: the door looks in all shards for an item whose shard the application drew. Then the
//     request becomes a Direct.
//   - Fanout: a Query of a logical partition, of the table or an index. The door reads the shards
//     in the order of the sort key (package scatter). It applies filter, projection and count after
//     the merge, because a shard would not return the keys of items that its filter drops. Entries
//     of an index with the same sort key are in the order of their shards. While a table gets buckets of
//     time, or loses them, the door reads Slices of time, each of few places of both layouts. A table of
//     strategy time has Buckets. The parts of a Fanout: ShardQuery makes the requests of single shards and
//     reads their answers, with rowReader (rows.go) and rowOrder; Result collects the page.
//
// It promises:
//
//  1. Every plan takes the number of shards of a key from the layout.
//  2. One request finds an item at the place that its sort key determines, unless an application
//     drew the shards.
//  3. Limit counts items before the filter, in the order of the whole. LastEvaluatedKey appears
//     exactly where an unsharded table has it.
//  4. No answer and no error shows a hidden attribute, and no request may name one.
//  5. The plan refuses a request for which it cannot keep these promises, with the reason and the
//     way out.
//
// It does no I/O, starts no goroutine and reads no clock. It imports dynamo/api,
// dynamo/attribute, dynamo/exception, dynamo/expression, dynamo/jsontext,
// dynamo/schema, shard and shard/timebucket.
package plan
