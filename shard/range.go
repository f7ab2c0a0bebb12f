// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Range is a run of places: the shards Base+1 to Base+N.
//
// A key never uses a place twice: a row moves only to a shard that never held a copy of a row of
// its key. So growing takes new numbers. Shrinking, another hash, and every new attempt take a
// new Base.
type Range struct {
	N    int // at least 1
	Base int
}

// Last returns the highest place.
func (r Range) Last() int { return r.Base + r.N }

// Contains says whether a shard is one of the places.
func (r Range) Contains(shard int) bool { return shard > r.Base && shard <= r.Base+r.N }

func (r Range) String() string {
	if r.Base == 0 {
		return strconv.Itoa(r.N)
	}
	return strconv.Itoa(r.N) + "@" + strconv.Itoa(r.Base)
}

// MaxBase is the highest base. It keeps the numbers of shards far below the limit of an int.
const MaxBase = 1 << 30

// Lot is the number of places that a layout of strategy Time takes, half of them below its Base: those of
// all buckets of a Grid, which have 32 bits.
const Lot = 1 << 32

// LotAfter returns the Base of buckets of time whose places are all above a place. No place is used twice,
// and buckets begin where time does, so buckets of another width need other places.
func LotAfter(place int) int {
	if place < 0 {
		place = 0
	}
	return (place + Lot/2 + Lot - 1) / Lot * Lot
}

// parseRange parses the output of String.
func parseRange(s string) (r Range, err error) {
	n, base, given := strings.Cut(s, "@")
	if r.N, err = strconv.Atoi(n); err != nil || r.N < 1 || r.N > MaxShards {
		return r, fmt.Errorf("%q is not a number of shards; it must be a whole number from 1 to %d", n, MaxShards)
	}
	if !given {
		return r, nil
	}
	if r.Base, err = strconv.Atoi(base); err != nil || r.Base < 0 || r.Base > MaxBase {
		return r, fmt.Errorf("%q is not a base; it must be a whole number from 0 to %d", base, MaxBase)
	}
	return r, nil
}

// AppendPlaces appends the shards of ranges, each once, in order.
func AppendPlaces(dst []int, ranges ...Range) []int {
	if len(ranges) == 1 {
		dst = slices.Grow(dst, ranges[0].N)
		for i := range ranges[0].N {
			dst = append(dst, ranges[0].Base+i+1)
		}
		return dst
	}
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return a.Base - b.Base })
	last := math.MinInt // the place of a plain table is 0
	for _, r := range sorted {
		for n := max(last, r.Base) + 1; n <= r.Last(); n++ {
			dst = append(dst, n)
		}
		last = max(last, r.Last())
	}
	return dst
}
