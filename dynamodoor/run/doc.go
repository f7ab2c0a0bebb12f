// SPDX-License-Identifier: Apache-2.0

// Package run implements the DynamoDB store with sharded tables that the door fronts. It uses
// another store, which has only plain tables. A Router sends each request to the part that carries
// it out: items, statements, streams, mover or definitions. All parts share one registry of tables.
//
// Together the parts promise:
//
//  1. The Router forwards requests on plain tables unchanged. While no table is sharded, it only
//     searches them for the name of the catalogue's table.
//  2. A table is sharded from its CreateTable on. The door writes the table's entry to the
//     catalogue before it creates the physical table. A door that starts settles unfinished
//     operations.
//  3. The door refuses a physical table without an entry; it does not serve it as a plain table. It
//     also refuses an entry whose physical table is not the one that it was made for.
//  4. A fan-out is limited to a number of requests at a time, and to pages of 1 MB.
//  5. Clients do not see the catalogue, and no client's request reaches it.
//
// # A store with other doors
//
// Any door may create and delete tables. A door's knowledge of a table is valid for one lease
// (Options.Lease). After that, the door reads the catalogue again before it continues. Then:
//
//  6. The door forwards the bodies of requests on plain tables unchanged; it only reads the tables'
//     names. It looks up a name that it has not seen in the catalogue and describes the table once.
//     It does not serve a table as a plain one unless it knows that the table is plain. It forwards
//     an unknown operation if none of the body's texts mentions a sharded table, and refuses it
//     otherwise.
//
//  7. No request uses a layout that is not the table's. The name of a deleted sharded table stays
//     taken (state dropped) until every door has read that. Creating a plain table with sharded
//     indexes waits, too, because its answers look like those of a plain table. Suppose that a
//     plain table is deleted and created sharded within the lease. A door that still takes it for
//     plain notices at the first answer: the store refuses the physical key, or the answer has a
//     hidden attribute. The door then looks the table up and answers again. If a table is deleted
//     and created again, or restored, without a door, the doors notice within a minute by its
//     TableId. A door that adopts a table, or removes the tag of an adopted one, waits for all
//     doors before it answers. A door writes an entry before the physical table. So before a door
//     reports that a physical table has lost its entry, or an entry its table, it reads the
//     catalogue again.
//
//  8. Another door settles an operation on a table that has been unfinished for a minute.
//
//  9. The door uses its own rights for its own requests (the catalogue, descriptions), and the
//     client's rights for everything else. Before the door rejects a request, it sends the store an
//     equivalent invalid request with the client's rights. So a client without rights sees only the
//     store's refusal.
//
//  10. The time of the answer counts, not that of the sending (dynamodoor/tables). If a request
//     took so long that the table may have changed since it was planned, the door repeats a read.
//     It answers a write with an error that says that the outcome is unknown.
//
//  11. The layout of a table changes while the table is in use, by the steps of
//     dynamodoor/reshard (dynamodoor/mover). Package dynamodoor/shift carries out requests on
//     such a table.
//
// The leases of all doors on a store must be the same. A door counts from what it has seen itself, and does not
// compare its clock with another door's. Only the marks of buckets without items (dynamodoor/items/emptied.go)
// are times that other doors read: for these all clocks must be right to the hour.
//
// A request first reaches Do (router.go) or, if other doors are on the store, doShared (shared.go),
// which reads only the names of tables (target.go). Then it goes to the part that answer
// (router.go) chooses.
//
// It imports dynamo/…, dynamodoor/backend, dynamodoor/catalog, dynamodoor/plan, shardrules and
// the parts.
package run
