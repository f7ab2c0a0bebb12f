// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"iter"
	"slices"
)

const (
	// Few is the largest number of buckets that a read may span and still be done without a
	// directory of buckets.
	Few = 4

	// MostPlaces is the largest number of places in a run of several buckets. The first run has
	// one bucket, because that often suffices. Each further run has twice as many buckets as the
	// one before: a partition whose buckets have few rows has many buckets.
	MostPlaces = 32
)

// Directory returns at most limit buckets of a partition, from bucket from up to bucket to, both
// included. It returns the first ones in ascending order, or, if down is set, the last ones in
// descending order. If it returns fewer than limit, there are no more.
type Directory func(from, to int64, down bool, limit int) ([]int64, error)

// Runs yields the buckets of a partition, from first to last, that can have rows, in runs of
// consecutive ones in the order of reading: up, or down. A directory has the buckets of a
// partition. Runs does not ask it about a few buckets.
func (g Grid) Runs(first, last int64, down bool, list Directory) iter.Seq2[[]int64, error] {
	most := max(1, MostPlaces/g.Shards)
	return func(yield func([]int64, error) bool) {
		if first > last {
			return
		}
		all := last-first < Few
		var known []int64
		if all {
			for b := first; b <= last; b++ {
				known = append(known, b)
			}
			if down {
				slices.Reverse(known)
			}
		}
		for n := 1; ; n = min(2*n, most) {
			for !all && len(known) < n {
				// The request also covers the next runs.
				limit := max(8, 4*n)
				more, err := list(first, last, down, limit)
				if err != nil {
					yield(nil, err)
					return
				}
				known = append(known, more...)
				if all = len(more) < limit; all {
					break
				}
				if b := more[len(more)-1]; down {
					last = b - 1
				} else {
					first = b + 1
				}
				all = first > last
			}
			if n = min(n, len(known)); n == 0 {
				return
			}
			if !yield(known[:n:n], nil) {
				return
			}
			known = known[n:]
		}
	}
}

// PlacesOf returns the places of buckets, in order.
func (g Grid) PlacesOf(buckets []int64) []int {
	out := make([]int, 0, len(buckets)*g.Shards)
	for _, b := range slices.Sorted(slices.Values(buckets)) {
		out = g.AppendPlaces(out, b)
	}
	return out
}
