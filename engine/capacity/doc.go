// SPDX-License-Identifier: Apache-2.0

// Package capacity models what DynamoDB and Amazon Keyspaces let a table do in a
// second: its partitions, their limits, and how these grow. It holds figures, no
// data; a store asks it before a request (Admit) and tells it afterwards what the
// request took (Spend).
//
// # The model
//
// A Model is of one table, or of one global secondary index, which has partitions
// and limits of its own. A partition is a range of positions: the bytes of
// hash(partition key), partition key, sort key, in the store's order. Each has two
// token buckets of one second's units, 1,000 of writes and 3,000 of reads.
//
// A request is admitted while the bucket of its partition is not empty, and may
// then take more than is left: a page of a Query, whose size nobody knows before,
// runs into debt, and what follows waits until that is paid. So the units of a
// bucket are exact over time, whatever requests take.
//
// Above the partitions there is one bucket for each limit of the table: the
// provisioned throughput, with the unused units of 300 seconds; the maximum that
// an on-demand table is given; the account's quota of a table. No partition is
// given a part of these: a hot one may take all of it, up to its own limit, which
// is what adaptive capacity comes to.
//
// How many partitions there are at first: as many as the throughput needs that the
// table can take at once, which is the greatest of the provisioned throughput, for
// on-demand tables 4,000 write and 12,000 read units, and the warm throughput. Then
// they are split, and never merged:
//
//   - for heat, when a partition has been refusing requests for Limits.SplitAfter,
//     between the keys that are asked for. Where that would not help there is no
//     split: what came later is looked at, whether it would have gone to both
//     sides. It would not with one hot item, nor with sort keys that only increase.
//     A table with a local secondary index is split between partition keys alone;
//   - for size, at Limits.PartitionBytes;
//   - for on-demand growth, Limits.SplitAfter after a new peak, to have twice that.
//
// # Where the model is stricter or kinder than AWS
//
// AWS documents the limits, and not how they are kept. Eventually consistent reads
// have been measured at up to 4,500 units on one key, as three replicas serve them;
// here the limit is 3,000 for all reads. Burst capacity is best effort with AWS,
// and here always there; a new table has none. Provisioned tables do not grow by
// themselves.
//
// # Promises
//
//  1. No I/O, no goroutine, no clock, no chance: time is an argument, and the same
//     calls give the same answers.
//  2. Memory is bounded: partitions by MaxPartitions, what is known of keys by
//     partition.
//  3. Admit and Spend allocate nothing, but for what is kept of a key that is new to
//     a partition, or of a partition that is hot.
//
// A Model is safe for concurrent use. The package imports nothing of this module.
package capacity
