// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// exactly is a number that was counted.
func exactly(v float64) Estimate { return Estimate{v, v, v, true} }

// between is a number of which the bounds are certain.
func between(low, high int64) Estimate {
	return Estimate{sketch.Likely(low, high), float64(low), float64(high), low == high}
}

func estimate(i sketch.Interval) Estimate {
	return Estimate{i.Value, i.Low, i.High, i.Low == i.High}
}

// capped is an estimate of what has no more than most.
func (e Estimate) capped(most float64) Estimate {
	if math.IsInf(e.High, 1) || e.High > most {
		e.High = most
	}
	e.Value, e.Low = min(e.Value, most), min(e.Low, most)
	return e
}

// times is the estimate of so many times that.
func (e Estimate) times(f float64) Estimate {
	return Estimate{e.Value * f, e.Low * f, e.High * f, e.Exact}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
