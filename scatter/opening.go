package scatter

import "math"

// An opening is a first round: how many shards to ask, and how many rows of each; a
// part of a row is one more row of that part of the shards.
type opening struct {
	shards int
	rows   float64
	safe   bool // it hardly ever leads to more rows than the budget
}

// What an opening costs is counted in requests for each shard.
const (
	costOfRound = 0.1
	costOfRow   = 0.02 // of one from each shard
	// costOfSample is for pages that turn out to be short: had all shards been asked
	// at once, that would have been all.
	costOfSample = 0.08

	// goal is how many requests a page should take beside one of each shard.
	goal = 0.3

	// cheap is what an opening may cost that hardly ever fetches more than the budget:
	// about 1.25 requests for each shard, rounds and rows counted in.
	cheap = 0.5
)

// How many deviations the expected rows stay below the budget, or below what one page
// in ten may take.
const (
	hardlyEver = 3.5
	mostly     = 0.33
	nineInTen  = 1.28
)

// lead is the part of what may be fetched too much by which an estimate of the page's
// end is exceeded: where the end is beyond that, a request is lost for each shard.
const lead = 0.4

// open weighs openings by what is to be expected when each shard has a binomial share
// of the page, and says which is the cheapest.
//
// All shards at once: those that turn out to have more of the page than they were
// asked for are asked again, and what others brought too much is not got back.
//
// A sample, a part s of the shards: the page's end is estimated from it, to within
// √(P (1-s)/s) rows, and the others are asked up to a key that is later by a lead;
// where that was too early, all are asked once more.
//
// The opening hardly ever fetches more rows than the budget if there is a cheap one
// that does not. Else it does so less often than not, and one page in ten may take n
// rows or a twelfth of the page more. It is of no shards if no opening does that much.
func open(page, n int, atOnce bool) opening {
	var (
		p          = float64(page)
		shards     = float64(n)
		spare      = 2 * shards
		more       = max(shards, p/12)
		safe, fair opening
		ofSafe     = cheap
		ofFair     = 1.1
		s          = newShare(page, n)
	)
	// may says whether an opening is worth its weighing that costs so much at least:
	// left is what is expected to be left of the spare rows, give or take a deviation.
	may := func(cost, left, deviation float64) bool {
		return left > mostly*deviation && left+more > nineInTen*deviation &&
			(cost < ofFair || cost < ofSafe && left > hardlyEver*deviation)
	}
	weigh := func(o opening, cost, left, deviation float64) {
		if cost < ofSafe && left > hardlyEver*deviation {
			safe, ofSafe = o, cost
			safe.safe = true
		}
		if cost < ofFair {
			fair, ofFair = o, cost
		}
	}
	for s.next() {
		for f := 0.0; f < 1 && float64(s.rows)-f >= 1; f += s.grain {
			rows := float64(s.rows) - f
			last := s.fewer - s.fewerBefore // the probability that a shard has all but the last row
			surplus := s.surplus - f*(s.surplus-s.surplusBefore)
			lacking := shards * max(0, surplus+s.mean-rows)
			deviation := math.Sqrt(lacking) + 0.2
			left := spare - shards*surplus
			ahead := min(lead*left, 2*deviation)
			again := 1 - s.fewer + last*(f+ahead/shards)
			cost := again + costOfRound + costOfRow*surplus
			if again > goal {
				cost += costOfSample // which is the way to the goal then
			}
			if !may(cost, left-ahead, 1.4*deviation) {
				continue
			}
			early := math.Erfc(ahead/deviation/math.Sqrt2) / 2
			cost += costOfRound*(1-math.Exp(-shards*again)) + early*again*(again+costOfRound)
			weigh(opening{shards: n, rows: rows}, cost, left-ahead, 1.4*deviation)
		}
		for tenths, before := 2, 0; tenths < 9 && !atOnce; tenths++ {
			m := n * tenths / 10
			if m == before {
				continue
			}
			before = m
			part := float64(m) / shards
			// The end is known to within what a row stands for that is known near it.
			grain := shards / (float64(m) * s.fewer)
			surplus := float64(m) * s.surplus
			left := spare - surplus - grain/2
			deviation := math.Sqrt(p*(1-part)/part + grain*grain/4)
			ahead := min(lead*left, 2*deviation)
			cost := part*(1-s.fewer) + 2*costOfRound + costOfSample + costOfRow*(surplus+ahead)/shards
			if !may(cost, left-ahead, deviation) {
				continue
			}
			// Or none of the sample is known up to the end.
			early := math.Erfc((ahead+grain/2)/deviation/math.Sqrt2)/2 + math.Pow(1-s.fewer, float64(m))
			cost += early * (1 - part + part*(1-s.fewer) + costOfRound)
			weigh(opening{shards: m, rows: float64(s.rows)}, cost, left-ahead, deviation)
		}
	}
	if ofSafe < cheap {
		return safe
	}
	return fair
}

// share is how many rows of a page a shard has, seen from how many it is asked for.
type share struct {
	mean float64

	rows    int     // that are asked for
	fewer   float64 // the probability that it has fewer
	surplus float64 // rows expected to be too many

	fewerBefore, surplusBefore float64 // when asked for one less

	grain float64 // the part of a row to weigh openings by

	page, from, to, step int
	just                 float64 // the probability that it has just so many rows
	odds                 float64
}

func newShare(page, n int) *share {
	p := 1 / float64(n)
	s := &share{mean: float64(page) * p, grain: 1, page: page, odds: p / (1 - p)}
	deviation := math.Sqrt(s.mean * (1 - p))
	s.from = max(1, int(s.mean-deviation))
	s.to = min(page, int(s.mean+2*deviation)+3)
	s.step = max(1, int(deviation/2.5))
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
		s.fewerBefore, s.surplusBefore = s.fewer, s.surplus
		s.fewer += s.just
		s.surplus += s.fewer
		s.just *= float64(s.page-s.rows) / float64(s.rows+1) * s.odds
		s.rows++
		if s.rows >= s.from && (s.rows-s.from)%s.step == 0 {
			return s.rows <= s.to
		}
	}
}
