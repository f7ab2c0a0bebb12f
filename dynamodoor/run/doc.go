// SPDX-License-Identifier: Apache-2.0

// Package run carries out the plans of write-sharded DynamoDB tables: it is the
// store that the door fronts, on top of another, which knows plain tables only.
//
// It promises:
//
//  1. Requests about plain tables go to the backend as they are; while no table is
//     sharded, they are not even read, but searched for the catalogue's name.
//  2. A table is sharded from its CreateTable on: its entry in the catalogue is
//     written before the physical table, and what is left half-way is settled when
//     a door starts.
//  3. A physical table without an entry is refused, not served as a plain one, and
//     so is an entry whose physical table is another than it was made for.
//  4. A fan-out is bounded: so many requests at a time, and pages of 1 MB.
//  5. The catalogue is not shown, and no client's request reaches it.
//
// # A store that other doors are on
//
// Any door may make and delete tables; what one knows of a table is good for a lease
// (Options.Lease), after which it reads the catalogue again before it goes on. Then:
//
//  6. Bodies of requests on plain tables are forwarded unchanged: only the tables'
//     names are read. A name that the door has not seen is looked up in the
//     catalogue and described once; what cannot be told is not served as plain. An
//     operation that the door does not know is forwarded if none of its texts
//     mentions a sharded table, and refused else.
//
//  7. No request goes by a layout that is not the table's. The name of a deleted
//     sharded table stays taken (state dropped) until every door has read that, and
//     so does creating a plain table with sharded indexes wait, since its answers
//     would not tell it from a plain one. A door that takes a table for a plain one,
//     which was deleted and made sharded within the lease, notices at the first
//     answer: the physical key is refused by the store, or a hidden attribute is in
//     the answer; it then looks the table up and answers anew. What is done round
//     the doors (a table deleted and made again, or restored) is noticed within a
//     minute, by its TableId.
//     An adopted table is another's at no door once its adoption, or the tag's
//     removal, is answered: that waits for all of them.
//     An entry is written before its physical table is made. So a physical table is
//     held to have lost its entry, and an entry its table, only where the catalogue,
//     read again after the table was looked at, still says so.
//
//  8. What an operation on a table has left half-way is settled by another door when
//     it is a minute old.
//
//  9. What the door asks for itself (the catalogue, descriptions) it asks as itself,
//     everything else as the client that the context names: a client has its own
//     rights, no more. What would be refused here, as wrong, is first asked of the
//     store as something that it refuses, so that who has no rights learns nothing.
//
//  10. The answer counts, not the sending. A door looks at its lease again when the store
//     has answered (pins.go): a request that was under way for so long that the table
//     may have been changed since it was planned is done anew if it only reads, and a
//     write is answered with an error which says that nobody knows whether it was done.
//
//  11. The layout of a table changes while it is in use by the steps of dynamodoor/reshard
//     (change.go, mover.go): requests on such a table are carried out by dynamodoor/shift.
//
// The leases of all doors on a store must be the same, and their clocks differ by
// less than half of one.
//
// The way of a request: Do (router.go) → plan → execute.go or fanout.go; requests
// about tables themselves: ddl.go; what tags declare of tables that exist: tag.go,
// adopt.go (those that were sharded by hand, whose items search.go may have to look
// for) and index.go (sharded indexes that are yet to be made). PartiQL becomes such requests: partiql*.go. Streams,
// shown as those of logical tables: streams.go. Where other doors are on the store: shared.go,
// lease.go, target.go, probe.go.
//
// It imports dynamo/…, dynamodoor/catalog, dynamodoor/plan, scatter and shard.
package run
