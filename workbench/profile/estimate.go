// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// exactly returns an estimate for a number that was counted.
func exactly(v float64) Estimate { return Estimate{v, v, v, true} }

// between returns an estimate with certain bounds.
func between(low, high int64) Estimate {
	return Estimate{sketch.Likely(low, high), float64(low), float64(high), low == high}
}

func estimate(i sketch.Interval) Estimate {
	return Estimate{i.Value, i.Low, i.High, i.Low == i.High}
}

// capped returns the estimate of a number that cannot exceed most.
func (e Estimate) capped(most float64) Estimate {
	if math.IsInf(e.High, 1) || e.High > most {
		e.High = most
	}
	e.Value, e.Low = min(e.Value, most), min(e.Low, most)
	return e
}

// times returns the estimate multiplied by f.
func (e Estimate) times(f float64) Estimate {
	return Estimate{e.Value * f, e.Low * f, e.High * f, e.Exact}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
