// SPDX-License-Identifier: Apache-2.0

// Package cache keeps answers of the DynamoDB API in memory, and lets identical
// reads that are under way share one request of the store: it is a store on top of
// another, which the door fronts.
//
// It promises, of eventually consistent reads (all others, and transactions, go to
// the store as they are):
//
//  1. What is kept for one principal is shown to no other.
//  2. After a write through this door is acknowledged, no later read of its items
//     through this door is answered with what was before it; and answers do not go
//     back in time. What is written elsewhere is seen after Options.TTL at most.
//  3. Answers are the store's, byte for byte, but for ConsumedCapacity, which is 0
//     where the store was not asked.
//  4. A client that gives up ends its own request only.
//  5. Memory is bounded by Options.Size, in bytes, all told.
//
// # How the second holds
//
// A read notes, before it asks the store, the counts of the writes that have begun
// (package fence): to its key, to its table as a whole, to anything. What it got is kept
// only if no such write was under way then and none has begun since; so it has been
// the item's state all that time. A write, before it is passed on,
// counts and removes what is kept; so nothing that it makes old is found from then
// on. Reads share a request by the same rule: a read joins a request only if its answer
// could be kept. Several keys may have one count. The only harm is that what could have
// been kept is not.
//
// The store may still carry out a write whose outcome is not known (anything but success
// or a refusal: a connection that broke, a client that gave up, a panic). For a while,
// reads of its items are neither kept nor shared. The same holds after any write to a
// store whose eventually consistent reads may be older than its last write
// (Options.Settle).
//
// PutItem has no Key: which attributes of the item are the key is known from the
// reads of the table that the store has answered. While it is not, a put counts as
// a write to the whole table. So does one in PartiQL; and a request that this package
// cannot read, as one to anything.
//
// The cache of queries is another thing: it has a time to live, and no write
// removes anything from it. It is off unless it is asked for.
//
// The way of a read: Do (cache.go) → getitem.go, batchgetitem.go or query.go →
// entry.go, else flight.go → Store.Do; of a write: write.go → package fence.
//
// It imports dynamo/api, dynamo/attribute, dynamo/exception, dynamo/expression,
// dynamo/jsontext, dynamo/partiql, dynamodoor/principal and fence.
package cache
