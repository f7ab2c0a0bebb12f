// SPDX-License-Identifier: Apache-2.0

// Package cache keeps answers of the DynamoDB API in memory, and lets identical concurrent reads
// share one request to the store. It is a store on top of another store, and the door fronts it.
//
// It promises the following for eventually consistent reads. All other reads, and transactions, go
// to the store unchanged.
//
//  1. The cache never shows a principal what it keeps for another.
//  2. After a write through this door is acknowledged, no later read of its items through this
//     door returns the state before it, and answers do not go back in time. Reads see writes
//     from elsewhere after Options.TTL at the latest.
//  3. Answers are the store's, byte for byte, except ConsumedCapacity, which is 0 if the store
//     was not asked.
//  4. A client that gives up ends only its own request.
//  5. Options.Size limits the memory, in bytes, of the whole cache.
//
// # How the second promise holds
//
// Before a read asks the store, it notes the counts of the writes that have begun (package cachefence):
// to its key, to its table as a whole, and to anything. The cache keeps the read's result only if
// no such write was under way then and none has begun since. So the result has been the item's
// state all that time. A write counts, and removes what the cache keeps, before it is passed on.
// So no later read finds anything that the write makes old. Reads share a request by the same rule:
// a read joins a request only if the cache could keep its answer. Several keys may have one count.
// The only harm is that the cache does not keep something that it could have kept.
//
// The outcome of a write is unknown after anything but success or a refusal: a broken connection, a
// client that gave up, a panic. The store may then still carry it out. For a while, the cache
// neither keeps nor shares reads of its items. The same holds after any write to a store whose
// eventually consistent reads may be older than its last write (Options.Settle).
//
// PutItem has no Key. The cache learns which attributes of the item are the key from reads of the
// table that the store has answered. Until then, a put counts as a write to the whole table. So
// does a write in PartiQL. A request that this package cannot read counts as a write to anything.
//
// The cache of queries is different: its entries have a time to live, and no write removes them. It
// is off by default.
//
// A read goes through Do (cache.go) → getitem.go, batchgetitem.go or query.go → entry.go, else
// flight.go → Store.Do. A write goes through write.go → package cachefence.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/expression, dynamo/jsontext,
// dynamo/partiql, dynamodoor/principal and cachefence.
package cache
