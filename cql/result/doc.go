// SPDX-License-Identifier: Apache-2.0

// Package result shapes the rows that a SELECT reads into the rows of its result, as Cassandra
// does: GROUP BY and aggregates, LIMIT and PER PARTITION LIMIT, and ORDER BY over several
// partitions.
//
// The caller that reads the rows passes them in the order of partitions and clustering columns. If
// the rows stay in memory, a Shaper does all the work. The engine reuses the memory of rows and has
// its own rules for the end of a page, so it uses the parts: Groups, Limits and Sorted.
//
// The package does no I/O.
package result
