// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/partitioner"
)

// TestVectors holds against an implementation in another language, written from
// the published format.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Hash   string
		Shards int
		By     []string
		Shard  int
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 250 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		l, err := Parse(map[string]string{"hash": v.Hash, "shards": fmt.Sprint(v.Shards)})
		if err != nil {
			t.Fatal(err)
		}
		var by [][]byte
		for _, s := range v.By {
			b, err := hex.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			by = append(by, b)
		}
		if got := l.ShardOf(nil, by...); got != v.Shard {
			t.Errorf("%s of %v over %d = %d, want %d", v.Hash, v.By, v.Shards, got, v.Shard)
		}
	}
}

func TestShardIsInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Layout{
			N:    rapid.IntRange(1, MaxShards).Draw(t, "n"),
			Hash: rapid.SampledFrom([]Hash{Murmur3, CodePoints}).Draw(t, "hash"),
		}
		by := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 3).Draw(t, "by")
		if k := l.ShardOf(nil, by...); k < 1 || k > l.Shards(nil) {
			t.Fatalf("shard %d of %d", k, l.N)
		}
	})
}

// titles are keys as an application has them; their hash is taken as it is.
func titles(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "title %d", i)
	}
	return keys
}

func TestRowsThatMove(t *testing.T) {
	keys := titles(60_000)
	for _, c := range []struct {
		from, to     int
		jump, modulo float64 // per cent
	}{
		{8, 16, 50.0, 50.1},
		{50, 75, 33.4, 66.7},
		{200, 201, 0.49, 99.5},
	} {
		var jump, modulo int
		a, b := Layout{N: c.from}, Layout{N: c.to}
		for _, k := range keys {
			before, after := a.ShardOf(nil, k), b.ShardOf(nil, k)
			if before != after {
				jump++
				if after <= c.from {
					t.Fatalf("%s moved from %d to %d, which is not new", k, before, after)
				}
			}
			if token := uint64(partitioner.Murmur3(k)); token%uint64(c.from) != token%uint64(c.to) {
				modulo++
			}
		}
		percent := func(n int) float64 { return 100 * float64(n) / float64(len(keys)) }
		// Three standard deviations of a share of 60,000.
		near := func(got, want float64) bool {
			return math.Abs(got-want) < 0.05+300*math.Sqrt(want/100*(1-want/100)/float64(len(keys)))
		}
		t.Logf("%d → %d: jump %.2f%%, modulo %.2f%%", c.from, c.to, percent(jump), percent(modulo))
		if !near(percent(jump), c.jump) || !near(percent(modulo), c.modulo) {
			t.Errorf("%d → %d: jump %.2f%%, modulo %.2f%%; want %.2f, %.2f", c.from, c.to, percent(jump), percent(modulo), c.jump, c.modulo)
		}
	}
}

// fullest is the fullest shard over the mean.
func fullest(l *Layout, keys [][]byte) float64 {
	counts := make([]int, l.N)
	for _, k := range keys {
		counts[l.ShardOf(nil, k)-1]++
	}
	return float64(slices.Max(counts)) * float64(l.N) / float64(len(keys))
}

func TestHowEven(t *testing.T) {
	keys := titles(60_000)
	murmur := fullest(&Layout{N: 200}, keys)
	if murmur < 1.10 || murmur > 1.25 {
		t.Errorf("murmur3 over 200: %.3f of the mean, want about 1.16", murmur)
	}
	// Digits and letters have many small factors: two products in three are
	// divisible by 200, whatever the title.
	even := fullest(&Layout{N: 200, Hash: CodePoints}, keys)
	prime := fullest(&Layout{N: 199, Hash: CodePoints}, keys)
	t.Logf("murmur3 %.3f, code_points over 200 %.0f, over 199 %.2f", murmur, even, prime)
	if even < 100 || prime > 2 {
		t.Errorf("code_points: over 200 %.0f of the mean, over 199 %.2f; want skewed and far less", even, prime)
	}
}

func TestDrawsAreEven(t *testing.T) {
	const n = 200
	d := NewDrawer(n, rand.New(rand.NewPCG(1, 2)).IntN)
	counts := make([]int, n+1)
	var orders [][]int
	for range 300 {
		var order []int
		for range n {
			k := d.Draw()
			counts[k]++
			order = append(order, k)
		}
		orders = append(orders, order)
	}
	if least, most := slices.Min(counts[1:]), slices.Max(counts[1:]); least != 300 || most != 300 {
		t.Errorf("after 300 rounds shards have %d to %d draws", least, most)
	}
	if slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0]) {
		t.Error("rounds are not shuffled")
	}
}

func TestDrawsAreEvenConcurrently(t *testing.T) {
	d := NewDrawer(16, rand.New(rand.NewPCG(1, 2)).IntN)
	var counts [4][17]int
	var wg sync.WaitGroup
	for g := range counts {
		wg.Go(func() {
			for range 1600 {
				counts[g][d.Draw()]++
			}
		})
	}
	wg.Wait()
	for k := 1; k <= 16; k++ {
		if n := counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k]; n != 400 {
			t.Errorf("shard %d has %d draws of 400", k, n)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	l, day, title := Layout{N: 200}, binary.BigEndian.AppendUint32(nil, 1<<31), []byte("The quick brown fox")
	d := NewDrawer(200, rand.New(rand.NewPCG(1, 2)).IntN)
	by := [][]byte{day, title}
	if n := testing.AllocsPerRun(100, func() {
		_ = l.ShardOf(day, by...) + l.ShardOf(day, title) + d.Draw()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkShardOf(b *testing.B) {
	l, title := Layout{N: 200}, []byte("The quick brown fox")
	b.ReportAllocs()
	for b.Loop() {
		l.ShardOf(nil, title)
	}
}

func BenchmarkDraw(b *testing.B) {
	d := NewDrawer(200, rand.New(rand.NewPCG(1, 2)).IntN)
	b.ReportAllocs()
	for b.Loop() {
		d.Draw()
	}
}
