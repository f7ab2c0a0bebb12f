// SPDX-License-Identifier: Apache-2.0

// Package advice says which primary key a table should have: it proposes designs, scores them by
// their measurements, ranks them, and says why.
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
// Ranking is lexicographic: a later criterion counts only if all earlier ones are equal. The
// criteria are: rows that are lost (the primary key repeats, or is null in more than a tenth of the
// rows), in the data and then at the stated rate → queries that are not served (they read the whole table, or filter a partition), by their
// rate → limits that are exceeded, now or within HorizonYears → queries that are not served and are
// a tiny part of the load → few rows with a null in the key → enough keys to share the
// load → cost → headroom. Costs within a tenth of the least are equal, and so is headroom
// beyond twice what is needed. Then the simpler design is better: the key that the queries
// name, without shards, without a bucket, with fewer columns.
//
// Rows are state, not traffic. Every figure of heat names its source: the rate of a statement in
// the queries, a column of time, or none (unknown).
//
// Without queries there is no verdict.
//
// It promises:
//
//  1. The verdict loses no row of the data: if no columns are unique to each row, it adds one that
//     is.
//  2. evenkeel's doors accept the DDL, and it keeps the table as the verdict says.
//  3. The same input gives the same report.
//  4. An assumption that is not measured is a constant here, and the report names it.
//
// It does no I/O except through package profile; it imports cql/syntax, cql/value, shard,
// shard/timebucket, and of the workbench capacity, prices, profile, queries and simulation.
package advice
