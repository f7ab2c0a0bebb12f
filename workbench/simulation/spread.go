// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/stats"
)

// Spread says how uneven some sizes are.
type Spread struct {
	Min         int64   `json:"min"`
	Max         int64   `json:"max"`
	Mean        float64 `json:"mean"`
	MaxOverMean float64 `json:"max_over_mean"`
	CV          float64 `json:"cv"`         // coefficient of variation: standard deviation over mean
	ChiSquare   float64 `json:"chi_square"` // against an even spread
	Freedom     int     `json:"df"`
	PValue      float64 `json:"p_value"` // chance of that chi-square or more if each row were placed independently and evenly
}

// spreadOf computes the spread of sizes. All are expected to be equal or, with shares, in
// proportion to their share. The shares may add up to any number.
func spreadOf(sizes []int64, shares []float64) Spread {
	s := Spread{Min: slices.Min(sizes), Max: slices.Max(sizes), Freedom: len(sizes) - 1, PValue: 1}
	total, whole := 0.0, 0.0
	for i, n := range sizes {
		total += float64(n)
		if shares != nil {
			whole += shares[i]
		}
	}
	s.Mean = total / float64(len(sizes))
	if total == 0 {
		return s
	}
	variance := 0.0
	for i, n := range sizes {
		d := float64(n) - s.Mean
		variance += d * d
		expected := s.Mean
		if shares != nil {
			expected = total * shares[i] / whole
		}
		if e := float64(n) - expected; expected > 0 {
			s.ChiSquare += e * e / expected
		}
	}
	s.MaxOverMean = float64(s.Max) / s.Mean
	s.CV = math.Sqrt(variance/float64(len(sizes))) / s.Mean
	s.PValue = stats.ChiSquareAbove(s.ChiSquare, s.Freedom)
	return s
}
