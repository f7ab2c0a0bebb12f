// SPDX-License-Identifier: Apache-2.0

// Package simulation puts rows where a partition key would put them, and counts:
// how many come to each partition and to each node, how uneven that is, and what
// changes with another number of salts. Rows are handed to it one by one; what it
// keeps does not grow with them.
//
// Keys are placed by the same code as in the server: package partitioner for tokens
// and hashes, package shard for shards.
//
// # Placement
//
// Under Murmur3 and Random, Cassandra's partitioners, the columns are serialized as
// their types say (one column as it is, several as a composite), the token is taken,
// and a partition is one of n equal ranges of tokens. salt(c, n) is the token of the
// column's value, read as an unsigned integer, modulo n; it enters the key as an int.
//
// Under ByteOrdered the token is the key's own bytes, and ranges are of all bytes that
// there could be. Under Identity a key is one number or time, which is its token, and the
// ranges are of the tokens from the least to the greatest that the rows have.
//
// Under MD5Mod and JavaMod the columns' texts are joined by '#', and the partition
// is the hash modulo n. salt(c, n) is the same hash of the column's text, modulo n.
//
// minute, hour, day, month and year are the beginning of that period in UTC: a
// timestamp, or from the day on a date. random is drawn from a seed. rollover counts the
// rows that have the other components' values: so many are 1, as many more 2, and so on.
//
// shard and code_points are those of write_sharding under every partitioner, of the
// columns' serialized values.
//
// It promises:
//
//  1. A row that cannot be placed by each of the keys (BadValue) counts for none.
//     A row that has a null in some key counts for the others (KeyReport.Nulls).
//  2. Memory is bounded by partitions, vnodes and keys: of each key's values up to a
//     million are counted one by one, of more a sample is, with intervals.
//  3. The same rows and options give the same report.
//
// It does no I/O; it imports cql/value, partitioner, shard, workbench/datetime, workbench/keys,
// workbench/sketch and workbench/stats.
package simulation
