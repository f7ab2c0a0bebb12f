// Package scatter reads one ordered sequence whose rows are spread over shards:
// a page of P rows over N shards, without asking each shard for P.
//
// A Reader is a pure state machine. It says what to fetch (Next), is told what
// came (Feed), and in the end gives the page (Page). The caller does the I/O,
// as many fetches at once as it likes.
//
// How a page is read:
//
//  1. Every shard is asked for about its share of the page, P/N rows: of long pages
//     a quarter of the shards, as a sample.
//  2. From what came the reader estimates u, the key that the page ends at, and
//     asks the shards that are not known so far for their rows up to u. An empty
//     answer proves that a shard has no row before u: its head need not be known.
//  3. Where the guess was low, or a shard had more rows than it was asked for,
//     the gaps are filled; the page ends where every shard is known.
//
// It promises:
//
//  1. The page is exact: the P smallest rows of the union, in order, each once.
//  2. Rows fetched are at most P + 2N over evenly filled shards while P < 8N.
//     Longer pages stay within that in the median, and within 8% of P beyond it:
//     where they end cannot be foreseen more exactly without more rounds.
//  3. It terminates for every Feed that obeys the fetch's bounds, and Feed
//     refuses rows that do not.
//
// It knows no protocol, does no I/O, starts no goroutine and reads no clock; it
// imports nothing of this module.
package scatter
