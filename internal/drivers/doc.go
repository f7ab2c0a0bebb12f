// SPDX-License-Identifier: Apache-2.0

// Package drivers holds tests that drive the evenkeel binary with real clients.
//
// CQL: cqlsh, and the Python, Go, Java and Node drivers. Each client's session runs
// first on Cassandra itself and then on the door; what it prints must be equal. A
// session also lives through a restart of the door: it prints RESTART, the test
// restarts the door on the same port, and the session goes on.
//
// DynamoDB: boto3, whose session must print what boto3/expected.txt says, and
// aws-sdk-go-v2. The AWS CLI, the SDKs for JavaScript and Java, PynamoDB and ElectroDB
// do one and the same session, each in its own way: all print dynamodb/expected.txt,
// on plain and on sharded tables, and through a cache.
//
// The clients are brought by `make deps`; a test whose client is missing fails.
package drivers
