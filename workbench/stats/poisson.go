// SPDX-License-Identifier: Apache-2.0

package stats

import "math"

// PoissonAbove returns the probability that a Poisson variable with that mean is more than k.
func PoissonAbove(mean float64, k int) float64 {
	if k < 0 {
		return 1
	}
	p, _ := gammaTails(float64(k)+1, mean)
	return p
}

// PoissonExcess returns the expectation of max(0, X - k) for a Poisson variable X with that mean:
// the mean excess over a cap of k.
func PoissonExcess(mean float64, k int) float64 {
	if mean <= 0 {
		return 0
	}
	at := float64(k + 1)
	lg, _ := math.Lgamma(at + 1)
	p := math.Exp(at*math.Log(mean) - mean - lg)
	if p == 0 && mean > at { // the sum would begin where all terms are 0
		return mean - float64(k)
	}
	sum := 0.0
	for over := 1.0; ; over++ {
		term := over * p
		sum += term
		if at > mean && term <= sum*1e-16 {
			return sum
		}
		at++
		p *= mean / at
	}
}

// Binomial calls f with each number of successes in n trials of probability p, and the probability
// of that number. 0 < p < 1.
func Binomial(n int, p float64, f func(k int, probability float64)) {
	whole, _ := math.Lgamma(float64(n) + 1)
	for k := range n + 1 {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		f(k, math.Exp(whole-a-b+float64(k)*math.Log(p)+float64(n-k)*math.Log1p(-p)))
	}
}
