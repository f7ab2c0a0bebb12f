// SPDX-License-Identifier: Apache-2.0

// Package nodetool reads what Cassandra's tools print about the partitions of a
// table, which CQL does not tell:
//
//	nodetool toppartitions KEYSPACE TABLE 10000   the hottest, over some seconds
//	nodetool tablehistograms KEYSPACE TABLE       sizes, cells and latencies, of a node
//	sstablepartitions [-m] …/KEYSPACE/TABLE-*     sizes and tombstones, of a node's files
//
//	out, err := nodetool.Parse(text)
//
// The forms are those of Cassandra 5.0 (testdata has what it printed); 4.0 and 4.1
// print the same tables.
//
// It promises:
//
//  1. Texts of several such outputs, one behind the other, are read, too.
//  2. What has none of the forms is refused, with the line and the commands that
//     print them; no input makes it panic.
//
// It does no I/O and imports nothing of this module.
package nodetool
