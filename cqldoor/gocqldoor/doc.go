// SPDX-License-Identifier: Apache-2.0

// Package gocqldoor is the CQL door inside a Go program: a gocql.HostDialer, whose connections
// lead to a door in the same process. No server listens, and the program's code stays as it is.
//
//	door, err := gocqldoor.New(ctx, gocqldoor.Options{Contacts: []string{"10.0.0.5", "10.0.0.6"}})
//	…
//	defer door.Close()
//	cluster := gocql.NewCluster(gocqldoor.Host)
//	cluster.HostDialer = door
//	session, err := cluster.CreateSession()
//
// A table that is created WITH write_sharding, or that a shard rule names, is then sharded, and
// all others are forwarded. Options.Store takes the place of a cluster: with the embedded engine
// (package engine) a test has a Cassandra without anything else.
//
// It promises:
//
//  1. The driver's sessions authenticate at the cluster as themselves, and have exactly their
//     own rights. The door's own account reads the schema and keeps the catalogue.
//  2. Messages about plain tables are sent unchanged.
//  3. Doors in several programs, and evenkeel serve, may be on one cluster.
//  4. After Close nothing that New has started runs on. Sessions must be closed before.
//
// A session sees one host, the door, which spreads requests over the cluster's. So the driver's
// own policies of hosts and its ClusterConfig.SslOpts have no effect: TLS with the cluster is
// Options.TLS.
//
// It imports budget, cql/store, cqldoor, cqldoor/cluster, cqldoor/run, fleet and shardrules.
package gocqldoor
