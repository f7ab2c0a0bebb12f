// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// world is a set of shards in memory that answers fetches.
type world struct {
	shards [][]int
	after  int // rows up to this one are before the page
}

func (w *world) answer(f Fetch[int]) [][]int {
	out := make([][]int, len(f.Shards))
	for i, id := range f.Shards {
		rows := w.shards[id]
		from := w.after
		if f.After != nil {
			from = *f.After
		}
		a := sort.SearchInts(rows, from+1)
		b := len(rows)
		if f.Upto != nil {
			b = sort.SearchInts(rows, *f.Upto+1)
		}
		b = max(a, min(b, a+f.Limit))
		out[i] = slices.Clone(rows[a:b])
	}
	return out
}

type fataler interface{ Fatal(...any) }

// run reads one page with at most window fetches in flight, answered in random order.
func (w *world) run(t fataler, o Options[int], window int, rnd *rand.Rand) (*Reader[int], []int, bool) {
	o.Compare = compare
	r := NewReader(o)
	var flight []Fetch[int]
	for !r.Done() {
		for len(flight) < window {
			f, ok := r.Next()
			if !ok {
				break
			}
			flight = append(flight, f)
		}
		if len(flight) == 0 {
			t.Fatal("stuck: not done and nothing to fetch")
		}
		i := rnd.IntN(len(flight))
		f := flight[i]
		flight = slices.Delete(flight, i, i+1)
		if err := r.Feed(f, w.answer(f)); err != nil {
			t.Fatal(err)
		}
	}
	rows, more := r.Page()
	return r, rows, more
}

func compare(a, b *int) int { return cmp.Compare(*a, *b) }

func even(rnd *rand.Rand, n, total int) *world {
	w := &world{shards: make([][]int, n), after: -1}
	for i := range total {
		s := rnd.IntN(n)
		w.shards[s] = append(w.shards[s], i)
	}
	return w
}

func ids(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// TestGoals holds the reader to its promises on evenly filled shards: a request is
// counted for each shard, as if Group were 1.
func TestGoals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 4, 5, 7, 10, 16, 25, 50, 100, 200} {
		for _, p := range []int{1, 4, 10, 25, 50, 100, 256, 1000, 5000, 10_000} {
			pages := 200
			if p >= 5000 {
				pages = 100
			}
			var requests, rounds, rows []int
			sum := 0
			for range pages {
				w := even(rnd, n, 3*p/2+8*n+50)
				w.after = rnd.IntN(p/8 + 1)
				r, page, more := w.run(t, Options[int]{Shards: ids(n), Page: p, Seed: rnd.Uint64()}, 32, rnd)
				if len(page) != p || !more {
					t.Fatalf("P=%d N=%d: %d rows, more %v", p, n, len(page), more)
				}
				s := r.Stats()
				requests, rounds, rows = append(requests, s.Requests), append(rounds, s.Rounds), append(rows, s.Rows-p)
				sum += s.Requests
			}
			slices.Sort(requests)
			slices.Sort(rounds)
			slices.Sort(rows)
			median, tenth := pages/2, pages*9/10
			each := func(requests int) float64 { return float64(requests) / float64(n) }
			mean, spare := each(sum)/float64(pages), spare(p, n)
			t.Logf("P=%-5d N=%-4d requests %.2f N on average, %.2f N, %.2f N in 9 of 10  rounds %d, %d  rows P + %d, %d of %.0f",
				p, n, mean, each(requests[median]), each(requests[tenth]), rounds[median], rounds[tenth], rows[median], rows[tenth], spare)
			if mean > 1.3 {
				t.Errorf("P=%d N=%d: %.2f requests for each shard", p, n, mean)
			}
			if rounds[tenth] > 2 {
				t.Errorf("P=%d N=%d: %d rounds in 9 of 10 pages", p, n, rounds[tenth])
			}
			if float64(rows[median]) > spare || float64(rows[tenth]) > 1.5*spare {
				t.Errorf("P=%d N=%d: %d rows too many in the median, %d in 9 of 10, of %.1f", p, n, rows[median], rows[tenth], spare)
			}
		}
	}
}

// TestFew reads partitions that are shorter than a page as they are read that are
// expected to be: each shard is asked once, and none waits for another.
func TestFew(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ p, n int }{{256, 16}, {256, 25}, {100, 50}, {5000, 50}, {5000, 200}} {
		rounds := map[bool]int{}
		for _, few := range []bool{false, true} {
			w := even(rnd, c.n, c.p/10)
			r, page, more := w.run(t, Options[int]{Shards: ids(c.n), Page: c.p, Seed: rnd.Uint64(), Few: few}, 32, rnd)
			if len(page) != c.p/10 || more {
				t.Fatalf("P=%d N=%d: %d rows, more %v", c.p, c.n, len(page), more)
			}
			rounds[few] = r.Stats().Rounds
			if few && r.Stats().Requests != c.n {
				t.Errorf("P=%d N=%d: %+v", c.p, c.n, r.Stats())
			}
		}
		if rounds[true] != 1 || rounds[false] < 2 {
			t.Errorf("P=%d N=%d: rounds %v", c.p, c.n, rounds)
		}
	}
}

// TestExact reads all pages of arbitrary worlds, skewed and sparse ones among
// them, and compares them with the sorted union.
func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := rapid.IntRange(1, 40).Draw(t, "shards")
		total := rapid.IntRange(0, 400).Draw(t, "rows")
		populated := rapid.IntRange(1, n).Draw(t, "populated shards")
		combine := rapid.Bool().Draw(t, "combine")
		w := &world{shards: make([][]int, n), after: -1}
		var want []int
		for i := range total {
			s := rnd.IntN(populated)
			w.shards[s] = append(w.shards[s], i)
			want = append(want, i)
			for s++; combine && s < populated && rnd.IntN(3) == 0; s++ {
				w.shards[s] = append(w.shards[s], i)
			}
		}
		o := Options[int]{Shards: ids(n), Page: rapid.IntRange(1, 400).Draw(t, "page"), Group: rapid.IntRange(1, 12).Draw(t, "group"), Few: rapid.Bool().Draw(t, "few"), Seed: seed}
		if combine {
			o.Combine = func(a, _ int) int { return a }
		}
		var got []int
		for {
			_, page, more := w.run(t, o, rapid.IntRange(1, 8).Draw(t, "window"), rnd)
			got = append(got, page...)
			if !more {
				break
			}
			if len(page) == 0 {
				t.Fatal("an empty page that says there is more")
			}
			w.after = page[len(page)-1]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestFeedRefuses holds the reader to refusing answers that break its bounds.
func TestFeedRefuses(t *testing.T) {
	for name, rows := range map[string][][]int{
		"too many rows":  {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		"out of order":   {{2, 1}},
		"a row twice":    {{1, 1}},
		"shards missing": {},
	} {
		r := NewReader(Options[int]{Shards: []int{1}, Page: 10, Compare: compare})
		f, ok := r.Next()
		if !ok {
			t.Fatal("nothing to fetch")
		}
		if err := r.Feed(f, rows); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	w := even(rnd, 200, 100000)
	b.ReportAllocs()
	for b.Loop() {
		w.run(b, Options[int]{Shards: ids(200), Page: 100, Group: 10, Seed: 1}, 8, rnd)
	}
}

// TestLastPage holds the reader to its figures where a page takes all that is left.
func TestLastPage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		p, n     int
		requests float64 // of N, median
		rounds   int     // median
	}{
		{100, 200, 1.1, 3},
		{5000, 200, 1.5, 4},
		{5000, 50, 2.3, 4},
		{100_000, 200, 2, 4},
	} {
		const pages = 9
		var requests, rounds []int
		for range pages {
			w := even(rnd, c.n, c.p)
			r, page, _ := w.run(t, Options[int]{Shards: ids(c.n), Page: c.p, Seed: rnd.Uint64()}, 32, rnd)
			if len(page) != c.p {
				t.Fatalf("P=%d N=%d: %d rows", c.p, c.n, len(page))
			}
			requests, rounds = append(requests, r.Stats().Requests), append(rounds, r.Stats().Rounds)
		}
		slices.Sort(requests)
		slices.Sort(rounds)
		median := float64(requests[pages/2]) / float64(c.n)
		t.Logf("P=%-6d N=%-4d requests %.2f N  rounds %d", c.p, c.n, median, rounds[pages/2])
		if median > c.requests || rounds[pages/2] > c.rounds {
			t.Errorf("P=%d N=%d: requests %.2f N, %d rounds", c.p, c.n, median, rounds[pages/2])
		}
	}
}
