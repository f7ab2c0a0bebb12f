// SPDX-License-Identifier: Apache-2.0

// Package ringtest tests doors in front of several Cassandra nodes: which node gets what.
//
// `make test-ring` has three nodes and takes longer. Under load, nodes are killed, restarted and
// paused, one joins, and one is decommissioned. An application that does not know of sharding runs in
// front of the nodes and then through three doors, while a node and a door are killed.
package ringtest
