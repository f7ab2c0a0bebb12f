// SPDX-License-Identifier: Apache-2.0

// Package cluster is the store behind the door that is a real cluster: Apache
// Cassandra, or what speaks its protocol.
//
// It promises:
//
//  1. Bodies go to the cluster and come back as they are. Requests of all links
//     with the same options share a few connections to each host, and the frames
//     of many requests share a write.
//  2. A link has the rights of its own credentials and of no other's: pools are
//     keyed by all of store.LinkOptions, and a Fresh link is one that the cluster
//     has just authenticated. Only an Own link uses the account of Options.
//  3. Each request is answered once. What is lost with its connection is answered
//     by the error whose meaning to drivers is the truth (lost.go).
//  4. An UNPREPARED from a host that has not seen a statement which was prepared
//     through this package is cured there, where its text is still known.
//  5. Hosts are found through system.peers, those of one data centre are used (of the
//     options, or of the contact point), and those that are down are tried again with
//     growing pauses. No request leaves that data centre.
//  6. An EXECUTE that binds all of its partition key goes to a replica, if the cluster
//     says where its tokens are (package ring), in the door's own rack if there is one.
//     Conditions, and reads at SERIAL, go to
//     the first replica that can be reached, so that those of several doors meet there.
//     A part of a fan-out goes to the node that it names, which AppendNodes tells.
//  7. A read that is part of a fan-out may be sent to two hosts (hedge.go): nothing else is
//     sent twice. Its caller gets one answer.
//  8. Close ends every goroutine and connection that it started.
//
// It imports budget, lane, partitioner, cqldoor/cluster/ring, cqldoor/transport, cql/store and cql/wire.
package cluster
