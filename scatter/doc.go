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
//  2. Rows fetched are at most P + 2N in the median over evenly filled shards. While
//     P ≤ N²/10 that holds for nine pages of ten; of longer pages that many take at
//     most N/2 rows more while P < 8N, and beyond that 1.5 N or P/8 more.
//  3. It asks 1.3 shards for each shard in the median, each counted as often as it is
//     asked, where P + 2N rows allow that: for P ≤ 2N², about. It takes two rounds
//     then, or three. With Few it takes one round where there are fewer rows than a
//     page, and more requests where there are not.
//  4. It terminates for every Feed that obeys the fetch's bounds, and Feed
//     refuses rows that do not.
//
// Why not for longer pages: to ask a shard once it must be told where to end, either
// by a number of rows or by a key. By a number: shards deviate from their share by
// √(P/N) rows; asked for as many as bring 2N too many in all, 0.3 of them lack some
// from P = 8N on. By a key: what a part s of the shards tells about the page's end is
// uncertain by √(P (1-s)/s) rows, 1.5 √P for s = 0.3, and 0.3 N is all that may be
// asked again. An end guessed too early costs a request for each shard; one that is
// late by a deviation brings more than 2N rows from P = 1.7 N² on. 5,000 rows over
// 16 shards: the deviation is 108 rows, the budget 32.
//
// It knows no protocol, does no I/O, starts no goroutine and reads no clock; it
// imports nothing of this module.
package scatter
