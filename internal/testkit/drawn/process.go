// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"math"
	"math/rand/v2"
	"slices"
)

// pattern says when rows arrive.
type pattern int

const (
	steady  pattern = iota // a Poisson process
	regular                // each entity at fixed times
	bursts                 // all rows of a minute in one of its seconds
	episode                // for a while, one entity writes far more than otherwise
	faster                 // from some time on, at several times the rate
	patterns
)

func (p pattern) String() string {
	return [...]string{"steady", "regular", "bursts", "an episode", "faster from some day on"}[p]
}

// process says who writes, and when.
type process struct {
	pattern pattern
	span    float64   // seconds that the data cover
	rows    int       // in the data
	weights []float64 // of entities, the heaviest first
	kinds   int       // number of values of the second part; 0: there is none
	pair    float64   // share of all rows that one pair of entity and kind has besides its own; 0: none

	// The fields below describe the episode, or the time of acceleration, as parts of the span.
	from, to float64
	hot      int     // the entity of the episode
	share    float64 // its share during the episode
	times    float64 // the rate relative to the rate before
	second   float64 // bursts: the second of the minute
	period   float64 // regular: seconds between two rows of an entity
}

// arrival is a row: its entity and kind, and its time.
type arrival struct {
	entity, kind int
	at           float64
}

// zipf returns the weights of n entities. The k-th is proportional to 1/k^s.
func zipf(n int, s float64) []float64 {
	out := make([]float64, n)
	sum := 0.0
	for i := range out {
		out[i] = math.Pow(float64(i+1), -s)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// oneHot returns weights with h first and the others equal.
func oneHot(n int, h float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = (1 - h) / float64(n-1)
	}
	out[0] = h
	return out
}

// drawProcess draws a process. Its rows are the sample that a user would have in a file.
func drawProcess(r *rand.Rand) *process {
	p := &process{pattern: pattern(r.IntN(int(patterns))), rows: 6000 + r.IntN(9000)}
	p.span = pick(r, 6*3600.0, 86400, 3*86400, 7*86400, 30*86400, 90*86400, 365*86400)
	n := pick(r, 8, 12, 40, 150, 600, 2500)
	switch r.IntN(4) {
	case 0:
		p.weights = oneHot(n, pick(r, 0.35, 0.5, 0.7))
	case 1:
		p.weights = zipf(n, pick(r, 0.8, 1.0, 1.2, 1.4))
	default:
		p.weights = zipf(n, 0)
	}
	switch p.pattern {
	case regular:
		p.weights = zipf(n, 0)
		ticks := max(3, p.rows/n)
		p.rows = ticks * n
		p.period = pick(r, 10.0, 60, 300, 900)
		p.span = float64(ticks) * p.period
	case bursts:
		p.span, p.second = float64(100+r.IntN(100))*60, float64(7+r.IntN(50))
	case episode:
		p.weights = zipf(max(n, 40), pick(r, 0, 0.8))
		p.from = 0.2 + 0.6*r.Float64()
		p.to = p.from + pick(r, 0.02, 0.04)
		p.hot, p.share, p.times = r.IntN(8), pick(r, 0.6, 0.75, 0.9), pick(r, 2.0, 3, 5)
	case faster:
		p.from, p.to, p.times = 0.5+0.25*r.Float64(), 1, pick(r, 4.0, 6, 8)
		p.span = pick(r, 30*86400.0, 90*86400, 365*86400)
	}
	if chance(r, 25) {
		p.kinds = pick(r, 6, 10, 20)
		if p.pattern != regular && p.pattern != episode && chance(r, 40) {
			p.pair = pick(r, 0.2, 0.3)
		}
	}
	return p
}

// intensity returns the rate at a part of the span, relative to the rate outside the episode, or
// before the acceleration.
func (p *process) intensity(x float64) float64 {
	if p.times > 0 && x >= p.from && x < p.to {
		return p.times
	}
	return 1
}

// mean returns the average intensity.
func (p *process) mean() float64 {
	if p.times == 0 {
		return 1
	}
	return 1 + (p.times-1)*(p.to-p.from)
}

// peakRate returns the rate of an entity, or of its pair with a kind, at its busiest; e = -1: of
// all entities together. The total rate is one a second: the mean of the whole time or, after an
// acceleration, the mean since then.
func (p *process) peakRate(e int, ofPair bool) float64 {
	share := func(base float64) float64 {
		if e < 0 {
			return 1
		}
		w := p.weights[e]
		if ofPair {
			w /= float64(max(1, p.kinds))
		}
		w *= 1 - p.pair
		if e == 0 {
			w += p.pair
		}
		return w * base
	}
	switch p.pattern {
	case bursts:
		return 60 * share(1)
	case episode:
		of := share(1 - p.share)
		if e == p.hot || e < 0 {
			all := p.share
			if ofPair {
				all /= float64(max(1, p.kinds))
			}
			if e < 0 {
				of = 1 - p.share
			}
			of += all
		}
		return math.Max(of*p.times/p.mean(), share(1)/p.mean())
	}
	return share(1)
}

// shareOf returns the share of all rows of an entity, or of its pair with a kind.
func (p *process) shareOf(e int, ofPair bool) float64 {
	w := p.weights[e]
	if ofPair {
		w /= float64(max(1, p.kinds))
	}
	w *= 1 - p.pair
	if e == 0 {
		w += p.pair
	}
	if p.pattern == episode {
		part := p.times * (p.to - p.from) / p.mean() // share of the rows that arrive in the episode
		w *= 1 - part*p.share
		if e == p.hot {
			all := part * p.share
			if ofPair {
				all /= float64(max(1, p.kinds))
			}
			w += all
		}
	}
	return w
}

// hottest returns the entity with the greatest rate at its busiest, and that rate.
func (p *process) hottest(ofPair bool) (e int, rate float64) {
	for i := range p.weights {
		if x := p.peakRate(i, ofPair); x > rate*(1+1e-9) {
			e, rate = i, x
		}
	}
	return e, rate
}

// largest returns the greatest share of all rows.
func (p *process) largest(ofPair bool) (share float64) {
	for i := range p.weights {
		share = math.Max(share, p.shareOf(i, ofPair))
	}
	return share
}

// drawRows draws the rows in the order of time.
func (p *process) drawRows(r *rand.Rand) []arrival {
	cumulative := make([]float64, len(p.weights))
	sum := 0.0
	for i, w := range p.weights {
		sum += w
		cumulative[i] = sum
	}
	who := func() int {
		i, _ := slices.BinarySearch(cumulative, r.Float64()*sum)
		return min(i, len(p.weights)-1)
	}
	var out []arrival
	if p.pattern == regular {
		n := len(p.weights)
		for i := range p.rows {
			e := i % n
			out = append(out, arrival{e, 0, float64(i/n)*p.period + math.Floor(float64(e)*p.period/float64(n))})
		}
	}
	for len(out) < p.rows {
		x := r.Float64()
		if r.Float64()*math.Max(1, p.times) > p.intensity(x) {
			continue
		}
		a := arrival{entity: who(), at: x * p.span}
		switch {
		case p.pattern == episode && x >= p.from && x < p.to && r.Float64() < p.share:
			a.entity = p.hot
		case p.pattern == bursts:
			a.at = math.Floor(a.at/60)*60 + p.second + r.Float64()
		}
		out = append(out, a)
	}
	for i := range out {
		if p.kinds > 0 {
			out[i].kind = r.IntN(p.kinds)
			if p.pattern == regular {
				out[i].kind = int(out[i].at/p.period) % p.kinds
			}
		}
		if p.pair > 0 && r.Float64() < p.pair {
			out[i].entity, out[i].kind = 0, 0
		}
	}
	slices.SortStableFunc(out, func(a, b arrival) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return out
}
