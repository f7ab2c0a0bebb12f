// SPDX-License-Identifier: Apache-2.0

// Package partitioner turns partition keys into tokens, as Cassandra does.
//
// A key is the serialized partition key: one column's value as it is, several
// columns in Cassandra's composite form (Composite).
//
// It promises:
//
//  1. Murmur3 equals Cassandra's Murmur3Partitioner for every key; so does
//     Random equal RandomPartitioner. (Common murmur3 libraries differ from
//     Cassandra's wherever the last bytes of a key are 0x80 or more.)
//  2. Nothing allocates but Random, which returns a big integer, and what
//     grows a destination.
//
// It does no I/O and imports nothing of this module.
//
//	token := partitioner.Murmur3(partitioner.AppendComposite(nil, day, level))
package partitioner
