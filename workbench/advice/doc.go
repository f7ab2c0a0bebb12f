// SPDX-License-Identifier: Apache-2.0

// Package advice says which primary key a table should have: it proposes designs,
// scores what was measured of them, ranks them, and says why.
//
//	s, err := advice.New(prof, qs, advice.Options{Target: advice.Cassandra})
//	for cs := s.Next(); len(cs) > 0; cs = s.Next() {
//		measured, _, err := profile.Measure(ctx, src, prof, cs, po)
//		s.Take(measured)
//	}
//	report := s.Report()
//
// # How it judges
//
// Ranking is lexicographic; nothing is weighed against what stands before it:
// rows that are lost (the primary key repeats, or is null) → queries that are not
// served (the whole table is read, or a partition filtered), by their rate → limits
// that are exceeded, now or within Horizon → queries that are next to nothing of the
// load and not served → cost → headroom. Costs within a
// twentieth of each other are equal, and so is headroom beyond three times what is
// needed; then the simpler design is better: the key that the queries name, without
// shards, without a bucket, with fewer columns.
//
// Rows are state, not traffic. Every figure of heat names where it comes from: the
// rate of a statement in the queries, a column of time, or nowhere (unknown).
//
// Without queries there is no verdict.
//
// It promises:
//
//  1. The verdict loses no row of the data: where no columns tell rows apart, it adds
//     one that does.
//  2. The DDL is what evenkeel's doors take, and keeps its table as the verdict says.
//  3. The same input gives the same report.
//  4. What is assumed and not measured is a constant here, and is named in the report.
//
// It does no I/O; it imports cql/syntax, cql/value, shard, and of the workbench
// capacity, prices, profile, queries and simulation.
package advice
