// SPDX-License-Identifier: Apache-2.0

// Package simulation places rows where a partition key would place them, and counts: how many rows
// each partition and each node gets, how uneven that is, and what changes with another number of
// salts. The caller adds the rows one by one. The memory of a simulation does not grow with them.
//
// The same code as in the server places keys: package partitioner computes tokens and hashes,
// package shard computes shards.
//
// # Placement
//
// Under Murmur3 and Random, Cassandra's partitioners, the columns are serialized as their types say
// (one column as it is, several as a composite). The key's token follows from that, and a partition
// is one of n equal ranges of tokens. salt(c, n) is the token of the column's value, read as an
// unsigned integer, modulo n. It is in the key as an int.
//
// Under ByteOrdered the token is the key's own bytes, and the ranges cover all possible bytes.
// Under Identity a key is one number or time, which is its token, and the ranges go from the least
// to the greatest token of the rows.
//
// Under MD5Mod and JavaMod the columns' texts are joined by '#', and the partition is the hash
// modulo n. salt(c, n) is the same hash of the column's text, modulo n.
//
// minute, hour, day, month and year are the beginning of that period in UTC: a timestamp, or a date
// for day and longer periods. random is drawn from a seed. rollover counts the rows that have the
// other components' values: the first ones have 1, the next ones 2, and so on.
//
// shard and code_points are those of write_sharding under every partitioner, computed from the
// columns' serialized values.
//
// It promises:
//
//  1. A row that one of the keys cannot place (BadValue) counts for no key. A row with a null in
//     some key counts for the other keys (KeyReport.Nulls).
//  2. Memory is bounded by partitions, vnodes and keys: up to a million values of each key are
//     counted one by one. Of more values, a sample is counted, with intervals.
//  3. The same rows and options give the same report.
//
// It does no I/O; it imports cql/value, partitioner, shard, workbench/datetime, workbench/keys,
// workbench/sketch and workbench/stats.
package simulation
