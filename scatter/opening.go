// SPDX-License-Identifier: Apache-2.0

package scatter

import "math"

// An opening is a first round: how many shards to ask, and how many rows of each; a
// part of a row is one more row of that part of the shards.
type opening struct {
	shards int
	rows   float64
}

// spare is how many rows more than a page may be fetched: two of each shard, or as many
// as its share of the page deviates by.
func spare(page, n int) float64 {
	return max(2*float64(n), math.Sqrt(float64(page)*float64(n)))
}

// What an opening costs is counted in requests for each shard.
const (
	costOfRound = 0.2
	costOfSpare = 0.2 // of all spare rows
	// costOfSample is for pages that turn out to be short: had all shards been asked
	// at once, that would have been all.
	costOfSample = 0.1

	// goal is how many requests a page should take beside one of each shard; what
	// exceeds it costs more.
	goal         = 0.3
	costOfExcess = 10

	// margin is how many deviations the expected rows stay below the spare ones, so that
	// at least every other page does.
	margin = 0.3

	// leastSampled is the number of shards from which on a sample of them tells enough.
	leastSampled = 8
)

// lead is the part of the spare rows by which an estimate of the page's end is exceeded:
// where the end is beyond that, a request is lost for each shard.
const lead = 0.5

// open weighs openings by what is to be expected when each shard has a binomial share
// of the page, and says which is the cheapest that stays within the spare rows.
//
// All shards at once: those that turn out to have more of the page than they were
// asked for are asked again, and what others brought too much is not got back.
//
// A sample, a part s of the shards: the page's end is estimated from it, to within
// √(P (1-s)/s) rows, and the others are asked up to a key that is later by a lead;
// where that was too early, all are asked once more.
func open(page, n int, atOnce bool) opening {
	var (
		p      = float64(page)
		shards = float64(n)
		most   = spare(page, n)
		best   = opening{shards: n, rows: math.Ceil(p / shards)}
		least  = math.Inf(1)
		s      = newShare(page, n)
	)
	// requests are those beside one of each shard, for each; rows those beside the page's,
	// in all, and deviation is theirs.
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
			last := s.fewer - s.fewerBefore // the probability that a shard has all but the last row
			surplus := shards * (s.surplus - f*(s.surplus-s.surplusBefore))
			lacking := max(0, surplus+p-shards*rows)
			deviation := math.Sqrt(lacking) + 0.2
			again := min(1, 1-s.fewer+last*f)
			ahead := min(lead*max(0, most-surplus)/max(again, 1/shards), 2*deviation)
			again = min(1, again+last*ahead/shards)
			early := math.Erfc(ahead/deviation/math.Sqrt2) / 2
			rounds := 1 + (1-math.Exp(-shards*again))*(1+early)
			// What all lack deviates as what they have too much.
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
			known := part * s.fewer // up to the page's end
			// The end is known to within what a row stands for that is known near it.
			grain := 1 / known
			surplus := float64(m)*s.surplus + rest*grain/2
			deviation := math.Sqrt(p*(1-known)/known + grain*grain/4)
			ahead := min(lead*max(0, most-surplus)/rest, 2*deviation)
			// Or none of the sample is known up to the end.
			early := math.Erfc((ahead+grain/2)/deviation/math.Sqrt2)/2 + math.Pow(1-s.fewer, float64(m))
			again := part - known
			weigh(opening{shards: m, rows: float64(s.rows)}, again+early*(rest+again), 2+early, surplus+ahead*rest, deviation)
		}
	}
	return best
}

// share is how many rows of a page a shard has, seen from how many it is asked for.
type share struct {
	mean, variance float64

	rows    int     // that are asked for
	fewer   float64 // the probability that it has fewer
	surplus float64 // rows expected to be too many
	square  float64 // the expected square of the rows that are too many

	fewerBefore, surplusBefore, squareBefore float64 // when asked for one less

	grain float64 // the part of a row to weigh openings by

	page, from, to, step int
	just                 float64 // the probability that it has just so many rows
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
	// What is left out below this is next to nothing.
	s.rows = int(max(0, s.mean-4*deviation))
	s.just = math.Exp(logFactorial(page) - logFactorial(s.rows) - logFactorial(page-s.rows) +
		float64(s.rows)*math.Log(p) + float64(page-s.rows)*math.Log1p(-p))
	return s
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// next goes on to the next number of rows that is worth to be weighed.
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
