// SPDX-License-Identifier: Apache-2.0

// Package livedynamo reads a DynamoDB table: of AWS, of an evenkeel door, or of another store with
// that API.
//
//	at, err := livedynamo.Parse("dynamodb://us-east-1/Invoices")
//	t, err := livedynamo.Open(ctx, at, livedynamo.Options{})
//	t.Table()                        // key, indexes, throughput, what the table says of its size
//	err = t.Scan(ctx, livedynamo.Segment{Number: 3, Of: 64}, 0, each)
//	in, err := t.Rows(ctx, livedynamo.RowsOptions{Fraction: 0.01}) // a rows.Source
//
// # Addresses
//
//	dynamodb://host:port/table         an endpoint, over HTTP
//	dynamodb+https://host[:port]/table an endpoint, over HTTPS
//	dynamodb://eu-west-1/table         AWS, in that region
//
// Credentials come from the usual AWS chain (environment, shared files and AWS_PROFILE, SSO,
// roles). For the user's own endpoint, if there are none, it uses made-up ones.
//
// # Segments
//
// A parallel Scan divides a table by the hash of the partition key, so that an item collection is
// whole in one segment, with its items one after the other. AWS does not promise this, but every
// known engine does it.
//
// It promises:
//
//  1. It only reads: DescribeTable, ListTables, ListTagsOfResource, Scan.
//  2. An error names the table or the endpoint, and has a way out (livetable.Hint).
//  3. Options.Rate limits the items per second, Options.Units the read units per second, over
//     all goroutines.
//  4. Memory is bounded by pages: one for each Scan in progress.
//
// It is at the workbench's edge: it connects. It imports dynamo/api, dynamo/attribute,
// dynamo/exception, partitioner, shard, shard/timebucket, workbench/livetable and workbench/rows.
package livedynamo
