// SPDX-License-Identifier: Apache-2.0

// Package sketch counts keys of a stream in bounded memory: the most frequent ones (Top), and a
// sample of all keys with exact counts (Sample). It distinguishes keys by 64-bit hashes, which the
// caller computes. Different keys with the same hash count as one.
//
// Top is Space-Saving (Metwally, Agrawal and El Abbadi, 2005) with a filter before it (Homem and
// Carvalho, 2010): keys share cells of counts by their hash, and only keys that could be frequent
// are counted by themselves. Counters are dropped many at a time, as in Anderson et al. (2017), so
// that a key costs a few nanoseconds.
//
// Sample keeps the keys whose hash is below a threshold, and lowers the threshold by an eighth when
// they become too many. A key that is above the threshold once is above it for ever. So a kept key was kept
// from its first row on, and its count is exact, whatever its frequency. A sample gives the number
// of keys, percentiles of their counts, and sums over keys, with intervals.
//
// It promises:
//
//  1. A key's count in Top is certainly between Low and High, and no other key has more than
//     Absent. With no more keys than its capacity, everything is exact.
//  2. A Sample's counts are exact, and its keys are a random choice if the hashes are random: an
//     interval contains the truth with its stated confidence.
//  3. Both merge: merged parts of a stream give the same promises as the whole stream.
//  4. Adding does not allocate, except to grow to the full size.
//
// It is pure and imports nothing of this module.
package sketch
