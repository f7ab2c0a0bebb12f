// SPDX-License-Identifier: Apache-2.0

// Package result shapes the rows that a SELECT reads into the rows of its result, as Cassandra
// does: GROUP BY and aggregates, LIMIT and PER PARTITION LIMIT, and ORDER BY over several
// partitions.
//
// Whoever reads the rows gives them in the order of partitions and of clustering. A Shaper does
// the whole work where rows stay in memory. The engine, which reuses the memory of rows and
// ends pages by rules of its own, uses the parts: Groups, Limits and Sorted.
//
// The package does no I/O.
package result
