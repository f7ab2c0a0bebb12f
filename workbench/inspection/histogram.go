// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Histogram counts sizes in buckets whose bounds are 1% apart; small numbers have
// buckets of their own. The zero value is empty.
type Histogram struct {
	buckets map[int]int64
	n       int64
}

// growth is the ratio of a bucket's bounds.
const growth = 1.01

// single is the greatest number with a bucket of its own: above it buckets of 1%
// hold more than one.
const single = 100

func bucketOf(v int64) int {
	if v <= single {
		return int(max(v, 0))
	}
	return single + 1 + int(math.Log(float64(v)/single)/math.Log(growth))
}

// middle is what stands for a bucket's sizes.
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

// Merge adds another's counts.
func (h *Histogram) Merge(o *Histogram) {
	if h.buckets == nil {
		h.buckets = make(map[int]int64)
	}
	for b, n := range o.buckets {
		h.buckets[b] += n
	}
	h.n += o.n
}

// N is how many sizes were counted.
func (h *Histogram) N() int64 { return h.n }

// Interval is an estimate, and where the truth is with 99% confidence: at one point
// where it was counted, up to +Inf where nothing is known above.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// MarshalJSON writes a bound that is not known as null.
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

// UnmarshalJSON reads it back.
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

// z99 is the normal deviate that 99% stay within, on both sides together.
const z99 = 2.5758293035489004

// Quantile is the q-quantile of the sizes that these are share of, chosen by chance;
// max is the greatest that was counted.
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
			return float64(max) // which is known, not its bucket alone
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
		iv.High = math.Inf(1) // none seen is so large for certain
	} else {
		iv.High = at(high)
	}
	return iv
}

// fewSizes is how many make a binomial distribution a normal one.
const fewSizes = 2000

// ranks are those of the sizes between which the q-quantile of all is with 99%
// confidence, whatever the sizes are: how many of n that were chosen by chance are
// below it is binomial. A rank below 1, or above n, bounds nothing.
func ranks(n int64, q, share float64) (low, high float64) {
	if n > fewSizes {
		// Of a finite number of partitions it is less uncertain by what was seen.
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

// UnmarshalJSON reads them back.
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
