// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"iter"
	"slices"
)

// MostPlaces is the largest number of places in a run of several buckets. The first run has one bucket, if the reader does
// not ask for more. One bucket often suffices. Each further run has at least twice as many buckets as the previous one,
// because a partition can have many buckets with few rows each.
const MostPlaces = 32

// Run is a run of consecutive buckets of a partition, in the order of reading.
type Run struct {
	Buckets []int64
	Last    bool // there are no more
}

// Runs yields the buckets of a partition, from first to last, that can have rows, in runs of
// consecutive ones in the order of reading: up, or down. A directory has the buckets of a
// partition. Runs does not ask it about a few buckets.
//
// After a number of buckets has been read, least returns how many buckets the next run should have at
// least. That is how many the reader expects to need. If least is nil, the reader expects nothing.
func (g Grid) Runs(first, last int64, down bool, list Directory, least func(read int) int) iter.Seq2[Run, error] {
	most := max(1, MostPlaces/g.Shards)
	return func(yield func(Run, error) bool) {
		if first > last {
			return
		}
		all := Few(first, last)
		var known []int64
		if all {
			for b := first; b <= last; b++ {
				known = append(known, b)
			}
			if down {
				slices.Reverse(known)
			}
		}
		n, read := 1, 0
		if least != nil {
			n = min(max(1, least(0)), most)
		}
		for {
			for !all && len(known) <= n { // a run says whether there are more
				// The request also covers the next runs.
				limit := max(12, 4*n)
				more, err := list(first, last, down, limit)
				if err != nil {
					yield(Run{}, err)
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
			if !yield(Run{known[:n:n], all && n == len(known)}, nil) {
				return
			}
			known, read = known[n:], read+n
			next := 2 * n
			if least != nil {
				next = max(next, least(read))
			}
			n = min(next, most)
		}
	}
}

// Expected returns how many further buckets a reader needs for the wanted number of rows, if a bucket has
// as many rows as each of those that were read. It returns 0 if these had none.
func Expected(wanted, rows, read int) int {
	if rows <= 0 {
		return 0
	}
	return (wanted*read + rows - 1) / rows
}

// PlacesOf returns the places of buckets, in order.
func (g Grid) PlacesOf(buckets []int64) []int {
	out := make([]int, 0, len(buckets)*g.Shards)
	for _, b := range buckets {
		out = g.AppendPlaces(out, b)
	}
	slices.Sort(out)
	return out
}
