// SPDX-License-Identifier: Apache-2.0

// Package run is the DynamoDB store with sharded tables, which the door fronts. It stands on
// another store, which has plain tables only. A Router sends each request to the part that
// carries it out: items, statements, streams, mover or definitions, all on one registry of
// tables.
//
// Together the parts promise:
//
//  1. Requests on plain tables are forwarded unchanged. While no table is sharded, the
//     Router only searches them for the name of the catalogue's table.
//  2. A table is sharded from its CreateTable on. Its entry is written to the catalogue before
//     the physical table is created. A door that starts settles what was left half-way.
//  3. A physical table without an entry is refused, not served as a plain table. So is an
//     entry whose physical table is not the one that it was made for.
//  4. A fan-out is bounded: a number of requests at a time, and pages of 1 MB.
//  5. The catalogue is not shown, and no client's request reaches it.
//
// # A store that other doors are on
//
// Any door may create and delete tables. What a door knows of a table is valid for one lease
// (Options.Lease). After that the door reads the catalogue again before it goes on. Then:
//
//  6. The bodies of requests on plain tables are forwarded unchanged; only the tables' names are
//     read. A name that the door has not seen is looked up in the catalogue and described
//     once. A table of which the door cannot tell what it is is not served as a plain table. An
//     unknown operation is forwarded if none of its texts mentions a sharded table, and
//     refused otherwise.
//
//  7. No request is carried out by a layout that is not the table's. The name of a deleted sharded
//     table stays taken (state dropped) until every door has read that. Creating a
//     plain table with sharded indexes waits, too, because its answers look like those of a
//     plain table. Suppose that a plain table is deleted and created sharded within the lease.
//     A door that still takes it for plain notices at the first answer: the store refuses
//     the physical key, or the answer has a hidden attribute. The door then looks the
//     table up and answers anew. If a table is deleted and created again, or restored, without
//     a door, the doors notice within a minute by its TableId.
//     Adopting a table, and removing the tag of an adopted one, waits for all doors before it is
//     answered.
//     An entry is written before its physical table. So before the door says that a
//     physical table has lost its entry, or an entry its table, it reads the catalogue
//     again.
//
//  8. Another door settles an operation on a table that was left half-way for a minute.
//
//  9. The door uses its own rights for what it asks for itself (the catalogue,
//     descriptions), and the client's rights for everything else. Before rejecting a request,
//     the door sends the store an equivalent invalid request as the client. Unauthorised
//     clients then see only the store's refusal.
//
//  10. The answer counts, not the sending (dynamodoor/tables). When a request took so long that the
//     table may have changed since it was planned, a read is done anew. A write is
//     answered with an error that says that its outcome is unknown.
//
//  11. The layout of a table changes while the table is in use, by the steps of
//     dynamodoor/reshard (dynamodoor/mover). Requests on such a table are carried out by
//     dynamodoor/shift.
//
// The leases of all doors on a store must be the same, and their clocks may differ by
// less than half a lease.
//
// The way of a request: Do (router.go), or, where other doors are on the store, doShared
// (shared.go), which reads only the names of tables (target.go); then the part that answer
// (router.go) chooses.
//
// It imports dynamo/…, dynamodoor/backend, dynamodoor/catalog, dynamodoor/plan, shardrules and
// the parts.
package run
