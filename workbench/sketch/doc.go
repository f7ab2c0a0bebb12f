// SPDX-License-Identifier: Apache-2.0

// Package sketch counts keys of a stream in bounded memory: the most frequent ones
// (Top) and a sample of all of them with exact counts (Sample). Keys are told apart
// by 64-bit hashes, which the caller computes; different keys with one hash are one.
//
// Top is Space-Saving (Metwally, Agrawal and El Abbadi, 2005) with a filter before
// it (Homem and Carvalho, 2010): cells of counts, into which keys go by their hash,
// and only what could be frequent is counted by itself. Counters are dropped many at
// a time, as in Anderson et al. (2017), so that a key costs a few nanoseconds.
//
// Sample keeps the keys whose hash is below a threshold, and halves the threshold
// when they become too many. A key that is in was in from its first row, for what is
// above the threshold once is above it for ever: its count is exact, whatever its
// frequency. From it come the number of keys, percentiles of their counts, and sums
// over keys, with intervals.
//
// It promises:
//
//  1. A key's count in Top is between Low and High, and no other key has more than
//     Absent: for certain. With no more than its capacity of keys all is exact.
//  2. A Sample's counts are exact, and its keys a random choice if the hashes are
//     random: an interval holds what it says with its confidence.
//  3. Both merge: of parts of a stream comes what holds for the whole.
//  4. Adding does not allocate, but to grow to the full size.
//
// It is pure and imports nothing of this module.
package sketch
