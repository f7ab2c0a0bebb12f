// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestItemSizes compares the units of a histogram with those of its items, computed one by one.
func TestItemSizes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1024))
	for round, size := range []func() int{
		func() int { return 1000 },
		func() int { return 500 + 1000*rnd.IntN(2) },
		func() int { return 1 + rnd.IntN(400<<10) },
		func() int { return 1 + int(300*rnd.ExpFloat64()) },
		func() int { return 1010 + rnd.IntN(30) },
	} {
		all, part, other := newItemSizes(allPeriod, allWidth), newItemSizes(partitionPeriod, partitionWidth), newItemSizes(partitionPeriod, partitionWidth)
		var sizes []int
		for range 20_000 {
			n := size()
			sizes = append(sizes, n)
			all.add(n)
			if rnd.IntN(2) == 0 {
				part.add(n)
			} else {
				other.add(n)
			}
		}
		part.merge(other)
		for _, unit := range []int{1024, 4096} {
			for _, more := range []float64{0, 24, 25, 523, 524, 2000} {
				mean, square := 0.0, 0.0
				for _, n := range sizes {
					u := math.Ceil((float64(n) + more) / float64(unit))
					mean += u / float64(len(sizes))
					square += u * u / float64(len(sizes))
				}
				if u := all.Units(unit, more); math.Abs(u.Mean-mean) > 1e-6 || u.Low != u.High || math.Abs(u.Square-square) > 1e-6*square {
					t.Errorf("%d, unit %d, %v bytes more: %+v, %v and %v are right", round, unit, more, u, mean, square)
				}
				if u := part.Units(unit, more); unit == partitionPeriod && (math.Abs(u.Mean-mean) > 0.03*mean || u.Low > mean+1e-9 || u.High < mean-1e-9 || math.Abs(u.Square-square) > 0.06*square) {
					t.Errorf("%d, in ranges, %v bytes more: %+v, %v and %v are right", round, more, u, mean, square)
				}
			}
		}
	}
}
