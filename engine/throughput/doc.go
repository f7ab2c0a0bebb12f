// SPDX-License-Identifier: Apache-2.0

// Package throughput models how much DynamoDB and Amazon Keyspaces let a table do in a second: its
// partitions, their limits, and how these grow. It keeps figures and no data. A store asks it
// before a request (Admit), and reports afterwards how much the request took (Spend).
//
// # The model
//
// A Model describes one table, or one global secondary index, which has its own partitions and
// limits. A partition is a range of positions: the bytes of hash(partition key), partition key,
// sort key, in the store's order. Each partition has two token buckets with the units of one
// second, 1,000 of writes and 3,000 of reads.
//
// A request is admitted while the bucket of its partition is not empty. It may then take more than
// is left. An example is a page of a Query, whose size is not known before: it runs into debt, and
// later requests wait until the debt is paid. So the units of a bucket are exact over time,
// whatever requests take.
//
// In addition to the partitions' buckets, there is one bucket for each limit of the table: the
// provisioned throughput, with the unused units of 300 seconds; the maximum that is set for an
// on-demand table; the account's quota for a table. These are not divided between the partitions: a
// hot partition may take all of a limit, up to its own limit. Adaptive capacity has the same
// effect.
//
// At first there are as many partitions as are needed for the throughput that the table can take at
// once. That is the greatest of the provisioned throughput, for on-demand tables 4,000 write and
// 12,000 read units, and the warm throughput. Later, partitions are split, and never merged:
//
//   - for heat, if a partition has been refusing requests for Limits.SplitAfter. The
//     split is between the requested keys. There is no split if it would not help: the
//     model checks whether later requests would have gone to both sides. They would
//     not with one hot item, nor with sort keys that only increase. A table with a
//     local secondary index is split only between partition keys;
//   - for size, at Limits.PartitionBytes;
//   - for on-demand growth: Limits.SplitAfter after a new peak, so that the table can take twice
//     the peak.
//
// # Differences from AWS
//
// AWS documents the limits, but not how it enforces them. Eventually consistent reads have been
// measured at up to 4,500 units on one key, because three replicas serve them. In the model the
// limit is 3,000 for all reads. Burst capacity is best effort in AWS, and always available in the
// model; a new table has none. Provisioned tables do not grow by themselves.
//
// # Promises
//
//  1. No I/O, no goroutine, no clock, no randomness: time is an argument, and the
//     same calls give the same answers.
//  2. Memory is bounded: MaxPartitions bounds the partitions, and each partition
//     keeps a bounded number of keys.
//  3. Admit and Spend allocate only when they note a key that is new to a partition,
//     or a request to a hot partition.
//
// A Model is safe for concurrent use. The package imports nothing of this module.
package throughput
