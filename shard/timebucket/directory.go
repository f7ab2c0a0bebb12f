// SPDX-License-Identifier: Apache-2.0

package timebucket

// few is a number of buckets. A read that spans more buckets asks the directory first.
const few = 4

// Few reports whether a read spans few buckets: those from first to last. Such a read does not ask the directory. It visits
// all of them.
func Few(first, last int64) bool { return last-first < few }

// Directory lists the buckets that a partition has, between the buckets from and to. Both ends are included. It returns at
// most limit buckets. If down is not set, these are the first ones, in ascending order. If down is set, these are the last
// ones, in descending order. If Directory returns fewer than limit, the partition has no more between from and to.
type Directory func(from, to int64, down bool, limit int) ([]int64, error)
