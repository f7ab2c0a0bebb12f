// SPDX-License-Identifier: Apache-2.0

package main

// temporal runs workflows. Its tests create a keyspace for each suite.
var temporal = &application{
	Name: "temporal", Title: "Temporal", Module: "go.temporal.io/server", Package: "common/persistence/tests", Run: "^TestCassandra", API: cql,
	Env: func(e endpoint) []string {
		return []string{"CASSANDRA_SEEDS=" + e.host(), "CASSANDRA_PORT=" + e.port()}
	},
	// The tests find the schema by the path of their own source.
	Build: []string{"-trimpath=false"},
	// Each suite creates about 18 tables. A small Cassandra can only create them one after another.
	Args: []string{"-test.parallel=1"},
	Rules: `test_*.history_node: {shards: 4}
test_*.history_tree: {shards: 4}
test_*.queue: {shards: 4}
test_*.queue_messages: {shards: 4}
`,
	Sharded: "`history_node`, `history_tree`, `queue` and `queue_messages` over 4 shards",
	Notes: []string{
		"`executions`, `tasks`, `tasks_v2`, `namespaces` and `nexus_endpoints` are not for sharding. Temporal writes several of their rows in one BATCH with a condition on one of them (`IF range_id = ?`, `IF version = ?`), " +
			"so a server that has lost its ownership writes nothing. Cassandra decides such a BATCH in one partition; on a sharded table the door refuses it: \"Batch with conditions cannot span multiple partitions\". When these five tables, too, had 4 shards, 124 of the 205 tests passed, and every failure was this error. No `by` keeps these rows in one shard: " +
			"no clustering column has the same value in the row with the condition and in the others. The door warns of this when a rule shards a table ([cql.md](cql.md#rules-for-applications-that-issue-their-own-ddl)).",
	},
	Explained: []explanation{{
		Settings: []string{engine, engineSharded}, Tests: []string{all}, LeftOut: true,
		Why: "Temporal's schema has two CREATE INDEX, on `cluster_membership`; the embedded engine has no secondary indexes and refuses them, so the tests do not get their tables.",
	}, {
		Settings: []string{reference, door, doorSharded}, Tests: []string{"TestCassandraNexusEndpointPersistence/Generic/TestNexusEndpointsSteadyState/SteadyState"}, Racy: true,
		Why: "The whole test has 5 s, which is too short for a small Cassandra on a loaded machine: `context deadline exceeded`.",
	}},
}
