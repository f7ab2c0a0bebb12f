// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s = %g, want %g", what, got, want)
	}
}

// TestChiSquareAbove compares with values from tables: chi-square's usual critical points.
func TestChiSquareAbove(t *testing.T) {
	for _, c := range []struct {
		x    float64
		df   int
		want float64
	}{
		{3.841459, 1, 0.05}, {7.814728, 3, 0.05}, {11.344867, 3, 0.01}, {16.266236, 3, 0.001},
		{18.307038, 10, 0.05}, {124.342113, 100, 0.05}, {0, 3, 1}, {5, 0, 1},
	} {
		near(t, "ChiSquareAbove", ChiSquareAbove(c.x, c.df), c.want, 1e-5)
	}
	// With two degrees of freedom the tail is exp(-x/2), for any x.
	near(t, "far tail", ChiSquareAbove(1200, 2), math.Exp(-600), 1e-9)
	if got := ChiSquareAbove(math.Inf(1), 3); got != 0 {
		t.Errorf("at infinity %g", got)
	}
}

func TestPoissonAgainstItsDefinition(t *testing.T) {
	for _, mean := range []float64{0.01, 1, 3.5, 40, 833.3, 1000, 1200} {
		for _, k := range []int{0, 1, 2, 10, 50, 1000} {
			above, excess := 0.0, 0.0
			logp := -mean
			for i := 0; i < 4000; i++ {
				p := math.Exp(logp)
				if i > k {
					above += p
					excess += p * float64(i-k)
				}
				logp += math.Log(mean) - math.Log(float64(i+1))
			}
			if above < 1e-290 {
				continue
			}
			near(t, "PoissonAbove", PoissonAbove(mean, k), above, 1e-8)
			near(t, "PoissonExcess", PoissonExcess(mean, k), excess, 1e-8)
		}
	}
	if PoissonAbove(5, -1) != 1 || PoissonExcess(0, 3) != 0 {
		t.Error("the ends are wrong")
	}
	near(t, "excess far below the mean", PoissonExcess(1e6, 10), 1e6-10, 1e-9)
}

func TestBinomialSumsToOne(t *testing.T) {
	for _, n := range []int{0, 1, 7, 10_000} {
		sum, mean := 0.0, 0.0
		Binomial(n, 0.3, func(k int, p float64) { sum += p; mean += p * float64(k) })
		near(t, "sum", sum, 1, 1e-9)
		near(t, "mean", mean, 0.3*float64(n), 1e-9)
	}
}

// TestSpreadWithin checks that 5,610 rows on four partitions are more than 150 apart in 2.3% of the
// draws. Placing the rows one by one gives the same result.
func TestSpreadWithin(t *testing.T) {
	if got := SpreadWithin(5610, 4, 150, 20_000, 1); got < 0.972 || got > 0.982 {
		t.Errorf("5,610 rows on 4: %g", got)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	const draws = 2000
	within := 0
	for range draws {
		var sizes [8]int
		for range 800 {
			sizes[rnd.IntN(8)]++
		}
		if slices.Max(sizes[:])-slices.Min(sizes[:]) <= 28 {
			within++
		}
	}
	if got, want := SpreadWithin(800, 8, 28, draws, 1), float64(within)/draws; math.Abs(got-want) > 0.06 {
		t.Errorf("800 rows on 8: %g by the normal distribution, %g by throwing", got, want)
	}
	if a, b := SpreadWithin(390, 8, 20, 500, 1), SpreadWithin(410, 8, 20, 500, 1); math.Abs(a-b) > 0.12 {
		t.Errorf("the two ways do not meet: %g, %g", a, b)
	}
	if SpreadWithin(100, 1, 0, 10, 1) != 1 || SpreadWithin(1, 4, 0, 10, 1) != 0 || SpreadWithin(0, 4, 0, 10, 1) != 1 {
		t.Error("the ends are wrong")
	}
}
