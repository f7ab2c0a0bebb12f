// SPDX-License-Identifier: Apache-2.0

package main

// dynamo is a client library for DynamoDB that many Go programs use.
var dynamo = &application{
	Name: "dynamo", Title: "guregu/dynamo", Module: "github.com/guregu/dynamo/v2", API: dynamodb,
	Env: func(e endpoint) []string {
		return append(awsEnv(), "DYNAMO_TEST_ENDPOINT="+e.url(), "DYNAMO_TEST_REGION=local", "DYNAMO_TEST_TABLE=Widgets-%")
	},
	// The tests of a table's life create one whose name begins with TestDB, with another index.
	Rules: `dynamodb:
  Widgets-*: {shards: 4, indexes: {Msg-Time-index: {shards: 3}}}
  TestDB-*: {shards: 4}
`,
	DoorRules: "dynamodb:\n  '*-*': {shards: 4}\n",
	Sharded:   "all tables over 4 shards, and on the engine index `Msg-Time-index` over 3: dynalite takes no index with two partition key attributes",
	Explained: []explanation{{
		Settings: []string{reference, door, doorSharded}, Tests: []string{"TestTx", "TestTxRetry"}, LeftOut: true,
		Why: "dynalite has no transactions and answers `UnknownOperationException`. A failure in `TestTxRetry` would end the run. The tests run on the engine.",
	}},
}

// awsEnv returns credentials for a store that checks none.
func awsEnv() []string {
	return []string{"AWS_ACCESS_KEY_ID=dummy", "AWS_SECRET_ACCESS_KEY=dummy", "AWS_SESSION_TOKEN=", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1"}
}
