// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/workbench/stats"
)

// outsideByChance is the chance that a comparison with the interval of fullest fails although the
// prediction is right.
const outsideByChance = 1e-4

// fullest returns the interval of the writes that the fullest shard of a key gets in some time. The
// prediction is the mean of the key's shards, and may be wrong by the tolerance. Chance makes one
// shard fuller than the others: a shard gets a Poisson number of writes. Other keys may be as hot,
// so that any of the partitions could be the fullest.
func fullest(mean float64, shards, partitions int) (low, high float64) {
	n := int(mean * (1 - tolerance))
	for n > 0 && math.Pow(1-stats.PoissonAbove(mean*(1-tolerance), n-1), float64(shards)) > outsideByChance {
		n--
	}
	m := int(mean)
	for float64(max(shards, partitions))*stats.PoissonAbove(mean*(1+tolerance), m) > outsideByChance {
		m++
	}
	return float64(n), float64(m)
}

// compareFullest compares the predicted units of the hottest partition with the measured ones, and
// formats both. writes is how many writes the prediction says that a shard of the hottest key gets
// in the time measured.
func compareFullest(t *testing.T, s *drawn.Set, predicted, measured, writes float64, shards, partitions int) string {
	t.Helper()
	low, high := fullest(writes, shards, partitions)
	low, high = low*predicted/writes, high*predicted/writes
	if !(low <= measured && measured <= high) {
		t.Errorf("%d: units of the hottest partition: %.6g predicted, from %.6g to %.6g with chance, %.6g measured: %s", s.Seed, predicted, low, high, measured, s.What)
	}
	return fmt.Sprintf("%.4g (%.4g to %.4g): %.4g", predicted, low, high, measured)
}

// TestFullest checks that the fullest shard is in the interval of a right prediction, and outside
// the interval of a wrong one.
func TestFullest(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	most := func(mean float64, shards int) float64 {
		rows := make([]float64, shards)
		for at := draw.ExpFloat64(); at < mean*float64(shards); at += draw.ExpFloat64() {
			rows[draw.IntN(shards)]++
		}
		full := 0.0
		for _, n := range rows {
			full = max(full, n)
		}
		return full
	}
	for _, c := range []struct {
		mean   float64
		shards int
		wrong  float64 // a prediction wrong by that factor is found out each time
	}{{60, 16, 2.5}, {400, 5, 1.5}, {4000, 16, 1.25}, {4000, 2, 1.25}} {
		low, high := fullest(c.mean, c.shards, c.shards)
		for range 300 {
			if n := most(c.mean, c.shards); n < low || n > high {
				t.Errorf("%v in %d shards: the fullest has %v, outside %v to %v", c.mean, c.shards, n, low, high)
			}
			if n := most(c.mean*c.wrong, c.shards); n <= high {
				t.Errorf("%v in %d shards: %v writes a shard pass, %v to %v", c.mean, c.shards, c.mean*c.wrong, low, high)
			}
			if n := most(c.mean/c.wrong, c.shards); n >= low {
				t.Errorf("%v in %d shards: %v writes a shard pass, %v to %v", c.mean, c.shards, c.mean/c.wrong, low, high)
			}
		}
	}
}
