// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"
)

// SpreadWithin estimates the chance that the fullest of k partitions has at most bound rows more
// than the emptiest, if each of n rows is put into a partition with equal probability. That is what
// a key does that is unique to each row. The estimate counts draws from the seed, so its own error
// is about 1/sqrt(draws).
//
// If a partition has fewer than 50 rows on average, each row is placed by itself. Above that, sizes
// are drawn from the normal distribution to which theirs is close: independent ones about n/k, less
// their common part, so that they add up to n.
func SpreadWithin(n int64, k int, bound int64, draws int, seed uint64) float64 {
	if k < 2 || n == 0 {
		return 1
	}
	rnd := rand.New(rand.NewPCG(seed, uint64(k)))
	mean := float64(n) / float64(k)
	within := 0
	sizes := make([]int64, k)
	for range draws {
		if mean < 50 {
			clear(sizes)
			for range n {
				sizes[rnd.IntN(k)]++
			}
			least, most := sizes[0], sizes[0]
			for _, s := range sizes[1:] {
				least, most = min(least, s), max(most, s)
			}
			if most-least <= bound {
				within++
			}
			continue
		}
		// The common part and the mean cancel in a difference.
		least, most := math.Inf(1), math.Inf(-1)
		for range k {
			z := rnd.NormFloat64()
			least, most = min(least, z), max(most, z)
		}
		if math.Round((most-least)*math.Sqrt(mean)) <= float64(bound) {
			within++
		}
	}
	return float64(within) / float64(draws)
}
