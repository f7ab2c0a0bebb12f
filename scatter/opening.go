// SPDX-License-Identifier: Apache-2.0

package scatter

import "math"

// An opening is a first round: how many shards to ask, and for how many rows each. A fraction of a
// row means that the Reader asks this fraction of the shards for one more row.
type opening struct {
	shards int
	rows   float64
}

// The cost of an opening is measured in requests for each shard.
const (
	costOfRound = 0.2
	costOfSpare = 0.2 // for all spare rows together
	// costOfSample is for pages that turn out to be short. For these, one round that asks all
	// shards would have been enough.
	costOfSample = 0.1

	// goal is how many requests a page should take besides one for each shard. Requests above it
	// cost more.
	goal         = 0.3
	costOfExcess = 10

	// margin is how many deviations the expected number of rows stays below the spare ones, so
	// that at least every other page stays below.
	margin = 0.3

	// leastSampled is the smallest sample, in shards, from which the Reader can estimate.
	leastSampled = 8
)

// lead is the part of the spare rows by which the door asks beyond the estimated end of the page.
// If the page ends later still, each shard costs one more request.
const lead = 0.5

// open returns the cheapest opening that stays within the spare rows. It computes the expected
// cost with a binomial share of the page for each shard.
//
// Either the Reader asks all shards at once. It asks a shard again if the shard has more rows of
// the page than the Reader asked for. Surplus rows of other shards are wasted.
//
// Or the Reader asks a sample, a part s of the shards. From the sample it estimates the end of the
// page to within √(P (1-s)/s) rows. It asks the other shards up to a key that is later by a lead.
// If that was too early, it asks all shards once more.
func open(page, n int, atOnce bool) opening {
	var (
		p      = float64(page)
		shards = float64(n)
		most   = spare(page, n)
		best   = opening{shards: n, rows: math.Ceil(p / shards)}
		least  = math.Inf(1)
		s      = newShare(page, n)
	)
	// requests are those beyond one for each shard, divided by the shards. rows are those beyond
	// the page's, in all, and deviation is the deviation of rows.
	weigh := func(o opening, requests, rounds, rows, deviation float64) {
		if rows+margin*deviation > most {
			return
		}
		cost := requests + costOfExcess*max(0, requests-goal) + costOfRound*rounds + costOfSpare*rows/most
		if o.shards < n {
			cost += costOfSample
		}
		if cost < least {
			best, least = o, cost
		}
	}
	for s.next() {
		for f := 0.0; f < 1 && float64(s.rows)-f >= 1; f += s.grain {
			rows := float64(s.rows) - f
			last := s.fewer - s.fewerBefore // probability that a shard has all but the last row
			surplus := shards * (s.surplus - f*(s.surplus-s.surplusBefore))
			lacking := max(0, surplus+p-shards*rows)
			deviation := math.Sqrt(lacking) + 0.2
			again := min(1, 1-s.fewer+last*f)
			ahead := min(lead*max(0, most-surplus)/max(again, 1/shards), 2*deviation)
			again = min(1, again+last*ahead/shards)
			early := math.Erfc(ahead/deviation/math.Sqrt2) / 2
			rounds := 1 + (1-math.Exp(-shards*again))*(1+early)
			// The total lack deviates as much as the total surplus.
			square := s.square - f*(s.square-s.squareBefore)
			variance := s.variance + (s.mean-rows)*(s.mean-rows) - square - lacking*lacking/(shards*shards)
			weigh(opening{shards: n, rows: rows}, again+early*again*again, rounds, surplus+ahead*again, math.Sqrt(shards*max(0, variance)))
		}
		for tenths, before := 2, 0; tenths < 9 && !atOnce && n >= leastSampled; tenths++ {
			m := n * tenths / 10
			if m == before {
				continue
			}
			before = m
			part := float64(m) / shards
			rest := 1 - part
			known := part * s.fewer // known part of the rows up to the page's end
			// The end is known only to within the rows that one known row near it stands for.
			grain := 1 / known
			surplus := float64(m)*s.surplus + rest*grain/2
			deviation := math.Sqrt(p*(1-known)/known + grain*grain/4)
			ahead := min(lead*max(0, most-surplus)/rest, 2*deviation)
			// Or no shard of the sample is known up to the end.
			early := math.Erfc((ahead+grain/2)/deviation/math.Sqrt2)/2 + math.Pow(1-s.fewer, float64(m))
			again := part - known
			weigh(opening{shards: m, rows: float64(s.rows)}, again+early*(rest+again), 2+early, surplus+ahead*rest, deviation)
		}
	}
	return best
}

// share is the distribution of a shard's rows of a page, as a function of the number of rows
// asked for.
type share struct {
	mean, variance float64

	rows    int     // asked for
	fewer   float64 // probability that the shard has fewer rows
	surplus float64 // expected number of surplus rows
	square  float64 // expected square of the number of surplus rows

	fewerBefore, surplusBefore, squareBefore float64 // the same when asked for one row less

	grain float64 // fractions of a row in which openings are compared

	page, from, to, step int
	just                 float64 // probability that the shard has exactly so many rows
	odds                 float64
}

func newShare(page, n int) *share {
	p := 1 / float64(n)
	s := &share{mean: float64(page) * p, grain: 1, page: page, odds: p / (1 - p)}
	deviation := math.Sqrt(s.mean * (1 - p))
	s.variance = deviation * deviation
	s.from = max(1, int(s.mean-deviation))
	s.to = min(page, int(s.mean+2*deviation)+3)
	s.step = max(1, int(deviation/4))
	if s.step == 1 {
		s.grain = 0.25
	}
	// The probability below this number of rows is negligible.
	s.rows = int(max(0, s.mean-4*deviation))
	s.just = math.Exp(logFactorial(page) - logFactorial(s.rows) - logFactorial(page-s.rows) +
		float64(s.rows)*math.Log(p) + float64(page-s.rows)*math.Log1p(-p))
	return s
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// next goes to the next number of rows that is worth comparing.
func (s *share) next() bool {
	for {
		s.fewerBefore, s.surplusBefore, s.squareBefore = s.fewer, s.surplus, s.square
		s.fewer += s.just
		s.square += 2*s.surplus + s.fewer
		s.surplus += s.fewer
		s.just *= float64(s.page-s.rows) / float64(s.rows+1) * s.odds
		s.rows++
		if s.rows >= s.from && (s.rows-s.from)%s.step == 0 {
			return s.rows <= s.to
		}
	}
}
