// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"cmp"
	"math"
	"slices"
)

// Curve is the distribution of the sizes of the partitions that were read, for a plot.
type Curve struct {
	Sizes  []SizeCount // ascending
	Bounds []SizeBound // ascending; nil: all partitions were counted
}

// SizeCount is a number of partitions of about that many bytes.
type SizeCount struct {
	Bytes float64
	Count float64
}

// SizeBound is the 99% confidence interval of a quantile. High is +Inf if no partition that was
// read is certainly so large.
type SizeBound struct{ Share, Low, High float64 }

// curve makes the curve of sizes. share is the part of all partitions that was read.
func (h *Histogram) curve(share float64, most int64) *Curve {
	if h.n == 0 {
		return nil
	}
	c := new(Curve)
	for b, n := range h.buckets {
		c.Sizes = append(c.Sizes, SizeCount{math.Min(middle(b), float64(most)), float64(n)})
	}
	slices.SortFunc(c.Sizes, func(a, b SizeCount) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if share >= 1 {
		return c
	}
	const steps = 50
	for i := 1; i < steps; i++ {
		q := float64(i) / steps
		v := h.Quantile(q, share, most)
		c.Bounds = append(c.Bounds, SizeBound{q, v.Low, v.High})
	}
	return c
}
