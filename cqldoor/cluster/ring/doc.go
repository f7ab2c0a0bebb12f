// SPDX-License-Identifier: Apache-2.0

// Package ring computes which nodes of a Cassandra cluster store a partition: the token
// ring, and the replication strategies SimpleStrategy and NetworkTopologyStrategy.
//
// It promises:
//
//  1. A Placement has the replicas that Cassandra 4.0 and later choose, in the order in
//     which the ring names them.
//  2. Of neither allocates nor locks.
//  3. A replication that the package does not know (another strategy, transient
//     replicas) has no Placement: the caller then chooses a node by other means.
//
// Source: org.apache.cassandra.locator, SimpleStrategy and NetworkTopologyStrategy.
//
// It does no I/O and imports nothing of this module.
package ring
