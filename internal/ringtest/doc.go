// SPDX-License-Identifier: Apache-2.0

// Package ringtest tests a door in front of several Cassandra nodes: which node gets what,
// and what happens to requests while nodes are killed, paused and restarted.
package ringtest
