// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// clusteringTable returns a schema whose table has int clustering columns c0, c1, … with the given
// directions.
func clusteringTable(desc []bool) *schema.Schema {
	tb := &schema.Table{Keyspace: "ks", Name: "t", Columns: map[string]*schema.Column{}}
	k := &schema.Column{Name: "k", Type: value.Native(value.Int)}
	tb.Columns["k"], tb.PartitionKey = k, []*schema.Column{k}
	for i, d := range desc {
		c := &schema.Column{Name: fmt.Sprintf("c%d", i), Type: value.Native(value.Int), Kind: schema.Clustering, Position: i, Desc: d}
		tb.Columns[c.Name] = c
		tb.Clustering = append(tb.Clustering, c)
	}
	ks := &schema.Keyspace{Name: "ks", Tables: map[string]*schema.Table{"t": tb}}
	return &schema.Schema{Keyspaces: map[string]*schema.Keyspace{"ks": ks}}
}

// A predicate is one relation of the clustering columns, as text and as a function.
type predicate struct {
	text  string
	holds func(row []int) bool
}

func drawPredicate(t *rapid.T, n int) predicate {
	first := rapid.IntRange(0, n-1).Draw(t, "first")
	width := rapid.IntRange(1, n-first).Draw(t, "width")
	cols := make([]string, width)
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d", first+i)
	}
	tuple := width > 1 || rapid.Bool().Draw(t, "tuple")
	draw := func() ([]int, string) {
		v := rapid.SliceOfN(rapid.IntRange(0, 2), width, width).Draw(t, "values")
		s := strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ", "), "[]")
		if tuple {
			s = "(" + s + ")"
		}
		return v, s
	}
	left := strings.Join(cols, ", ")
	if tuple {
		left = "(" + left + ")"
	}
	compare := func(row, v []int) int {
		for i, x := range v {
			if d := row[first+i] - x; d != 0 {
				return d
			}
		}
		return 0
	}
	v, s := draw()
	switch op := rapid.SampledFrom([]string{"=", "=", "IN", "<", "<=", ">", ">="}).Draw(t, "op"); op {
	case "IN":
		list, texts := [][]int{v}, []string{s}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			v, s := draw()
			list, texts = append(list, v), append(texts, s)
		}
		return predicate{left + " IN (" + strings.Join(texts, ", ") + ")", func(row []int) bool {
			for _, v := range list {
				if compare(row, v) == 0 {
					return true
				}
			}
			return false
		}}
	default:
		return predicate{left + " " + op + " " + s, func(row []int) bool {
			c := compare(row, v)
			return map[string]bool{"=": c == 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
		}}
	}
}

// TestSlicesAreTheWhere checks that the slices of a bound statement contain exactly the rows for
// which the WHERE holds, each once, in clustering order.
func TestSlicesAreTheWhere(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		desc := rapid.SliceOfN(rapid.Bool(), 1, 4).Draw(t, "desc")
		s := clusteringTable(desc)
		tb := s.Table("ks", "t")
		preds := make([]predicate, rapid.IntRange(1, 3).Draw(t, "relations"))
		text := "SELECT * FROM t WHERE k = 1"
		for i := range preds {
			preds[i] = drawPredicate(t, len(desc))
			text += " AND " + preds[i].text
		}
		stmt, err := syntax.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		a, err := Analyze(stmt, s, "ks")
		if err != nil {
			return
		}
		b, err := a.(*Select).Bind(&eval.Env{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		accepted++
		all := slices.Collect(b.Slices.All())
		for i := 1; i < len(all); i++ {
			if CompareClustering(tb, all[i-1].End.Prefix, all[i].Start.Prefix) > 0 {
				t.Fatalf("%s: slices %d and %d are out of order: %v", text, i-1, i, all)
			}
		}
		rows := 1
		for range desc {
			rows *= 4
		}
		for n := range rows {
			row := make([]int, len(desc))
			key := make([][]byte, len(desc))
			for i, x := 0, n; i < len(row); i, x = i+1, x/4 {
				row[i] = x%4 - 1
				key[i] = binary.BigEndian.AppendUint32(nil, uint32(int32(row[i])))
			}
			want := 1
			for _, p := range preds {
				if !p.holds(row) {
					want = 0
				}
			}
			got := 0
			for i, sl := range all {
				if sl.Contains(tb, key) {
					got++
					if b.Slices.Find(tb, key) != i {
						t.Fatalf("%s: row %v is in slice %d, not in %d", text, row, i, b.Slices.Find(tb, key))
					}
				}
			}
			if b.Slices.Contains(tb, key) != (want == 1) {
				t.Fatalf("%s: row %v is found in some slice: %v", text, row, want == 0)
			}
			if got != want {
				t.Fatalf("%s: row %v (descending: %v) is in %d slices, want %d: %v", text, row, desc, got, want, all)
			}
		}
	})
	if accepted == 0 {
		t.Fatal("no statement was accepted")
	}
}
