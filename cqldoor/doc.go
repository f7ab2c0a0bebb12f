// SPDX-License-Identifier: Apache-2.0

// Package cqldoor is the CQL front door: it speaks the native protocol, versions
// 4 and 5, with clients, and passes their requests to a store.
//
// It promises:
//
//  1. Bodies of messages about unsharded tables are forwarded unchanged, and of a
//     statement only the kind and the table's name are read.
//  2. A client has exactly the rights of the credentials it authenticated with:
//     each connection is authenticated by the store afresh.
//  3. Memory is bounded: by Options.Memory, by the length of a frame (a small one before
//     authentication), the requests in flight of a connection, and what a client
//     leaves unread.
//  4. What a client sends harms its own connection at most. When it has gone, its
//     requests end: the store is told, and the router.
//  5. In steady state a forwarded request starts no goroutine and allocates
//     nothing, and requests that arrive together leave together.
//  6. Shutdown finishes what is in flight, within a deadline.
//
// The way of a request: transport → conn.dispatch (request.go) → store.Forwarder
// → conn.Receive → transport. What a Router claims goes to it instead
// (router.go); what clients see of system.local and system.peers is the door
// itself (local.go).
//
// It imports cqldoor/transport, cql/store, cql/syntax and cql/wire.
package cqldoor
