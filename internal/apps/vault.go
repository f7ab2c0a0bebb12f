// SPDX-License-Identifier: Apache-2.0

package main

// vault stores secrets. Its DynamoDB backend keeps all of them in one table, whose partition key is
// the folder of a secret.
var vault = &application{
	Name: "vault", Title: "HashiCorp Vault", Module: "github.com/hashicorp/vault", Package: "physical/dynamodb", API: dynamodb,
	Env:     func(e endpoint) []string { return append(awsEnv(), "AWS_DYNAMODB_ENDPOINT="+e.url()) },
	Rules:   "dynamodb:\n  vault-*: {shards: 4}\n",
	Sharded: "its only table over 4 shards",
	Explained: []explanation{{
		Settings: []string{reference, door, doorSharded}, Tests: []string{"TestDynamoDBBackendUpdateReadWriteCapacity"}, Racy: true,
		Why: "The test reads the new capacity right after UpdateTable and does not wait for it. But dynalite, like DynamoDB, changes the capacity a moment later.",
	}},
}
