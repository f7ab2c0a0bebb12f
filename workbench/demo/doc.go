// SPDX-License-Identifier: Apache-2.0

// Package demo offers one hot partition key more writes than a partition takes: the
// example of AWS's text on partition keys, 5,000 writes of 1 KB a second for one
// InvoiceNumber, on the embedded engine with DynamoDB's limits. First without shards;
// then with the five that the arithmetic gives, on a fresh table and on a pre-warmed
// one; then with as many as package workbench/capacity recommends.
//
//	d, err := demo.New(demo.Options{})
//	http.Handle("/demo/", d.Handler())   // a live picture
//	result, err := d.Run(ctx)
//
// # The clock
//
// The engine's clock is the demo's own: it is set to the moment at which a write is
// due, and held to the wall's. Where the machine cannot offer the writes in time, or
// Options.Speed says so, it goes slower or faster than the wall's, and Result.Speed
// says how fast. All rates are per second of that clock; latencies are the wall's.
//
// It promises:
//
//  1. Writes and reads go through the DynamoDB door's own router and the engine's
//     store, as requests with bodies; nothing is made up but the time.
//  2. No file is written: data are in memory.
//  3. The same options give the same counts.
//  4. When the context ends, what was counted is the result, with Partial set.
//
// It imports dynamo/api, dynamo/exception, dynamodoor/run, engine/capacity,
// engine/items, engine/storage, shard, workbench/capacity, workbench/page and
// workbench/report.
package demo
