// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Histogram counts sizes in buckets whose bounds are 1% apart. Each small number has its own
// bucket. The zero value is empty.
type Histogram struct {
	buckets map[int]int64
	n       int64
}

// growth is the ratio of a bucket's bounds.
const growth = 1.01

// single is the greatest number with its own bucket. Above it, a bucket of 1% holds several
// numbers.
const single = 100

func bucketOf(v int64) int {
	if v <= single {
		return int(max(v, 0))
	}
	return single + 1 + int(math.Log(float64(v)/single)/math.Log(growth))
}

// middle returns the size that stands for a bucket's sizes.
func middle(b int) float64 {
	if b <= single {
		return float64(b)
	}
	return single * math.Pow(growth, float64(b-single-1)+0.5)
}

// Add counts a size.
func (h *Histogram) Add(v int64) {
	if h.buckets == nil {
		h.buckets = make(map[int]int64)
	}
	h.buckets[bucketOf(v)]++
	h.n++
}

// Merge adds another histogram's counts.
func (h *Histogram) Merge(o *Histogram) {
	if h.buckets == nil {
		h.buckets = make(map[int]int64)
	}
	for b, n := range o.buckets {
		h.buckets[b] += n
	}
	h.n += o.n
}

// N returns the number of sizes that were counted.
func (h *Histogram) N() int64 { return h.n }

// Interval is an estimate with its 99% confidence interval. If the number was counted, all three
// are equal. High is +Inf if no upper bound is known.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// MarshalJSON writes an unknown bound as null.
func (i Interval) MarshalJSON() ([]byte, error) {
	var high *float64
	if !math.IsInf(i.High, 1) {
		high = &i.High
	}
	return json.Marshal(struct {
		Value float64  `json:"value"`
		Low   float64  `json:"low"`
		High  *float64 `json:"high"`
	}{i.Value, i.Low, high})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *Interval) UnmarshalJSON(text []byte) error {
	var j struct {
		Value, Low float64
		High       *float64
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*i = Interval{j.Value, j.Low, math.Inf(1)}
	if j.High != nil {
		i.High = *j.High
	}
	return nil
}

func exactly(v float64) Interval { return Interval{v, v, v} }

// z99 is the two-sided normal deviate for 99%.
const z99 = 2.5758293035489004

// Quantile estimates the q-quantile of all sizes. The counted ones were chosen by chance, and are
// that share of all. max is the greatest counted size.
func (h *Histogram) Quantile(q, share float64, max int64) Interval {
	if h.n == 0 {
		return Interval{}
	}
	order := make([]int, 0, len(h.buckets))
	for b := range h.buckets {
		order = append(order, b)
	}
	slices.Sort(order)
	at := func(rank float64) float64 {
		if rank >= float64(h.n) {
			return float64(max) // the exact maximum is known, not only its bucket
		}
		below := int64(0)
		for _, b := range order {
			if below += h.buckets[b]; float64(below) >= rank {
				return math.Min(middle(b), float64(max))
			}
		}
		return float64(max)
	}
	n := float64(h.n)
	rank := math.Max(1, math.Ceil(q*n))
	iv := exactly(at(rank))
	if share >= 1 {
		return iv
	}
	low, high := ranks(h.n, q, share)
	if iv.Low = 0; low >= 1 {
		iv.Low = at(low)
	}
	if high > n {
		iv.High = math.Inf(1) // no size that was seen is certainly so large
	} else {
		iv.High = at(high)
	}
	return iv
}

// fewSizes is the number of sizes up to which ranks computes the binomial distribution. For more
// sizes, it uses the normal one.
const fewSizes = 2000

// ranks returns the ranks between which the q-quantile of all sizes is with 99% confidence, for any
// sizes: among n randomly chosen sizes, the number below the quantile is binomial. A rank below 1,
// or above n, is no bound.
func ranks(n int64, q, share float64) (low, high float64) {
	if n > fewSizes {
		// The number of partitions is finite, so what was seen reduces the uncertainty.
		rank := math.Ceil(q * float64(n))
		wide := z99*math.Sqrt(float64(n)*q*(1-q)*(1-share)) + 1
		return math.Floor(rank - wide), math.Ceil(rank + wide)
	}
	const tail = 0.005
	lg, _ := math.Lgamma(float64(n) + 1)
	below := 0.0 // the chance that k or fewer are below
	high = float64(n) + 1
	for k := range n + 1 {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		below += math.Exp(lg - a - b + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
		if below <= tail {
			low = float64(k) + 1
		}
		if below >= 1-tail {
			return low, float64(k) + 1
		}
	}
	return low, high
}

// MarshalJSON writes the buckets as pairs of bucket and count.
func (h Histogram) MarshalJSON() ([]byte, error) {
	pairs := make([][2]int64, 0, len(h.buckets))
	for b, n := range h.buckets {
		pairs = append(pairs, [2]int64{int64(b), n})
	}
	slices.SortFunc(pairs, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	return json.Marshal(pairs)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var pairs [][2]int64
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	*h = Histogram{buckets: make(map[int]int64)}
	for _, p := range pairs {
		if p[0] < 0 || p[0] > 1<<16 || p[1] < 0 {
			return fmt.Errorf("bucket %d with %d is none", p[0], p[1])
		}
		h.buckets[int(p[0])] += p[1]
		h.n += p[1]
	}
	return nil
}
