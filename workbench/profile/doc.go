// SPDX-License-Identifier: Apache-2.0

// Package profile describes data, and measures what a primary key would do with them: types,
// cardinality, frequent values, order, time; sizes of partitions, rows that overwrite each other,
// the largest partitions, heat.
//
//	src, err := rows.Open("orders.csv", rows.Options{Again: true})
//	p, err := profile.Of(ctx, src, profile.Options{})
//	m, err := profile.Measure(ctx, src, p, []profile.Candidate{
//		{Partition: []profile.Part{{Column: "code"}}, Clustering: []string{"user"}},
//	}, profile.Options{})
//
// It promises:
//
//  1. Memory is bounded, whatever the data hold.
//  2. Every figure that is not counted completely is an Estimate with a 99% confidence interval.
//     The bounds of frequent values and keys are certain.
//  3. The same data give the same results.
//  4. Tokens are Cassandra's: values are serialized as Cassandra does.
//  5. The values of a column, not its name, decide its type. Only for numbers that could be days
//     since 1970 or a sequence does the name decide.
//
// It does no I/O except through its Input, and starts no goroutine. It imports cql/value,
// partitioner, shard, workbench/datetime, workbench/rows and workbench/sketch.
package profile
