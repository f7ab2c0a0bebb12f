// SPDX-License-Identifier: Apache-2.0

// Package cassandra runs a real Apache Cassandra 5.0 for tests.
//
//	addr := cassandra.Shared(t)                               // one for all, without credentials
//	c := cassandra.Start(t, cassandra.Options{Auth: true})    // the test's own, with users
//	c.Kill(); c.Restart()                                     // what a backend may do to a door
//	out, err := cassandra.SharedTools(t).Nodetool("flush")     // and sstablepartitions
//
// It promises:
//
//  1. Under `make test`, all test packages share one instance (EVENKEEL_TEST_CASSANDRA holds its
//     address). Under plain `go test`, each package that needs one starts its own.
//  2. Nothing outlives the process that started it, however that ends: a watchdog process holds a
//     pipe to it and kills the JVM when the pipe closes.
//  3. A test that cannot have its Cassandra fails and says what to do. It never skips.
//  4. Ports are free ones on 127.0.0.1. Data is in memory if /dev/shm is large enough, else in the
//     temporary directory. Both are gone afterwards.
//
// Tests share the instance, each with its own keyspaces: Keyspace returns a name.
//
// It imports internal/testkit/deps and internal/testkit/watchdog.
package cassandra
