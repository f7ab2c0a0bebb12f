// SPDX-License-Identifier: Apache-2.0

// Package nodetool reads the output of Cassandra's tools about the partitions of a table, which CQL
// does not show:
//
//	nodetool toppartitions KEYSPACE TABLE 10000   the hottest, over some seconds
//	nodetool tablehistograms KEYSPACE TABLE       sizes, cells and latencies, of a node
//	sstablepartitions [-m] …/KEYSPACE/TABLE-*     sizes and tombstones, of a node's files
//
//	out, err := nodetool.Parse(text)
//
// The forms are those of Cassandra 5.0 (testdata has its output); 4.0 and 4.1 print the same
// tables.
//
// It promises:
//
//  1. It also reads texts with several such outputs, one after the other.
//  2. It refuses a text with none of the forms, and names the line and the commands that print
//     them. No input makes it panic.
//
// It does no I/O and imports nothing of this module.
package nodetool
