// SPDX-License-Identifier: Apache-2.0

// Package capacity says how many shards a hot partition key needs in a store
// that limits each partition: Amazon DynamoDB and Amazon Keyspaces, 1,000 write
// units and 3,000 read units a second.
//
// # The model
//
// The minimum is the vendor's formula: ceil(writes/s × ceil(KB) / 1000). It has no
// headroom: 5,000 writes a second of 1 KB fill five shards to the last unit, and
// writes do not come in equal fifths.
//
// Requests come from many independent clients: they are Poisson with the given rate at its peak.
// Each goes to one of N shards with equal probability. A hash of distinct sort keys does that, and
// so does a random suffix. Then the requests of a shard in a second are Poisson with the Nth part
// of the rate, independent of the other shards. A shard throttles in a second in which its requests
// take more units than the partition has. So a second is throttled with probability 1 - (1 - q)^N,
// if q is that of one shard. Recommended is the least N for which that is at most one in a
// thousand.
//
// The model is stricter than a store in two points: each second stands alone (a token bucket that
// is full at its start forgives a little), and burst capacity, which is best effort, does not
// count. The model is kinder in one point: it knows only the given rate; a rate that doubles for a
// minute is another rate. If the total were exactly the same in each second (binomial instead of
// Poisson), the chance would be slightly less.
//
// It promises:
//
//  1. The chance of a throttled second at N agrees with the model to six digits (a test compares it
//     with a simulation).
//  2. Recommended is the least N, not below Minimum, that meets the target chance.
//  3. Every number that is assumed and not computed is a field or constant here, with its
//     source.
//
// It does no I/O; it imports shard and workbench/stats.
package capacity
