// SPDX-License-Identifier: Apache-2.0

// Package scatter reads one ordered sequence whose rows are spread over shards. It reads a page of P
// rows from N shards without asking each shard for P rows.
//
// A Reader is a pure state machine. Next returns what to fetch. Feed takes the fetched rows. Page
// returns the finished page. The caller does the I/O, with as many fetches at once as it likes.
//
// A Reader reads a page as follows:
//
//  1. It asks all shards for somewhat more than their share of the page, which is P/N rows. If that
//     would take too many requests or rows, it asks a sample of the shards.
//  2. From the answers it estimates u, the key at which the page ends. It asks the shards that are
//     not known so far for their rows up to u. An empty answer proves that a shard has no row
//     before u, so the first row of that shard need not be known.
//  3. If the estimate was too low, or a shard had more rows than it was asked for, the Reader fills
//     the gaps. The page ends at a key up to which every shard is known.
//
// It promises:
//
//  1. The page is exact: the P smallest rows of the union, in order, each once.
//  2. The number of fetched rows is at most P + 2N, or P + √(P N) if that is more (P > 4N). This
//     is the median over evenly filled shards. In nine pages of ten, the rows beyond P are at most
//     half as many again.
//  3. On average a page takes at most 1.3 requests for each shard, counting every request. It takes
//     at most two rounds in nine pages of ten. With Few it takes one round if there are fewer rows
//     than a page, and more requests if there are not.
//  4. It terminates for every Feed that obeys the fetch's bounds. Feed refuses rows that do not.
//
// Longer pages cannot have the limit P + 2N, for this reason. To ask a shard only once, the Reader
// must tell it where to end: after a number of rows, or at a key. With a number: shards deviate from
// their share by √(P/N) rows. If 0.3 of the shards may return too few rows, the Reader must fetch
// 0.7 √(P N) rows too many in all. With a key: a sample of a part s of the shards determines the end
// of the page only to within √(P (1-s)/s) rows, which is 1.5 √P for s = 0.3. The Reader must ask a
// shard again if it estimated the end too early. Both are below √(P N). With 2N rows, a page of 100
// rows from 3 shards would take 1.4 requests for each shard on average, and a page of 5,000 rows 1.9.
// This holds even if each shard that was asked for too few rows were asked only once more, for
// exactly the rows that it has.
//
// It knows no protocol, does no I/O, starts no goroutine and reads no clock; it imports nothing of
// this module.
package scatter
