// SPDX-License-Identifier: Apache-2.0

// Package livedynamo reads a DynamoDB table: of AWS, of an evenkeel door, of whatever
// has that API.
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
// Credentials are those of the usual chain of AWS (environment, shared files and
// AWS_PROFILE, SSO, roles). An endpoint of one's own for which there are none gets
// made-up ones.
//
// # Segments
//
// A parallel Scan parts a table by the hash of the partition key, so that an item
// collection is whole in one segment, its items one behind the other. AWS does not
// promise it; every engine that is known does it.
//
// It promises:
//
//  1. It only reads: DescribeTable, ListTables, ListTagsOfResource, Scan.
//  2. An error names the table or the endpoint, and has a way out (livetable.Hint).
//  3. Options.Rate bounds the items, Options.Units the read units a second over all
//     goroutines.
//  4. Memory is bounded by pages: one for each Scan that is under way.
//
// It is the workbench's rim: it connects. It imports dynamo/api, dynamo/attribute,
// dynamo/exception, partitioner, shard, workbench/livetable and workbench/rows.
package livedynamo
