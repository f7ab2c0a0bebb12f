// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// mix returns a hash of small integers (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// zipf draws ranks 0..n-1 with a chance proportional to 1/(rank+1)^s, for any s.
func zipf(rnd *rand.Rand, s float64, n int) func() int {
	cum := make([]float64, n)
	sum := 0.0
	for i := range cum {
		sum += math.Pow(float64(i+1), -s)
		cum[i] = sum
	}
	return func() int {
		i, _ := slices.BinarySearch(cum, rnd.Float64()*sum)
		return min(i, n-1)
	}
}

var exponents = []float64{0.8, 0.9, 1.0, 1.1, 1.2, 1.4}

// TestTopOnZipf checks that the bounds of frequent keys hold for every key, listed or not, and are
// tight for the frequent ones. They also do after parts are merged.
func TestTopOnZipf(t *testing.T) {
	const rows, keys = 400_000, 200_000
	for _, s := range exponents {
		for _, parts := range []int{1, 3} {
			rnd := rand.New(rand.NewPCG(uint64(s*10), uint64(parts)))
			draw := zipf(rnd, s, keys)
			exact := make(map[uint64]int64)
			tops := make([]*Top[uint64], parts)
			for i := range tops {
				tops[i] = NewTop[uint64](256)
			}
			for i := range rows {
				h := mix(uint64(draw()))
				exact[h]++
				if of, fresh := tops[i%parts].Add(h, 1); fresh {
					*of = h
				} else if of != nil && *of != h {
					t.Fatal("what is kept is another key's")
				}
			}
			top := tops[0]
			for _, other := range tops[1:] {
				top.Merge(other, func(into, from *uint64) {
					if *into != *from {
						t.Fatal("keys are mixed up")
					}
				})
			}
			check(t, fmt.Sprintf("zipf %.1f in %d parts", s, parts), top, exact, rows)
		}
	}
}

func check(t *testing.T, name string, top *Top[uint64], exact map[uint64]int64, rows int64) {
	t.Helper()
	if top.Rows() != rows {
		t.Errorf("%s: %d rows", name, top.Rows())
	}
	listed := make(map[uint64]bool)
	for _, f := range top.List(1 << 30) {
		listed[f.Hash] = true
		if n := exact[f.Hash]; n < f.Low || n > f.High || f.Low < 1 {
			t.Fatalf("%s: a key of %d rows has bounds %d to %d", name, n, f.Low, f.High)
		}
		if *f.Of != f.Hash {
			t.Fatalf("%s: what is kept is another key's", name)
		}
	}
	absent := top.Absent()
	for h, n := range exact {
		if !listed[h] && n > absent {
			t.Fatalf("%s: a key of %d rows is missing, absent have %d", name, n, absent)
		}
	}
	if top.Exact() != (top.Absent() == 0) {
		t.Errorf("%s: exact %v, absent have %d", name, top.Exact(), top.Absent())
	}
	if len(exact) < 100 {
		return
	}
	counts := make([]int64, 0, len(exact))
	for _, n := range exact {
		counts = append(counts, n)
	}
	slices.SortFunc(counts, func(a, b int64) int { return int(b - a) })
	// This is the classic bound of Space-Saving: no error beyond rows / kept keys for each part.
	for i, f := range top.List(20) {
		if f.High < counts[i] {
			t.Errorf("%s: rank %d has %d rows, bounded by %d", name, i, counts[i], f.High)
		}
		if f.High-f.Low > 3*rows/256 {
			t.Errorf("%s: rank %d is between %d and %d", name, i, f.Low, f.High)
		}
	}
}

// TestTopBoundsHold checks the bounds for arbitrary streams, divisions into parts, and weights.
func TestTopBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 8).Draw(t, "keep")
		keys := rapid.IntRange(1, 200).Draw(t, "keys")
		tops := []*Top[uint64]{NewTop[uint64](keep), NewTop[uint64](rapid.IntRange(1, 8).Draw(t, "the other's"))}
		exact := make(map[uint64]int64)
		rows := int64(0)
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, keys-1), 0, 600).Draw(t, "stream") {
			n := 1 + k%3
			h := mix(uint64(k))
			exact[h] += int64(n)
			rows += int64(n)
			if of, fresh := tops[(k/7)%2].Add(h, n); fresh {
				*of = h
			}
		}
		tops[0].Merge(tops[1], func(into, from *uint64) {})
		top := tops[0]
		listed := make(map[uint64]bool)
		for _, f := range top.List(1 << 30) {
			listed[f.Hash] = true
			if n := exact[f.Hash]; n < f.Low || n > f.High || *f.Of != f.Hash {
				t.Fatalf("a key of %d rows has bounds %d to %d", n, f.Low, f.High)
			}
		}
		for h, n := range exact {
			if !listed[h] && n > top.Absent() {
				t.Fatalf("a key of %d rows is missing, absent have %d", n, top.Absent())
			}
		}
		if len(exact) <= keep && len(exact) <= tops[1].keep && !top.Exact() {
			t.Fatalf("%d keys of %d are not exact", len(exact), keep)
		}
	})
}

// TestSampleOnZipf checks that intervals of samples contain the truth as often as they promise:
// 99%.
func TestSampleOnZipf(t *testing.T) {
	const rows, keys, size = 120_000, 60_000, 1000
	qs := []float64{0.5, 0.9, 0.99}
	tried, missed := 0, make(map[string]int)
	for _, s := range exponents {
		rnd := rand.New(rand.NewPCG(uint64(s*10), 2))
		draw := zipf(rnd, s, keys)
		exact := make(map[int]float64)
		stream := make([]int, rows)
		for i := range stream {
			stream[i] = draw()
			exact[stream[i]]++
		}
		counts := make([]float64, 0, len(exact))
		repeats := 0.0
		for _, n := range exact {
			counts = append(counts, n)
			repeats += min(n-1, 5)
		}
		slices.Sort(counts)
		for seed := range uint64(40) {
			parts := []*Sample[float64]{NewSample[float64](size), NewSample[float64](size)}
			for i, k := range stream {
				if of := parts[i%2].Add(mix(uint64(k) ^ seed<<40)); of != nil {
					*of++
				}
			}
			sample := parts[0]
			sample.Merge(parts[1], func(into, from *float64) { *into += *from })
			tried++
			if len(sample.keys) < size/3 || len(sample.keys) > size {
				t.Fatalf("%d keys are kept", len(sample.keys))
			}
			hold := func(name string, in Interval, truth float64) {
				if in.Low > in.Value || in.High < in.Value {
					t.Fatalf("%s: %v", name, in)
				}
				if truth < in.Low || truth > in.High {
					missed[name]++
				}
			}
			hold("distinct", sample.Distinct(), float64(len(exact)))
			count := func(n *float64) float64 { return *n }
			for i, q := range sample.Quantiles(count, qs...) {
				hold(fmt.Sprint(qs[i]), q, counts[int(math.Ceil(qs[i]*float64(len(counts))))-1])
			}
			hold("sum", sample.Sum(func(n *float64) float64 { return min(*n-1, 5) }), repeats)
			for _, of := range sample.All() {
				if *of < 1 {
					t.Fatal("a key without rows")
				}
			}
		}
	}
	for name, n := range missed {
		if n > tried/50 { // 2%, twice what is promised
			t.Errorf("%s: %d of %d intervals do not hold the truth", name, n, tried)
		}
	}
	t.Logf("%d intervals of each kind, missed: %v", tried, missed)
}

// TestSumOfWhatIsRare checks that a value that is rare in the whole is not excluded by a sample
// that has none of it.
func TestSumOfWhatIsRare(t *testing.T) {
	missed := 0
	for seed := range uint64(200) {
		s := NewSample[float64](1000)
		for k := range 50_000 {
			n := 1
			if k%5000 == 0 {
				n = 2
			}
			for range n {
				if of := s.Add(mix(uint64(k) ^ seed<<40)); of != nil {
					*of++
				}
			}
		}
		if in := s.Sum(func(n *float64) float64 { return *n - 1 }); in.Low > 10 || in.High < 10 {
			missed++
		}
	}
	if missed > 4 {
		t.Errorf("%d of 200 intervals do not hold the truth", missed)
	}
}

func TestExactWhileItFits(t *testing.T) {
	s, top := NewSample[int](5000), NewTop[int](5000)
	for i := range 20_000 {
		h := mix(uint64(i % 5000))
		*s.Add(h)++
		top.Add(h, 1)
	}
	if d := s.Distinct(); !s.Exact() || d != exactly(5000) {
		t.Errorf("%v", d)
	}
	if q := s.Quantiles(func(n *int) float64 { return float64(*n) }, 0.5); q[0] != exactly(4) {
		t.Errorf("%v", q)
	}
	if l := top.List(1); !top.Exact() || l[0].Low != 4 || l[0].High != 4 {
		t.Errorf("%v", l)
	}
	if q := NewSample[int](5).Quantiles(func(n *int) float64 { return 1 }, 0.5); q[0] != (Interval{}) {
		t.Errorf("of no keys: %v", q)
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	s, top := NewSample[[4]int64](1000), NewTop[[4]int64](100)
	n := uint64(0)
	for range 100_000 {
		n++
		s.Add(mix(n))
		top.Add(mix(n), 1)
	}
	if a := testing.AllocsPerRun(10_000, func() {
		n++
		s.Add(mix(n))
		top.Add(mix(n%3000), 1)
	}); a > 0.01 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkTop(b *testing.B) {
	for _, keys := range []uint64{100, 10_000, 1 << 60} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			top := NewTop[[64]byte](512)
			n := uint64(0)
			for b.Loop() {
				n++
				top.Add(mix(mix(n)%keys), 1)
			}
		})
	}
}

func BenchmarkSample(b *testing.B) {
	for _, keys := range []uint64{100, 10_000, 1 << 60} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			s := NewSample[[4]int64](8192)
			n := uint64(0)
			for b.Loop() {
				n++
				if of := s.Add(mix(mix(n) % keys)); of != nil {
					of[0]++
				}
			}
		})
	}
}
