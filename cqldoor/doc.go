// SPDX-License-Identifier: Apache-2.0

// Package cqldoor is the CQL front door. It speaks versions 4 and 5 of the native protocol with
// clients and passes their requests to a store.
//
// It promises:
//
//  1. The body of a message about an unsharded table is forwarded unchanged. Of its
//     statement the door reads only the kind and the table's name.
//  2. A client has exactly the rights of its own credentials: the store authenticates each
//     connection.
//  3. Memory is bounded: by Options.Memory, by the length of a frame (a small one before
//     authentication), by the requests in flight of a connection, and by what a client
//     leaves unread.
//  4. Whatever a client sends, it can harm only its own connection. When a client has gone,
//     the door tells the store and the router to end its requests.
//  5. In steady state a forwarded request starts no goroutine and allocates nothing.
//     Requests that arrive together are sent on together.
//  6. Shutdown finishes the requests in flight, within a deadline.
//
// A request takes the path transport → conn.dispatch (request.go) → store.Forwarder →
// conn.Receive → transport. A request that the Router claims goes to the Router instead
// (router.go). The door itself fills in what clients see of system.local and system.peers
// (local.go).
//
// It imports cqldoor/transport, cql/store, cql/syntax and cql/wire.
package cqldoor
