// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// Pekko keeps the state of actors as events and snapshots. Its plugins share the tests that Pekko
// publishes for them.
const (
	pekkoTests = "org.apache.pekko:pekko-persistence-tck_2.13"
	pekkoSpecs = "JournalSpec, SnapshotStoreSpec"
)

const pekkoFlag = "Of the two optional tests for journals, the one for events that cannot be serialized is turned off: the plugin for Cassandra does not support it."

func pekkoEnv(e endpoint) []string { return []string{"TCK_STORE=" + e.addr} }

// The plugin for Cassandra creates its keyspaces and tables itself.
var pekkoCassandra = &application{
	Name: "pekko-cassandra", Folder: "pekko", Title: "Pekko Persistence Cassandra", Module: "org.apache.pekko:pekko-persistence-cassandra_2.13",
	Java: "Tck", Args: []string{"cassandra"}, Package: pekkoTests, Run: pekkoSpecs, API: cql,
	Env: pekkoEnv,
	Rules: `pekko.messages: {shards: 8}
pekko.tag_views: {shards: 8}
pekko_snapshot.snapshots: {shards: 4}
`,
	Sharded: "the events, `messages` and `tag_views`, over 8 shards; `snapshots` over 4",
	Notes:   []string{"The plugin creates its keyspaces and tables itself.", pekkoFlag},
	Clean: func(ctx context.Context, _ *suite, e endpoint) error {
		return cqlsh(ctx, e, "DROP KEYSPACE pekko; DROP KEYSPACE pekko_snapshot;")
	},
}

var pekkoDynamoDB = &application{
	Name: "pekko-dynamodb", Folder: "pekko", Title: "Pekko Persistence DynamoDB", Module: "org.apache.pekko:pekko-persistence-dynamodb_2.13",
	Java: "Tck", Args: []string{"dynamodb"}, Package: pekkoTests, Run: pekkoSpecs, API: dynamodb,
	Env:     pekkoEnv,
	Rules:   "dynamodb:\n  pekko-persistence: {shards: 8}\n  pekko-persistence-snapshot: {shards: 4}\n",
	Sharded: "the events over 8 shards; the snapshots, whose table has a local secondary index, over 4",
	Notes:   []string{pekkoFlag},
}
