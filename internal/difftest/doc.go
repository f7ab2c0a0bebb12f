// SPDX-License-Identifier: Apache-2.0

// Package difftest sends the same CQL to several targets and requires the same answers. Apache
// Cassandra is the first target and the judge. The others are the door in front of it and the
// embedded engine, each with plain and with write-sharded tables.
//
// It promises:
//
//  1. It compares rows and their order, concatenated pages, the metadata of results and of PREPARE,
//     error codes and texts, and warnings. Paging states and prepared ids are opaque. It ignores
//     tracing ids.
//  2. A statement that the judge accepts and a target refuses is a failure, unless
//     testdata/refusals.txt lists the refusal. An entry there that no script meets is a failure,
//     too.
//  3. The client uses a protocol library from outside this module. So an error at both ends of
//     package wire cannot hide.
//
// A Target needs only an address. Scripts (testdata/*.cql) are plain CQL with annotations in
// comments; script.go describes their grammar. The sharding law (law_test.go) generates schemas and
// histories, and shrinks those that fail.
//
// It imports nothing of this module except, in tests, what starts the targets.
package difftest
