// SPDX-License-Identifier: Apache-2.0

// Package inspection says what a live table is like from its rows, read by ranges of
// tokens: how large its partitions are, which are the largest, how they lie on the
// nodes, what grows; and beforehand what reading it will cost.
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
// Those of Cassandra's SSTables before compression, as sstablepartitions shows them:
// of live data, one replica. They are worked out from the values that are read
// (Sizer). What CQL does not show is not in them: tombstones, overwritten values
// that are not compacted away, and, but for what a first sample tells, timestamps
// and times to live.
//
// # Samples
//
// A sample is one interval of tokens in each piece of the ring. Tokens are hashes, so
// that is a choice of partitions by chance, each with the same probability, and each
// comes whole. Pieces are read in an order by chance: what was read before an
// interruption is a sample, too.
//
// It promises:
//
//  1. Of a whole reading, counts are exact and percentiles within 1%; of a sample,
//     intervals hold with 99% confidence, those of sums unless a few partitions that
//     were not read have a large part of the table. A report says which it is, and how
//     much of the ring it is of.
//  2. Memory is bounded, whatever the table holds.
//  3. A Run that is written and read back goes on as if it had not been.
//  4. What is kept (Run) has tokens in place of keys.
//
// It does no I/O; it imports cql/schema, cql/syntax, cql/value, dynamo/api, partitioner,
// workbench/capacity and workbench/prices.
package inspection
