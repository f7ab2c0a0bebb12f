// SPDX-License-Identifier: Apache-2.0

// Command apps runs the storage tests of real applications, which know nothing of
// evenkeel, on the stores that it fronts and on evenkeel itself, and prints how many
// tests passed where: `make test-apps`.
//
// Each application is a Go module. A folder of its own pins it and what it needs
// (go.mod, go.sum), so that the project does not depend on it. Its tests are compiled
// and run as they are in the module: nothing of them is edited. Where a test has an address
// built in, the command listens there and forwards to the store.
//
// Each suite runs in several settings:
//
//	reference        a real Cassandra, or dynalite for DynamoDB
//	engine           evenkeel on its embedded engine
//	engine, sharded  the same with rules that shard the hottest tables
//	door             evenkeel in front of the reference
//	door, sharded    the same with these rules
//
// A test that fails must be among the failures that the application's file explains, and
// one that is explained must fail; else the command fails.
package main
