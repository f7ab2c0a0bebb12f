// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"math"
	"slices"
)

// z is the two-sided normal deviate for 99%.
const z = 2.5758293035489004

// Interval is an estimate with its 99% confidence interval.
type Interval struct{ Value, Low, High float64 }

// exactly returns the interval of a number that is known.
func exactly(v float64) Interval { return Interval{v, v, v} }

// Distinct estimates the number of keys.
func (s *Sample[T]) Distinct() Interval {
	n, p := float64(len(s.keys)), s.Share()
	if p == 1 {
		return exactly(n)
	}
	// n is binomial in the keys: this is Wilson's interval, solved for their number.
	q := 1 - p
	middle := n + z*z*q/2
	wide := z * math.Sqrt(n*q+z*z*q*q/4)
	return Interval{n / p, max(n, (middle-wide)/p), (middle + wide) / p}
}

// Sum estimates the sum of a number over all keys.
func (s *Sample[T]) Sum(of func(*T) float64) Interval {
	p := s.Share()
	sum, squares, some, most := 0.0, 0.0, 0, 0.0
	for i := range s.keys {
		v := of(&s.keys[i].of)
		sum += v
		squares += v * v
		if v > 0 {
			some++
			most = max(most, v)
		}
	}
	if p == 1 {
		return exactly(sum)
	}
	wide := z * math.Sqrt((1-p)*squares) / p
	// Few or no keys say little about the keys that were not chosen. Assume as many missed keys as
	// a Poisson count of that mean may miss, each with the mean of the seen ones.
	mean := 1.0
	if some > 0 {
		mean = sum / float64(some)
	}
	few := poissonHigh(some) * mean / p
	high := max((sum/p)+wide, few)
	if some == 0 {
		return Interval{0, 0, few}
	}
	return Interval{sum / p, max(sum, sum/p-wide), high}
}

// poissonHigh returns the mean at which a Poisson count is n or less in only 0.5% of cases (Wilson
// and Hilferty).
func poissonHigh(n int) float64 {
	k := float64(n + 1)
	c := 1 - 1/(9*k) + z/(3*math.Sqrt(k))
	return k * c * c * c
}

// Quantiles estimates the q-quantiles of a number over the keys, each with an interval: the least
// value that at least that share of the keys does not exceed.
func (s *Sample[T]) Quantiles(of func(*T) float64, qs ...float64) []Interval {
	values := make([]float64, len(s.keys))
	for i := range s.keys {
		values[i] = of(&s.keys[i].of)
	}
	slices.Sort(values)
	out := make([]Interval, len(qs))
	n := float64(len(values))
	if n == 0 {
		return out
	}
	at := func(rank float64) float64 { return values[int(min(max(rank, 0), n-1))] }
	for i, q := range qs {
		rank := math.Ceil(q*n) - 1
		out[i] = exactly(at(rank))
		if !s.Exact() {
			// About q·n of n keys are below. The count is hypergeometric, because each key was drawn
			// at most once. Add one because the quantile itself lies between two keys.
			wide := z*math.Sqrt(n*q*(1-q)*(1-s.Share())) + 1
			out[i].Low, out[i].High = at(math.Floor(rank-wide)), at(math.Ceil(rank+wide))
			if rank+wide > n-1 {
				out[i].High = math.Inf(1) // the caller may know a bound
			}
		}
	}
	return out
}
