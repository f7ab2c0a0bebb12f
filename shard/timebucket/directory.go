// SPDX-License-Identifier: Apache-2.0

package timebucket

// few is the largest number of buckets that a read may span and still be done without a directory of buckets.
const few = 4

// Few reports whether a read from bucket first to bucket last spans so few buckets that it visits all of
// them and does not ask the directory which ones exist.
func Few(first, last int64) bool { return last-first < few }

// Directory returns at most limit buckets of a partition, from bucket from up to bucket to, both
// included. It returns the first ones in ascending order, or, if down is set, the last ones in
// descending order. If it returns fewer than limit, there are no more.
type Directory func(from, to int64, down bool, limit int) ([]int64, error)
