// SPDX-License-Identifier: Apache-2.0

// Command apps runs the storage tests of real applications, which know nothing of evenkeel, on the
// stores behind evenkeel and on evenkeel itself. It prints how many tests passed in each setting:
// `make test-apps`.
//
// Each application is a Go module, or a Java library. Its own folder pins it and its dependencies
// (go.mod, go.sum; pom.xml), so that the project does not depend on it. The command runs its tests
// unchanged: it compiles those of a Go module, and for those that a jar publishes a program of the
// folder that runs them and prints what happens as test2json does. If an address is built into a test, the command listens there and forwards to the
// store.
//
// Each suite runs in several settings:
//
//	reference        a real Cassandra, or dynalite for DynamoDB
//	engine           evenkeel on its embedded engine
//	engine, sharded  the same with rules that shard the hottest tables
//	door             evenkeel in front of the reference
//	door, sharded    the same with these rules
//
// A test that fails must be among the failures that the application's file explains, and an
// explained test must fail. Otherwise the command fails.
package main
