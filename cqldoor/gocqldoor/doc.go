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
// A table is sharded if it is created WITH write_sharding, or if a shard rule names it. The door
// forwards requests on all other tables. Options.Store replaces the cluster: with the embedded
// engine (package engine) a test has a Cassandra in its own process.
//
// It promises:
//
//  1. The driver's sessions authenticate at the cluster as themselves, and have exactly their
//     own rights. The door's own account reads the schema and keeps the catalogue.
//  2. The door sends messages about plain tables unchanged.
//  3. Several doors, in programs or in evenkeel serve, may share one cluster.
//  4. After Close, nothing runs that New has started. Close the sessions first.
//
// A session sees one host, the door, which spreads requests over the hosts of the cluster. So the
// driver's host policies and its ClusterConfig.SslOpts have no effect: set Options.TLS for TLS with
// the cluster.
//
// It imports budget, cql/store, cqldoor, cqldoor/cluster, cqldoor/run, fleet and shardrules.
package gocqldoor
