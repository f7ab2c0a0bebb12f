// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math/rand/v2"
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
