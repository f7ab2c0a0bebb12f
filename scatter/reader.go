package scatter

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Options say what is read. All fields without a default must be set.
type Options[R any] struct {
	// Shards are the ids of the shards, in any order, each once.
	Shards []int

	// Page is the number of rows wanted, at least 1.
	Page int

	// Compare orders rows, as the shards do. It is given pointers because rows may
	// be large and it is called often.
	Compare func(a, b *R) int

	// Combine, when set, makes one row of two that compare equal and come from
	// different shards. When nil, equal rows are all kept.
	Combine func(a, b R) R

	// Group is how many shards one fetch may name. Default 1.
	Group int

	// Upto, when set, is the last row that is wanted, as somebody found who looked
	// before; Expect is then how many rows each shard had up to it. Where that still
	// holds, each shard is asked once and brings no row too many.
	Upto   *R
	Expect []int

	// Seed draws the shards that are sampled.
	Seed uint64
}

// A Fetch asks shards for rows: of each, the first Limit rows after After (nil:
// from where the page starts) and up to and including Upto (nil: no bound).
type Fetch[R any] struct {
	Shards []int
	After  *R
	Upto   *R
	Limit  int

	members []int // indexes of the shards
}

// Reader reads one page. It is not safe for concurrent use.
type Reader[R any] struct {
	o      Options[R]
	shards []shard[R]

	queue    []Fetch[R] // to issue; Limit is what the round would like
	queued   int        // shards in queue
	inFlight int        // shards in fetches that were issued and not fed
	reserved int        // rows that fetches in flight may bring

	fetched  int
	requests int
	rounds   int
	done     bool
}

// shard is what is known of one shard: its rows, in order, up to a key.
type shard[R any] struct {
	rows      []R
	upto      *R   // all rows up to this key are known; nil: none are
	cut       bool // upto is the last of rows: more may follow at once
	exhausted bool
}

// NewReader makes a reader of one page.
func NewReader[R any](o Options[R]) *Reader[R] {
	o.Group = max(o.Group, 1)
	r := &Reader[R]{o: o, shards: make([]shard[R], len(o.Shards))}
	r.begin()
	return r
}

// Next gives the next fetch to issue; false when there is none before the next
// Feed, or none at all (see Done).
func (r *Reader[R]) Next() (Fetch[R], bool) {
	if len(r.queue) == 0 {
		return Fetch[R]{}, false
	}
	f := r.queue[0]
	r.queue = r.queue[1:]
	n := len(f.members)
	f.Limit = r.limit(n, f.Limit)
	f.Shards = make([]int, n)
	for i, m := range f.members {
		f.Shards[i] = r.o.Shards[m]
	}
	r.queued -= n
	r.inFlight += n
	r.reserved += n * f.Limit
	r.requests++
	return f, true
}

// limit shares what is left of the row budget among the fetches to come: each
// row that a fetch was allowed and did not bring is allowed to later ones.
func (r *Reader[R]) limit(n, want int) int {
	if r.o.Upto != nil {
		return want
	}
	budget := r.o.Page + 2*len(r.shards)
	free := budget - r.fetched - r.reserved
	// Fetches are issued a window at a time, so that a generous limit for this
	// one leaves a row for every shard behind it and mostly far more.
	const window = 32
	share := (free - (r.queued - n)) / min(r.queued, max(n, window))
	// A shard that is cut short costs a fetch: a large one is not cut by much.
	least := want / 2
	if want >= 30 {
		least = want * 3 / 4
	}
	return max(1, min(want, max(share, least), r.o.Page))
}

// Feed gives the rows that a fetch brought: rows[i] are those of f.Shards[i], in
// order. Fewer rows than f.Limit say that there are no more within its bounds.
// The reader keeps the rows.
func (r *Reader[R]) Feed(f Fetch[R], rows [][]R) error {
	if len(rows) != len(f.members) {
		return fmt.Errorf("scatter: %d shards answered of %d asked", len(rows), len(f.members))
	}
	for i, m := range f.members {
		if err := r.feed(&r.shards[m], f, rows[i]); err != nil {
			return fmt.Errorf("scatter: shard %d: %w", f.Shards[i], err)
		}
		r.fetched += len(rows[i])
	}
	r.inFlight -= len(f.members)
	r.reserved -= len(f.members) * f.Limit
	if r.inFlight == 0 && len(r.queue) == 0 {
		r.next()
	}
	return nil
}

func (r *Reader[R]) feed(s *shard[R], f Fetch[R], rows []R) error {
	if len(rows) > f.Limit {
		return fmt.Errorf("%d rows came, %d were asked for", len(rows), f.Limit)
	}
	last := f.After
	for i := range rows {
		if last != nil && r.o.Compare(last, &rows[i]) >= 0 {
			return fmt.Errorf("row %d is not after the one before it", i)
		}
		last = &rows[i]
	}
	if len(rows) > 0 && f.Upto != nil && r.o.Compare(last, f.Upto) > 0 {
		return fmt.Errorf("a row is beyond the bound that was asked for")
	}
	if s.rows == nil {
		s.rows = rows
	} else {
		s.rows = append(s.rows, rows...)
	}
	s.cut = len(rows) == f.Limit
	switch {
	case s.cut:
		s.upto = last
	case f.Upto == r.o.Upto:
		s.exhausted = true
	default:
		s.upto = f.Upto
	}
	return nil
}

// Done says that the page is known.
func (r *Reader[R]) Done() bool { return r.done }

// Page gives the page's rows in order, and whether there may be more after
// them. It may be called once, when Done.
func (r *Reader[R]) Page() (rows []R, more bool) {
	bound, bounded := r.frontier()
	rows = make([]R, 0, min(r.o.Page, r.fetched))
	for t := r.tree(nil); ; {
		row := t.next()
		if row == nil {
			return rows, bounded
		}
		if bounded && r.o.Compare(row, bound) > 0 {
			return rows, true
		}
		if n := len(rows); n > 0 && r.o.Combine != nil && r.o.Compare(&rows[n-1], row) == 0 {
			rows[n-1] = r.o.Combine(rows[n-1], *row)
			continue
		}
		if len(rows) == r.o.Page {
			return rows, true
		}
		rows = append(rows, *row)
	}
}

// Stats are what reading the page took.
type Stats struct {
	Rows     int // fetched
	Requests int // fetches
	Rounds   int // fetches that had to wait for others
}

// Stats gives the figures so far.
func (r *Reader[R]) Stats() Stats { return Stats{r.fetched, r.requests, r.rounds} }

// frontier is the key up to which every shard is known. bounded is false when
// all shards are exhausted; the key is nil while one has not been asked.
func (r *Reader[R]) frontier() (key *R, bounded bool) {
	for i := range r.shards {
		s := &r.shards[i]
		if s.exhausted {
			continue
		}
		if s.upto == nil {
			return nil, true
		}
		if !bounded || r.o.Compare(s.upto, key) < 0 {
			key, bounded = s.upto, true
		}
	}
	return key, bounded
}

// begin queues the first round: all shards, or a sample of them where pages are
// so long that what cut-short shards lack would take a fetch for most of them.
func (r *Reader[R]) begin() {
	n := len(r.shards)
	if r.o.Upto != nil {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.o.Expect[b], r.o.Expect[a]) })
		// One more than expected, so that its absence proves that there is none.
		r.enqueue(order, r.o.Upto, func(i int) int { return r.o.Expect[i] + 1 })
		return
	}
	expected := float64(r.o.Page) / float64(n)
	order := rand.New(rand.NewPCG(r.o.Seed, 0)).Perm(n)
	switch sample := max(r.o.Group, n/sampled); {
	case n == 1:
		r.enqueue(order, nil, func(int) int { return r.o.Page })
	case expected <= denseFrom:
		// More than its share of each: the page's end is then known to within what
		// the fuller shards have left, which the second round asks for.
		each := max(1, int(expected+1.5))
		if expected > 0.2 {
			each = max(2, each)
		}
		r.enqueue(order, nil, func(int) int { return each })
	case n >= sampled*2 && expected < sampleUpto*float64(sample):
		each := int(expected) + 2
		r.enqueue(order[:min(sample, n)], nil, func(int) int { return each })
	default:
		each := blind(expected)
		r.enqueue(order, nil, func(int) int { return each })
	}
}

// sampled is the part of the shards, one of so many, that a sample asks.
const sampled = 4

// sampleUpto is the share of a page, in rows for each shard of the sample, up to
// which a sample says exactly enough where the page ends: beyond that, what it may
// be wrong by is more than may be fetched too much.
const sampleUpto = 3

// denseFrom is the share of a page up to which one more row of each shard is
// not too much: what the other shards then lack, 0.4 √share on average, is less
// than the row of surplus that is left.
const denseFrom = 8

// reach is the number of rows that a shard with the given expectation rarely
// has more of.
func reach(expected float64) int {
	expected = max(expected, 0)
	return int(math.Ceil(expected + 3.5*math.Sqrt(expected) + 2))
}

// blind is the number of rows to ask a shard for that is expected to have share
// rows of the page, when no key is known to ask up to. What a shard gives too
// much is not got back, and its share deviates by its root: the more it deviates,
// the more is left to a round that knows better.
func blind(share float64) int {
	deviation := math.Sqrt(share)
	back := max(0, 0.55*math.Log(deviation)-0.35)
	return max(1, int(math.Ceil(share-back*deviation)))
}

// enqueue begins a round that asks the shards for what follows what is known of
// them, each for want rows. Shards that start at the same place share fetches.
func (r *Reader[R]) enqueue(members []int, upto *R, want func(member int) int) {
	r.rounds++
	for len(members) > 0 {
		n := 1
		for n < min(len(members), r.o.Group) && r.shards[members[n]].upto == r.shards[members[0]].upto {
			n++
		}
		r.queue = append(r.queue, Fetch[R]{After: r.shards[members[0]].upto, Upto: upto, Limit: want(members[0]), members: members[:n]})
		r.queued += n
		members = members[n:]
	}
}
