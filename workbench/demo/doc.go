// SPDX-License-Identifier: Apache-2.0

// Package demo offers one hot partition key more writes than a partition takes: the example in
// AWS's text on partition keys, 5,000 writes of 1 KB per second for one InvoiceNumber, on the
// embedded engine with DynamoDB's limits. It runs first without shards; then with the five shards
// of the formula, on a fresh table and on a pre-warmed one; then with the number that package
// workbench/capacity recommends.
//
//	d, err := demo.New(demo.Options{})
//	http.Handle("/demo/", d.Handler())   // a live picture
//	result, err := d.Run(ctx)
//
// # The clock
//
// The engine's clock is the demo's own. It is set to the time at which a write is due, and is tied
// to the wall clock. If the machine cannot offer the writes in time, or if Options.Speed says so,
// it runs slower or faster than the wall clock, and Result.Speed says how fast. All rates are per
// second of that clock. Latencies are measured on the wall clock.
//
// It promises:
//
//  1. Writes and reads go through the DynamoDB door's own router and the engine's store, as
//     requests with bodies. Only the time is artificial.
//  2. No file is written: data are in memory.
//  3. The same options give the same counts.
//  4. When the context ends, the result has the counts so far, with Partial set.
//
// It imports dynamo/api, dynamo/exception, dynamodoor/run, engine/throughput,
// engine/dynamodb, engine/storage, shard, workbench/capacity, workbench/page and
// workbench/report.
package demo
