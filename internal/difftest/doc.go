// SPDX-License-Identifier: Apache-2.0

// Package difftest sends the same CQL to several targets and demands the same
// answers: Apache Cassandra is the first target and the judge; the others are
// the door in front of it and the embedded engine, each with plain and with
// write-sharded tables.
//
// It promises:
//
//  1. Compared are rows and their order, concatenated pages, the metadata of
//     results and of PREPARE, error codes and texts, warnings. Page states and
//     prepared ids are opaque, tracing ids are ignored.
//  2. A statement that the judge accepts and a target refuses is a failure,
//     unless testdata/refusals.txt lists the refusal; an entry there that no
//     script meets is a failure too.
//  3. The client speaks the protocol by a library that is not this module's, so
//     that an error shared by both ends of package wire cannot hide.
//
// A Target needs only an address. Scripts (testdata/*.cql) are plain CQL with
// annotations in comments; script.go has their grammar. The sharding law
// (law_test.go) generates schemas and histories, and shrinks what fails.
//
// It imports nothing of this module but, in tests, what starts the targets.
package difftest
