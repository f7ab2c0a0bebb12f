// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPercentileWithinOnePercent counts more keys than a sample of a million keeps. It checks three
// things. The 99th percentile of the keys' rows is right within 1%. Its interval is about that wide,
// or twice that if one key of a hundred has a long tail. The sample stays nearly full, and never grows
// beyond its size.
func TestPercentileWithinOnePercent(t *testing.T) {
	const size = 1 << 20
	rnd := rand.New(rand.NewPCG(99, 1))
	kinds := []struct {
		name   string
		within float64 // half of the interval's width
		draw   func() float64
	}{
		{"lognormal", 0.01, func() float64 { return math.Exp(5 + rnd.NormFloat64()) }},
		{"zipf", 0.02, func() float64 { return min(1e6, 30*math.Pow(rnd.Float64(), -1/1.3)) }},
		{"constant and a tail", 0.02, func() float64 {
			if rnd.Float64() < 0.03 {
				return 100 * math.Exp(1+0.8*rnd.NormFloat64())
			}
			return 100
		}},
	}
	for round, keys := range []int{2_000_000, 5_000_000, 20_000_000} {
		kind := kinds[round]
		byRows := make([]int, 1<<20)
		s := NewSample[int64](size)
		for i := range keys {
			rows := min(int(math.Ceil(kind.draw())), len(byRows)-1)
			byRows[rows]++
			if n := s.Add(mix(uint64(i))); n != nil {
				*n += int64(rows)
			}
		}
		want, below := 0.0, 0
		for rows, n := range byRows {
			if below += n; below*100 >= keys*99 {
				want = float64(rows)
				break
			}
		}
		got := s.Quantiles(func(n *int64) float64 { return float64(*n) }, 0.99)[0]
		most := kind.within * want
		if got.Low > want || got.High < want || got.High-got.Value > most || got.Value-got.Low > most || math.Abs(got.Value-want) > 0.01*want {
			t.Errorf("%d keys, %s: p99 %v, within %v; it is %v", keys, kind.name, got, most, want)
		}
		if len(s.keys) < size*17/20 || cap(s.keys) > size {
			t.Errorf("%d keys: %d are kept, in memory for %d", keys, len(s.keys), cap(s.keys))
		}
	}
}
