// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"fmt"
	"math"
)

// Grid holds the buckets of a width, each with a number of shards.
type Grid struct {
	Width  Width
	Shards int // at least 1
}

// covered is the instant up to which a grid must have buckets, in milliseconds since 1970: the
// year 2200.
const covered = 7_258_118_400_000

// Check says whether the grid has all buckets from 1970 to 2200.
func (g Grid) Check() error {
	if g.last() >= covered/int64(g.Width) {
		return nil
	}
	for i := len(units) - 1; i >= 0; i-- {
		u := units[i].width
		n := (covered/(math.MaxInt32/int64(g.Shards)-2) + int64(u)) / int64(u)
		if n < 100 || i == 0 {
			return fmt.Errorf("buckets of %s with %d shards each are too many until the year 2200 to have numbers of 32 bits; take buckets of %s or longer", g.Width, g.Shards, Width(n)*u)
		}
	}
	return nil
}

// last returns the last bucket. The first bucket is its negative.
func (g Grid) last() int64 { return math.MaxInt32/int64(g.Shards) - 1 }

// First returns the first bucket of the grid.
func (g Grid) First() int64 { return -g.last() }

// Last returns the last bucket of the grid.
func (g Grid) Last() int64 { return g.last() }

// Of returns the bucket of an instant in milliseconds since 1970.
func (g Grid) Of(ms int64) int64 {
	b := ms / int64(g.Width)
	if ms%int64(g.Width) < 0 {
		b--
	}
	return min(max(b, g.First()), g.Last())
}

// Start returns the instant at which a bucket begins, in milliseconds since 1970. If int64 has no such
// number, Start returns the instant of the nearest bucket that it has.
func (g Grid) Start(bucket int64) int64 {
	most := math.MaxInt64 / int64(g.Width)
	return min(max(bucket, -most), most) * int64(g.Width)
}

// Place returns the place of a bucket's shard. The first shard of a bucket is 0.
func (g Grid) Place(bucket int64, shard int) int {
	return int(bucket)*g.Shards + 1 + shard
}

// AppendPlaces appends the places of a bucket, in order.
func (g Grid) AppendPlaces(dst []int, bucket int64) []int {
	for i := range g.Shards {
		dst = append(dst, g.Place(bucket, i))
	}
	return dst
}

// Bucket returns the bucket of a place.
func (g Grid) Bucket(place int) int64 {
	n := place - 1
	b := n / g.Shards
	if n%g.Shards < 0 {
		b--
	}
	return int64(b)
}
