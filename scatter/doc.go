// SPDX-License-Identifier: Apache-2.0

// Package scatter reads one ordered sequence whose rows are spread over shards:
// a page of P rows over N shards, without asking each shard for P.
//
// A Reader is a pure state machine. It says what to fetch (Next), is told what
// came (Feed), and in the end gives the page (Page). The caller does the I/O,
// as many fetches at once as it likes.
//
// How a page is read:
//
//  1. All shards are asked for some more than their share of the page, P/N rows; or,
//     where that would take too many requests or rows, a sample of them is.
//  2. From what came the reader estimates u, the key that the page ends at, and
//     asks the shards that are not known so far for their rows up to u. An empty
//     answer proves that a shard has no row before u: its head need not be known.
//  3. Where the guess was low, or a shard had more rows than it was asked for,
//     the gaps are filled; the page ends where every shard is known.
//
// It promises:
//
//  1. The page is exact: the P smallest rows of the union, in order, each once.
//  2. Rows fetched are at most P + 2N, or P + √(P N) where that is more (P > 4N), in the
//     median over evenly filled shards, and half of what is beyond P more in nine pages
//     of ten.
//  3. On average a page takes at most 1.3 requests for each shard, each counted as often
//     as it is asked, and two rounds in nine pages of ten. With Few it takes one round
//     where there are fewer rows than a page, and more requests where there are not.
//  4. It terminates for every Feed that obeys the fetch's bounds, and Feed
//     refuses rows that do not.
//
// Why not P + 2N for longer pages: to ask a shard once it must be told where to end,
// either by a number of rows or by a key. By a number: shards deviate from their share
// by √(P/N) rows; to have 0.3 of them lack some brings 0.7 √(P N) rows too many in all.
// By a key: what a part s of the shards tells about the page's end is uncertain by
// √(P (1-s)/s) rows, 1.5 √P for s = 0.3, and a shard is asked again wherever the end was
// guessed too early. Both stay below √(P N). With 2N rows 100 rows over 3 shards would
// take 1.4 requests for each on average, and 5,000 rows 1.9, even if each shard that was
// asked for too little were asked just once more, for just what it has.
//
// It knows no protocol, does no I/O, starts no goroutine and reads no clock; it
// imports nothing of this module.
package scatter
