// SPDX-License-Identifier: Apache-2.0

// Package plan turns a request on a write-sharded table into the requests that are
// sent to the store, and their answers into the one that the client gets.
//
// # The physical table
//
// Its partition key is a string attribute of its own, evenkeel.pk: the logical
// partition key's value, a hyphen and the shard, such as 121212-1. A number is
// written as DynamoDB shows it, binary in base64url without padding. Its sort key
// is the logical one, and the logical partition key stays beside it, typed and
// unchanged: conditions, filters and indexes see it. The shard of an item is that
// of its sort key's value in the table's layout (package shard); what is hashed is
// the value's UTF-8, its bytes, or the number as DynamoDB shows it.
//
// A sharded global index has one more partition key attribute, first: the number
// evenkeel.s.<index>, the shard of the item's primary key (both attributes, as in
// package shard) in the index's layout. It depends on nothing that an update can
// change, and every put and update sets it. An item without the index's own key
// attributes is in no index, as ever. Where a store takes one partition key
// attribute only, an index without a sort key may have the shard as its partition
// key and the index's own key as its sort key (keys=single in the tag).
//
// A table that was sharded by hand, and adopted, has the shard at the end of the
// logical partition key's own attribute (package shard, Suffix), and nothing hidden:
// that value is cut on its way to the client, and no expression and no index of its
// own may look at it. Where hands drew the shards, an item may be in any.
//
// # Plans
//
// A plan is a value; it prints, and is the same on every door:
//
//   - Direct: one physical request, whose answer is made logical. All operations
//     on single items, batches and transactions, scans, queries of an unsharded
//     index, and queries that bind the table's sort key.
//   - Search: what hands have put in a shard that nothing tells is looked for in all,
//     and the request then becomes a Direct.
//   - Fanout: a Query of a logical partition, of the table or an index: its shards
//     are read in the order of the sort key (package scatter), and filter,
//     projection and count are worked out here, after the merge, since a shard would
//     not tell the keys of what its filter drops. Entries of an index that have one
//     sort key are in the order of their shards.
//
// It promises:
//
//  1. Every plan asks the layout how many shards a key has.
//  2. An item is found by one request: it is where its sort key says, but for those
//     whose shards hands drew.
//  3. Limit counts items before the filter, in the order of the whole;
//     LastEvaluatedKey is there exactly where an unsharded table has it.
//  4. No answer and no error shows a hidden attribute; no request may name one.
//  5. What cannot be kept is refused, with the reason and the way out.
//
// It does no I/O, starts no goroutine and reads no clock. It imports dynamo/api,
// dynamo/attribute, dynamo/exception, dynamo/expression, dynamo/jsontext,
// dynamo/schema and shard.
package plan
