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

// TestGoals holds the reader to its figures on evenly filled shards: rows ≤ P + 2N
// always where a page is less than denseFrom rows a shard, with a tolerance
// beyond; and the percentiles of requests and rounds. A request is counted for
// each shard, as if Group were 1.
func TestGoals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		p, n          int
		requests      float64 // of N, median
		rounds, tenth int     // median; in 9 of 10 pages
	}{
		{1, 16, 1.0, 1, 1},
		{10, 200, 1.1, 2, 2},
		{100, 1000, 1.15, 2, 2},
		{100, 200, 1.15, 2, 2},
		{100, 50, 1.5, 2, 3},
		{1000, 200, 1.5, 3, 3},
		{100, 10, 1.6, 2, 3},
		{5000, 200, 1.2, 3, 4},
		{5000, 50, 2.1, 3, 4},
		{5000, 10, 3.1, 4, 4},
		{20_000, 200, 1.7, 4, 6},
		{5000, 100, 1.6, 4, 5},
	} {
		const pages = 200
		var requests, rounds, rows []int
		most := 0
		for range pages {
			w := even(rnd, c.n, 3*(c.p+2*c.n)+50)
			w.after = rnd.IntN(c.p + 1)
			r, page, more := w.run(t, Options[int]{Shards: ids(c.n), Page: c.p, Seed: rnd.Uint64()}, 32, rnd)
			if len(page) != c.p || !more {
				t.Fatalf("P=%d N=%d: %d rows, more %v", c.p, c.n, len(page), more)
			}
			s := r.Stats()
			requests, rounds, rows = append(requests, s.Requests), append(rounds, s.Rounds), append(rows, s.Rows)
			most = max(most, s.Rows)
		}
		slices.Sort(requests)
		slices.Sort(rounds)
		median := float64(requests[pages/2]) / float64(c.n)
		t.Logf("P=%-5d N=%-5d requests %.2f N  rounds %d, %d in 9 of 10  rows at most %d, P + 2N = %d", c.p, c.n, median, rounds[pages/2], rounds[pages*9/10], most, c.p+2*c.n)
		slices.Sort(rows)
		law := c.p + 2*c.n
		if rows[pages/2] > law || most > law+max(c.n, c.p/12) {
			t.Errorf("P=%d N=%d: %d rows fetched, %d in the median", c.p, c.n, most, rows[pages/2])
		}
		if c.p < denseFrom*c.n && most > law {
			t.Errorf("P=%d N=%d: %d rows fetched", c.p, c.n, most)
		}
		if median > c.requests || rounds[pages/2] > c.rounds || rounds[pages*9/10] > c.tenth {
			t.Errorf("P=%d N=%d: requests %.2f N, rounds %d and %d", c.p, c.n, median, rounds[pages/2], rounds[pages*9/10])
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
		o := Options[int]{Shards: ids(n), Page: rapid.IntRange(1, 400).Draw(t, "page"), Group: rapid.IntRange(1, 12).Draw(t, "group"), Seed: seed}
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
		{100, 200, 1.15, 3},
		{5000, 200, 1.8, 5},
		{5000, 50, 2.5, 5},
		{100_000, 200, 2.6, 5},
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
