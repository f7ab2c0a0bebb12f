// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"math"
	"slices"
)

// next is called when all rows asked for have come. It decides whether the page is known and, if
// not, what to ask for next.
func (r *Reader[R]) next() {
	frontier, bounded := r.frontier()
	if !bounded || frontier != nil && (r.last(frontier) || r.count(frontier) >= r.o.Page) {
		r.done = true
		return
	}
	upto, known := r.bound()
	if upto == nil || r.last(upto) {
		upto = r.o.Upto
	}
	members := r.short(upto)
	if len(members) == 0 {
		// Combine has turned several counted rows into one.
		upto, members = r.o.Upto, r.short(r.o.Upto)
	}
	// Shards that are known up to the same key become neighbours, so that one fetch can ask them.
	slices.SortStableFunc(members, func(a, b int) int {
		x, y := r.shards[a].upto, r.shards[b].upto
		switch {
		case x == y:
			return 0
		case x == nil:
			return -1
		case y == nil:
			return 1
		}
		return r.o.Compare(x, y)
	})
	r.rounds++
	if upto != nil {
		r.enqueue(members, upto, func(i int) int { return min(r.o.Page, reach(known.total-known.at[i])) })
		return
	}
	all := max(0, float64(r.o.Page)-known.rank)
	beyond := all / float64(len(members))
	for _, i := range members {
		all += known.total - known.at[i]
	}
	surplus := spare(r.o.Page, len(r.shards)) - float64(r.fetched-r.o.Page) - all
	r.enqueue(members, nil, func(i int) int {
		expected := beyond + known.total - known.at[i]
		want := blind(expected)
		if len(r.shards) > manyShards && surplus > 0 {
			// It is better to use up the spare rows now than to need more fetches later. A shard
			// with fewer rows is then known to its end.
			want = max(want, int(expected+surplus/float64(len(members))))
		}
		return min(r.o.Page, want)
	})
}

// manyShards is the number of shards from which on their deviations from the expectation cancel
// out.
const manyShards = 20

// last says that no row after key is wanted.
func (r *Reader[R]) last(key *R) bool { return r.o.Upto != nil && r.o.Compare(key, r.o.Upto) >= 0 }

// short returns the shards that are not known up to key, or to their end if key is nil.
func (r *Reader[R]) short(key *R) []int {
	var members []int
	for i := range r.shards {
		s := &r.shards[i]
		if !s.exhausted && (key == nil || s.upto == nil || r.o.Compare(s.upto, key) < 0) {
			members = append(members, i)
		}
	}
	return members
}

// count returns the number of known rows up to key, but at least a page if more rows are known.
func (r *Reader[R]) count(key *R) int {
	n := 0
	if r.o.Combine == nil {
		for i := range r.shards {
			n += r.upto(i, key)
		}
		return n
	}
	var last *R
	for t := r.tree(nil); n <= r.o.Page; {
		row := t.next()
		if row == nil || r.o.Compare(row, key) > 0 {
			break
		}
		if last == nil || r.o.Compare(last, row) != 0 {
			n++
		}
		last = row
	}
	return n
}

// upto returns the number of a shard's known rows up to key.
func (r *Reader[R]) upto(shard int, key *R) int {
	rows := r.shards[shard].rows
	low, high := 0, len(rows)
	for low < high {
		if middle := (low + high) / 2; r.o.Compare(&rows[middle], key) <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// hazard is the expected number of rows of one shard, up to some key and up to the end of what is
// known of each shard. rank is the estimated number of all shards' rows up to that key.
type hazard struct {
	total float64
	at    []float64
	rank  float64
}

// bound returns the key to ask up to next, or nil if too little is known.
//
// The rank of a known row among all rows is the number of known rows before it plus an estimate
// of the unknown ones. At each known row, the shards that are not known so far are assumed to
// have as many rows as those that are (Nelson-Aalen's estimator, which shards that were cut short
// do not bias). The bound is the first row whose rank passes the page's end by two deviations, or
// by the lead in the spare rows if that is less. It is never later than the row that certainly is
// not before the page's end, because a page of rows before it is known.
func (r *Reader[R]) bound() (*R, hazard) {
	n := len(r.shards)
	h := hazard{at: make([]float64, n)}
	covering := n  // shards that are known up to the current row
	var ends []int // shards that are known up to a key, sorted by that key
	for i := range r.shards {
		switch s := &r.shards[i]; {
		case s.exhausted:
		case s.upto == nil:
			covering--
		default:
			ends = append(ends, i)
		}
	}
	slices.SortFunc(ends, func(a, b int) int { return r.o.Compare(r.shards[a].upto, r.shards[b].upto) })
	var (
		page     = float64(r.o.Page)
		most     = spare(r.o.Page, n)
		rank     int     // of the current row among the known ones
		unknown  float64 // estimated number of unknown rows before it
		variance float64 // of the estimate
		from     *R
	)
	if covering == n && len(ends) > 0 {
		// Up to the first end everything is known, so nothing is estimated there.
		from = r.shards[ends[0]].upto
		for i := range r.shards {
			rank += r.upto(i, from)
		}
		h.total = float64(rank) / float64(n)
		h.rank = float64(rank)
	}
	for t := r.tree(from); ; {
		row := t.next()
		for row != nil && len(ends) > 0 && r.o.Compare(r.shards[ends[0]].upto, row) < 0 {
			covering--
			h.at[ends[0]] = h.total
			ends = ends[1:]
		}
		if row == nil || covering == 0 {
			for _, i := range ends {
				h.at[i] = h.total
			}
			return nil, h
		}
		rank++
		if rank >= r.o.Page && r.o.Combine == nil {
			return row, h
		}
		ratio := float64(n-covering) / float64(covering)
		unknown += ratio
		variance += ratio * ratio
		h.total += 1 / float64(covering)

		// If none are left, some are used anyway: one more round costs more.
		slack := max(most/10, most-float64(r.fetched-rank))
		deviation := math.Sqrt(unknown + variance)
		h.rank = float64(rank) + unknown
		if h.rank >= page+min(lead*slack*float64(n)/float64(max(1, n-covering)), 2*deviation) {
			return row, h
		}
	}
}
