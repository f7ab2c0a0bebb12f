// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Options describe what to read. Every field without a default must be set.
type Options[R any] struct {
	// Shards are the ids of the shards, in any order, each once.
	Shards []int

	// Page is the number of rows wanted, at least 1.
	Page int

	// Compare orders rows as the shards do. It gets pointers because rows may be large and it is
	// called often.
	Compare func(a, b *R) int

	// Combine, if set, combines two equal rows from different shards into one. If it is nil, all
	// equal rows are kept.
	Combine func(a, b R) R

	// Group is how many shards one fetch may ask. Default 1.
	Group int

	// Nodes returns the nodes that have a shard. best says at how many of them, from the first on,
	// the caller reads the shard. Shards that share a fetch share a node. Nil: any shards may share
	// a fetch. See Together.
	Nodes func(shard int) (all []int, best int)

	// Upto, if set, is the last wanted row, known from an earlier look. Expect is then how many
	// rows each shard had up to it. If this has not changed, the Reader asks each shard once and
	// gets no surplus row.
	Upto   *R
	Expect []int

	// Few says that there are probably fewer rows than a page. All shards are then asked at once
	// instead of a sample of them. If there are few rows, that is all that is needed.
	Few bool

	// Seed decides which shards are asked first.
	Seed uint64
}

// A Fetch asks shards for rows. Of each it wants the first Limit rows after After (nil: from the
// page's start) up to and including Upto (nil: no bound).
type Fetch[R any] struct {
	Shards []int
	After  *R
	Upto   *R
	Limit  int
	Place  // see Options.Nodes

	members []int // indexes of the shards
}

// Reader reads one page. It is not safe for concurrent use.
type Reader[R any] struct {
	o      Options[R]
	shards []shard[R]

	queue    []Fetch[R] // fetches to issue
	inFlight int        // number of fetches issued and not yet fed

	fetched  int
	requests int
	rounds   int
	done     bool
}

// shard holds what is known of one shard: its rows, in order, up to a key.
type shard[R any] struct {
	rows      []R
	upto      *R // all rows up to this key are known; nil: none are
	exhausted bool
}

// NewReader makes a reader of one page.
func NewReader[R any](o Options[R]) *Reader[R] {
	o.Group = max(o.Group, 1)
	r := &Reader[R]{o: o, shards: make([]shard[R], len(o.Shards))}
	r.begin()
	return r
}

// Next returns the next fetch to issue. It returns false if there is none before the next Feed,
// or none at all (see Done).
func (r *Reader[R]) Next() (Fetch[R], bool) {
	if len(r.queue) == 0 {
		return Fetch[R]{}, false
	}
	f := r.queue[0]
	r.queue = r.queue[1:]
	f.Shards = make([]int, len(f.members))
	for i, m := range f.members {
		f.Shards[i] = r.o.Shards[m]
	}
	r.inFlight++
	r.requests++
	return f, true
}

// Feed takes the rows of a fetch. rows[i] are the rows of f.Shards[i], in order. Fewer than
// f.Limit rows mean that the shard has no more within the fetch's bounds. The reader keeps the
// rows.
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
	r.inFlight--
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
	switch {
	case len(rows) == f.Limit: // more may follow at once
		s.upto = last
	case f.Upto == r.o.Upto:
		s.exhausted = true
	default:
		s.upto = f.Upto
	}
	return nil
}

// Done says whether the page is known.
func (r *Reader[R]) Done() bool { return r.done }

// Page returns the page's rows in order, and whether more rows may follow. Call it once, when
// Done returns true.
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

// Stats are the figures of reading a page.
type Stats struct {
	Rows     int // fetched
	Requests int // fetches
	Rounds   int // number of rounds: fetches that had to wait for others count as a new round
}

// Stats returns the figures so far.
func (r *Reader[R]) Stats() Stats { return Stats{r.fetched, r.requests, r.rounds} }

// frontier returns the key up to which every shard is known. bounded is false if all shards are
// exhausted. The key is nil if some shard has not been asked.
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

// begin queues the first round.
func (r *Reader[R]) begin() {
	n := len(r.shards)
	if r.o.Upto != nil {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.o.Expect[b], r.o.Expect[a]) })
		r.rounds++
		// One row more than expected: its absence proves that there is none.
		r.enqueue(order, r.o.Upto, func(i int) int { return r.o.Expect[i] + 1 })
		return
	}
	order := rand.New(rand.NewPCG(r.o.Seed, 0)).Perm(n)
	first := opening{shards: n, rows: float64(r.o.Page)}
	if n > 1 {
		first = open(r.o.Page, n, r.o.Few)
	}
	each := int(first.rows)
	more := int((first.rows - float64(each)) * float64(first.shards))
	more -= more % r.o.Group
	r.rounds++
	r.enqueue(order[:more], nil, func(int) int { return each + 1 })
	r.enqueue(order[more:first.shards], nil, func(int) int { return each })
}

// reach returns the number of rows that a shard with the given expectation rarely exceeds.
func reach(expected float64) int {
	expected = max(expected, 0)
	return int(math.Ceil(expected + 3.5*math.Sqrt(expected) + 2))
}

// blind returns how many rows to ask of a shard that is expected to have share rows of the page,
// while no key is known to ask up to. Surplus rows are wasted, and a shard's share deviates by
// its square root. So the more it deviates, the more is left to a later round that knows a key.
func blind(share float64) int {
	deviation := math.Sqrt(share)
	back := max(0, 0.6*math.Log(deviation)-0.35)
	return max(1, int(math.Ceil(share-back*deviation)))
}

// enqueue asks shards for the rows after the known ones. limit returns how many rows to ask of a
// shard. Shards with the same starting key share fetches.
func (r *Reader[R]) enqueue(members []int, upto *R, limit func(member int) int) {
	for len(members) > 0 {
		n := 1
		for n < len(members) && r.shards[members[n]].upto == r.shards[members[0]].upto {
			n++
		}
		if r.o.Nodes == nil {
			for group := range slices.Chunk(members[:n], r.o.Group) {
				r.ask(Group{group, Unplaced}, upto, limit)
			}
		} else {
			for _, group := range Together(members[:n], r.o.Group, func(m int) ([]int, int) { return r.o.Nodes(r.o.Shards[m]) }) {
				r.ask(group, upto, limit)
			}
		}
		members = members[n:]
	}
}

// ask queues a fetch of shards that start at the same place.
func (r *Reader[R]) ask(g Group, upto *R, limit func(member int) int) {
	first := g.Members[0]
	r.queue = append(r.queue, Fetch[R]{After: r.shards[first].upto, Upto: upto, Limit: limit(first), Place: g.Place, members: g.Members})
}
