// SPDX-License-Identifier: Apache-2.0

// Package tables knows which DynamoDB tables are sharded, and how. A Registry reads the catalogue,
// describes the physical tables, and opens an Entry for each sharded table.
//
// # Other doors on the store
//
// Other doors create and delete tables without telling this one. So what a door has read of the
// catalogue is valid for one lease only (lease.go). A door looks up a name that it has not seen
// once (lookup.go). To change a table, a door writes its entry and waits until the leases of all
// doors have ended (write.go).
//
// # The answer counts, not the sending
//
// A door plans a request with what it knows of its tables at that time. It can then stall between
// checking its lease and sending the request, for as long as others need to change the table:
//
//	Door A knows table Tab with 5 shards, and stalls before it sends a PutItem.
//	Door B deletes Tab, waits until A's lease must have ended, and creates Tab with 7 shards.
//	Door A continues, and the item lands in one of five shards.
//
// So the door checks again when the store has answered (pins.go). If the entries with which it
// planned the request were still valid within a lease of that moment, the client gets the answer.
// Otherwise the door repeats a read. The store may have applied a write at a place that nobody
// reads, so the door does not report success for it.
//
// It imports deadline, dynamo/api, dynamo/attribute, dynamo/exception, dynamo/schema,
// dynamodoor/backend, dynamodoor/catalog, dynamodoor/plan, dynamodoor/principal,
// dynamodoor/reshard, dynamodoor/shift and registry.
package tables
