// SPDX-License-Identifier: Apache-2.0

// Package timebucket cuts time into buckets of one width, and says in which bucket a value with a
// time is (Kind): a CQL timestamp, date or timeuuid, or a text or number of DynamoDB. Runs says
// which buckets a read visits, and in which order.
//
// A bucket is a number: bucket 0 begins at 1970-01-01T00:00:00Z, bucket -1 ends there.
// A Grid of a width and a number of shards has the buckets whose places, which are
// numbers of 32 bits, do not overflow:
//
//	place = bucket × shards + 1 + shard, where shard is from 0 to shards-1
//
// It promises:
//
//  1. The bucket of a value depends on nothing but the width and the value.
//  2. Of two values, the one that is later in the order of its type is in the same bucket or in a
//     later one. Values before the first bucket are in the first bucket, and those after the last
//     one in the last; a value without bytes is in the first. This also holds for texts and numbers
//     that are not times.
//  3. Parse(w.String()) is w. If a text is not a width, Parse refuses it and says how to write one.
//  4. Bucket is the inverse of Place.
//  5. A text or number is at or above Least of a bucket exactly if it is in that bucket or in a later one.
//
// It does no I/O and imports nothing of this module.
package timebucket
