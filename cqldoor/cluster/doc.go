// SPDX-License-Identifier: Apache-2.0

// Package cluster implements the door's store on a real cluster: Apache Cassandra, or a server that
// speaks its protocol.
//
// It promises:
//
//  1. Bodies go to the cluster and come back unchanged. Requests of all links with the same
//     options share a few connections to each host, and the frames of many requests share a
//     write.
//  2. A link has only the rights of its own credentials: pools are keyed by all of
//     store.LinkOptions, and the cluster has just authenticated a Fresh link. Only an Own link
//     uses the account of Options.
//  3. Each request is answered once. If a request is lost with its connection, its receiver gets an
//     error from which drivers see whether it may have been executed (lost.go).
//  4. If a host answers UNPREPARED for a statement that was prepared through this package, the
//     package prepares it there, if it still knows the text.
//  5. The package finds hosts through system.peers. It uses the hosts of one data centre: that of
//     the options, or that of the contact point. It tries hosts that are down again with
//     growing pauses. No request leaves that data centre.
//  6. An EXECUTE that binds all of its partition key goes to a replica if the cluster says where
//     its tokens are (package ring), in the door's own rack if there is one. Conditions, and reads
//     at SERIAL, go to the first replica that can be reached. So those of several doors go to the
//     same replica. A part of a fan-out goes to the node that it names; AppendNodes returns such
//     nodes. A host that has answered nothing for a second comes after all other replicas.
//  7. A read that is part of a fan-out may be sent to two hosts (hedge.go). Nothing else is sent
//     twice. Its caller gets one answer.
//  8. Close ends every goroutine and connection that the package started.
//
// It imports budget, lane, partitioner, cqldoor/cluster/ring, cqldoor/transport, cql/store and cql/wire.
package cluster
