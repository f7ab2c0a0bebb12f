// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOneLaneCountsMore measures a key of more values than four lanes keep beside others. Four lanes
// give intervals that contain the truth. One lane gives the truth.
func TestOneLaneCountsMore(t *testing.T) {
	const rows, keys = 450_000, 150_000
	draw := rand.New(rand.NewPCG(3, 3))
	of := make([]int, rows)
	count := make(map[int]int)
	for i := range of {
		u := draw.Float64()
		of[i] = int(keys * u * u)
		count[of[i]]++
	}
	var sizes []int
	for _, n := range count {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	p99 := float64(sizes[(len(sizes)*99+99)/100-1])
	src := open(t, lines("player,match", rows, func(i int) string { return fmt.Sprintf("p%d,%d", of[i], i) }))
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := []Candidate{{Partition: wholesOf("player"), Clustering: []string{"match"}}}
	measure := func(o Options) *Measured {
		m, _, err := Measure(t.Context(), src, p, key, o)
		if err != nil {
			t.Fatal(err)
		}
		return m[0]
	}
	many := measure(Options{})
	if many.Partitions.Exact {
		t.Errorf("four lanes count all %v keys: the test needs more", many.Partitions.Value)
	}
	if n := float64(len(count)); many.Partitions.Low > n || many.Partitions.High < n || many.RowSizes.P99.Low > p99 || many.RowSizes.P99.High < p99 {
		t.Errorf("%+v partitions, p99 %+v, want %v and %v", many.Partitions, many.RowSizes.P99, n, p99)
	}
	for _, workers := range []int{1, 3} {
		alone := measure(Options{OneLane: true, Workers: workers})
		if alone.Partitions != exactly(float64(len(count))) || alone.RowSizes.P99 != exactly(p99) || alone.RowSizes.Max != exactly(float64(sizes[len(sizes)-1])) || !alone.ByteSizes.P99.Exact {
			t.Errorf("%d workers: %+v partitions, p99 %+v, max %+v, bytes %+v; want %d, %v, %d", workers, alone.Partitions, alone.RowSizes.P99, alone.RowSizes.Max, alone.ByteSizes.P99, len(count), p99, sizes[len(sizes)-1])
		}
	}
}

func wholesOf(names ...string) (parts []Part) {
	for _, n := range names {
		parts = append(parts, Part{Column: n})
	}
	return parts
}
