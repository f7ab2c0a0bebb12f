// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

type oneCell []byte

func (c oneCell) Cell(int) []byte           { return c }
func (c oneCell) Times(int) []eval.CellTime { return nil }

// TestMergedContains checks that several CONTAINS on one column become one filter, and that it
// matches the same rows as they do one by one.
func TestMergedContains(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	number := func() []byte { return []byte{0, 0, 0, byte(draw.IntN(6))} }
	list := &schema.Column{Name: "l", Type: value.ListOf(value.Native(value.Int), false)}
	pairs := &schema.Column{Name: "m", Type: value.MapOf(value.Native(value.Int), value.Native(value.Int), false)}
	for range 5000 {
		c := list
		if draw.IntN(2) == 0 {
			c = pairs
		}
		n := draw.IntN(5)
		cell := value.AppendCount(nil, n)
		for range n {
			if c == pairs {
				cell = value.AppendPart(cell, number())
			}
			cell = value.AppendPart(cell, number())
		}
		var all []Filter
		for range draw.IntN(5) {
			op := syntax.OpContains
			if c == pairs && draw.IntN(2) == 0 {
				op = syntax.OpContainsKey
			}
			all = append(all, Filter{Column: c, Op: op, Value: number()})
		}
		want := true
		for _, f := range all {
			want = want && f.Matches(oneCell(cell))
		}
		merged := mergeContains(append([]Filter(nil), all...))
		if len(merged) > 2 {
			t.Fatalf("%d filters are left of %d", len(merged), len(all))
		}
		got := true
		for _, f := range merged {
			got = got && f.Matches(oneCell(cell))
		}
		if got != want {
			t.Fatalf("%v of % x: %v, not %v", all, cell, got, want)
		}
	}
}

// TestManyContains doubles how many relations a statement has on one column. What the analysis
// allocates is about doubled.
func TestManyContains(t *testing.T) {
	s := clusteringTable(nil)
	list := &schema.Column{Name: "l", Type: value.ListOf(value.Native(value.Int), false), Kind: schema.Regular}
	tb := s.Keyspaces["ks"].Tables["t"]
	tb.Columns["l"], tb.Regulars = list, []*schema.Column{list}
	allocated := func(n int) uint64 {
		text := "SELECT * FROM ks.t WHERE l CONTAINS 1" + strings.Repeat(" AND l CONTAINS 1", n-1) + " ALLOW FILTERING"
		stmt, err := syntax.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Analyze(stmt, s, ""); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, two := allocated(2000), allocated(4000); two > 3*one {
		t.Errorf("%d KiB for 2000 relations, %d KiB for 4000", one>>10, two>>10)
	}
}
