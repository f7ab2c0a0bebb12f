// SPDX-License-Identifier: Apache-2.0

// Package inspection describes a live table by its rows, which it reads by ranges of tokens: how
// large its partitions are, which ones are the largest, how they are spread over the nodes, what
// grows. It also predicts what the reading will cost.
//
//	plan := inspection.NewPlan(nodes, inspection.PlanOptions{Fraction: 0.01, Pieces: 256, Seed: 7})
//	for i, r := range plan.Ranges {
//		c := inspection.NewCounter(table, sizer, nil)
//		c.Row(token, cells) // each row of r, partitions whole, one behind the other
//		c.End()
//		run.Add(i, &c.Tally)
//	}
//	report := inspection.Summarize(run, …)
//
// # What a partition's bytes are
//
// They are the bytes of Cassandra's SSTables before compression, as sstablepartitions shows them:
// of live data, one replica. Sizer computes them from the values that are read. They do not include
// data that CQL does not show: tombstones and overwritten values that are not yet compacted.
// Timestamps and times to live are only those that a first sample shows.
//
// # Samples
//
// A sample is one interval of tokens in each piece of the ring. Tokens are hashes, so this chooses
// partitions by chance, each with the same probability, and reads each as a whole. Pieces are read
// in random order, so that what was read before an interruption is a sample, too.
//
// It promises:
//
//  1. For a whole reading, counts are exact and percentiles are within 1%. For a sample, intervals
//     hold with 99% confidence. Those of sums do not if a few partitions that were not read have a
//     large part of the table. A report says whether it is from a sample, and how much of the ring
//     was read.
//  2. Memory is bounded, whatever the table holds.
//  3. A Run that is written and read back continues as if it had not been interrupted.
//  4. A stored Run has tokens in place of keys.
//
// It does no I/O; it imports cql/schema, cql/syntax, cql/value, dynamo/api, partitioner,
// workbench/capacity and workbench/prices.
package inspection
