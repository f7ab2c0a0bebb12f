// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// TestPieces draws slices, and positions and bounds in them. It prints the rest of each slice as
// statements, and analyses these. The rows that they select must be the ones that brute force
// selects, in the same order.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		columns := rapid.IntRange(1, 3).Draw(r, "columns")
		var names, defs, order []string
		for i := range columns {
			names = append(names, fmt.Sprintf("c%d", i))
			defs = append(defs, names[i]+" decimal")
			order = append(order, names[i]+rapid.SampledFrom([]string{" ASC", " DESC"}).Draw(r, "order"))
		}
		table, s := testTable(t, fmt.Sprintf("CREATE TABLE t (p int, %s, v int, PRIMARY KEY (p, %s)) WITH CLUSTERING ORDER BY (%s) AND write_sharding = {'shards': '3'}",
			strings.Join(defs, ", "), strings.Join(names, ", "), strings.Join(order, ", ")))
		var rows [][][]byte
		var grow func(prefix [][]byte)
		grow = func(prefix [][]byte) {
			if len(prefix) == columns {
				rows = append(rows, prefix)
				return
			}
			for v := range 4 {
				grow(append(slices.Clone(prefix), decimalOf(r, v)))
			}
		}
		grow(nil)
		slices.SortFunc(rows, table.Compare)

		bound := func(label string) analysis.Bound {
			n := rapid.IntRange(0, columns).Draw(r, label+" length")
			b := analysis.Bound{Inclusive: n == 0 || rapid.Bool().Draw(r, label+" inclusive")}
			for range n {
				b.Prefix = append(b.Prefix, decimalOf(r, rapid.IntRange(0, 3).Draw(r, label)))
			}
			return b
		}
		slice := analysis.Slice{Start: bound("start"), End: bound("end")}
		reversed := rapid.Bool().Draw(r, "reversed")
		var inside [][][]byte
		for _, row := range rows {
			if slice.Contains(table.Table, row) {
				inside = append(inside, row)
			}
		}
		if len(inside) == 0 {
			return // readers have no segment of an empty slice
		}
		if reversed {
			slices.Reverse(inside)
		}
		var after, upto [][]byte
		want := inside
		if rapid.Bool().Draw(r, "resumed") {
			i := rapid.IntRange(0, len(want)-1).Draw(r, "after")
			after, want = want[i], want[i+1:]
		}
		if len(want) == 0 {
			return
		}
		if rapid.Bool().Draw(r, "bounded") {
			i := rapid.IntRange(0, len(want)-1).Draw(r, "upto")
			upto, want = want[i], want[:i+1]
		}

		pieces := table.pieces(Within(slice, after, upto, reversed))
		if reversed {
			slices.Reverse(pieces)
		}
		var got [][][]byte
		var texts []string
		for _, piece := range pieces {
			st, values := statementOf(t, table, piece)
			texts = append(texts, st.Text)
			got = append(got, selected(t, table, s, st.Text, values, rows, reversed)...)
		}
		if !slices.EqualFunc(got, want, func(a, b [][]byte) bool { return table.Compare(a, b) == 0 }) {
			r.Fatalf("%s\nafter %v upto %v reversed %v\ngot  %v\nwant %v", strings.Join(texts, "\n"), after, upto, reversed, got, want)
		}
	})
}

// decimalOf is a number in one of the forms that are equal: 1, 1.0, 1.00.
func decimalOf(r *rapid.T, n int) []byte {
	scale := rapid.IntRange(0, 2).Draw(r, "scale")
	unscaled := int64(n)
	for range scale {
		unscaled *= 10
	}
	return value.AppendDecimal(nil, big.NewInt(unscaled), int32(scale))
}

func statementOf(t *testing.T, table *Table, piece analysis.Slice) (*Statement, []eval.Value) {
	t.Helper()
	sh := table.shapeOf(piece)
	where := append([]syntax.Relation{{Columns: []string{"p"}, Op: syntax.OpEQ, Value: &syntax.Constant{Kind: syntax.ConstInteger, Text: "1"}}}, table.relations(sh)...)
	st, err := newStatement(&syntax.Select{From: table.Physical(), Where: where})
	if err != nil {
		t.Fatal(err)
	}
	var values []eval.Value
	cluster := sh.values(piece)
	for _, slot := range st.Slots {
		values = append(values, eval.Value{Bytes: cluster[slot.Index]})
	}
	return st, values
}

// selected are the rows that a statement selects, by the analysis of its text.
func selected(t *testing.T, table *Table, s *schema.Schema, text string, values []eval.Value, rows [][][]byte, reversed bool) [][][]byte {
	t.Helper()
	tree, err := syntax.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	a, err := analysis.Analyze(tree, s, "")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b, err := a.(*analysis.Select).Bind(&eval.Env{Values: values})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out [][][]byte
	for _, row := range rows {
		if b.Slices.Contains(table.Table, row) {
			out = append(out, row)
		}
	}
	if reversed {
		slices.Reverse(out)
	}
	return out
}
