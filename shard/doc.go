// SPDX-License-Identifier: Apache-2.0

// Package shard says in which physical partition a row of a write-sharded table
// lives: layouts, hashes, even draws.
//
// # The shard of a row
//
// The format is public: any program can read and write the data without this module, and compute
// the shard of a row in any language (testdata/vectors.json has examples). Under strategy
// calculated and hash murmur3, with N shards:
//
//  1. Take the values of the `by` columns, in the order of `by`, each serialized as in Cassandra's
//     native protocol and made canonical, so that values that Cassandra takes as equal have equal
//     bytes: decimals without trailing zeros (1.00 as 1, 100 as 1E+2, zero with scale 0), varints
//     in the fewest bytes, NaN as 0x7fc00000 or 0x7ff8000000000000, true as 0x01, and the same
//     inside frozen collections, tuples and user-defined types (both without trailing nulls) and
//     vectors. Sets and maps are in Cassandra's order, without duplicates, as it stores them; an
//     IPv4 address in IPv6 form inside a collection is IPv4. -0.0 is not 0.0. All other values are
//     canonical as they are.
//  2. One column: the bytes are its value. Several: for each column a 2-byte
//     big-endian length, the value, and a byte 0x00 (a composite partition key).
//  3. The token of these bytes under Cassandra's Murmur3Partitioner, read as an
//     unsigned 64-bit integer; no bytes at all have the token 0x8000000000000000.
//  4. Jump consistent hash (Lamping and Veach, 2014) of that integer over N
//     buckets gives 0..N-1; the shard is that plus 1, plus the base.
//
// The static columns of a partition are in the shard that steps 3 and 4 give for
// its serialized partition key, under every hash.
//
// # N and base of a key
//
// N and the base belong to the key. They come from the first of these: the key's own entry; the
// epoch of keys that the key is in; the table, whose base is 0 unless an option gives another. A
// range is written 64, or 64@8 with base 8: the shards 9 to 72.
//
// An epoch of keys begins at an instant: it has the keys whose date, timestamp or
// timeuuid (the partition key has one such column) is that instant or later, up to the
// next epoch; a date is its midnight, UTC, and a timeuuid its millisecond.
//
// A key's own entry and the table's default may have epochs of rows: of the rows
// of a key, those whose first clustering column is the epoch's value or greater, in the
// order of its type, have the epoch's N and base, up to the next epoch. Static columns
// have the N and base before the first epoch. testdata/spreads.json has examples.
//
// Under hash code_points the columns are text: the shard is the product of all
// Unicode code points of the values modulo N, plus 1 (1 mod N, plus 1 for empty
// text). Its shards are far from even, see Hash.
//
// # Promises
//
//  1. The shard of a row depends on nothing but the layout and the row's key.
//  2. Callers ask the layout how many shards a key has, and which (Layout.Spread).
//  3. When N grows under murmur3, only rows that must move do: each moves to a
//     new shard or stays.
//  4. Parse(l.Options()) is l, except for its generation and its keys' entries. If Parse refuses an
//     option, the error names it and the way out.
//  5. ShardOf does not allocate for keys of ordinary size.
//
// It does no I/O; it imports partitioner and shard/timebucket.
package shard
