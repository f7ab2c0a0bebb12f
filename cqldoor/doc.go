// SPDX-License-Identifier: Apache-2.0

// Package cqldoor is the CQL front door. It speaks versions 4 and 5 of the native protocol with
// clients and passes their requests to a store.
//
// It promises:
//
//  1. The door forwards the body of a message about an unsharded table unchanged. It reads only the
//     kind of the statement and the table's name.
//  2. A client has exactly the rights of its own credentials: the store authenticates each
//     connection.
//  3. Memory is bounded: by Options.Memory, by the length of a frame (only short ones before
//     authentication), by the requests in flight of a connection, and by the answers that a client
//     has not read.
//  4. Whatever a client sends, it can harm only its own connection. When a client disconnects, the
//     door makes the store and the router end the client's requests.
//  5. In steady state a forwarded request starts no goroutine and allocates nothing. The door sends
//     requests on together if they arrive together.
//  6. Shutdown finishes the requests in flight, within a deadline.
//
// A request takes the path transport → conn.dispatch (request.go) → store.Forwarder →
// conn.Receive → transport. A request that the Router claims goes to the Router instead
// (router.go). The door itself fills in what clients see of system.local and system.peers
// (local.go).
//
// It imports cqldoor/transport, cql/store, cql/syntax and cql/wire.
package cqldoor
