// SPDX-License-Identifier: Apache-2.0

package stats

import "math"

// gammaTails returns the regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x),
// for a > 0 and x >= 0. It computes the smaller of the two, so that this one keeps its precision.
//
// The series for x < a+1 and the continued fraction for larger x are the classical ones: Abramowitz
// and Stegun 6.5.29 and 6.5.31, the latter by Lentz's method.
func gammaTails(a, x float64) (p, q float64) {
	switch {
	case x <= 0:
		return 0, 1
	case math.IsInf(x, 1):
		return 1, 0
	}
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1.0; n < 1e6 && term > sum*1e-17; n++ {
			term *= x / (a + n)
			sum += term
		}
		p = min(1, front*sum)
		return p, 1 - p
	}
	const tiny = 1e-300
	b := x + 1 - a
	c := 1 / tiny
	d := 1 / b
	h := d
	for i := 1.0; i < 1e6; i++ {
		an := -i * (i - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = b + an/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		step := d * c
		h *= step
		if math.Abs(step-1) < 1e-15 {
			break
		}
	}
	q = min(1, front*h)
	return 1 - q, q
}

// ChiSquareAbove returns the probability that a chi-square variable of df degrees of freedom is x
// or more: the p-value of a test. Without degrees of freedom it is 1.
func ChiSquareAbove(x float64, df int) float64 {
	if df < 1 {
		return 1
	}
	_, q := gammaTails(float64(df)/2, x/2)
	return q
}
