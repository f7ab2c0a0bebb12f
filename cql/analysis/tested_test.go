// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

func fourBytes(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// TestTested compares what conditions find in a collection with a search from its start.
func TestTested(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	number := value.Native(value.Int)
	for _, typ := range []*value.Type{value.ListOf(number, true), value.SetOf(number, true), value.MapOf(number, number, true)} {
		for range 2000 {
			var parts [][]byte
			for range draw.IntN(6) * len(typ.Elems) {
				parts = append(parts, fourBytes(draw.IntN(8)))
			}
			if draw.IntN(2) == 0 {
				parts = typ.Sort(parts)
			}
			whole := typ.Build(nil, parts)
			present := NewTested(typ, whole)
			for range 4 {
				n := draw.IntN(9)
				want := fourBytes(n)
				same := func(p []byte) bool { return bytes.Equal(p, want) }
				switch typ.Kind {
				case value.List:
					var at []byte
					if n < len(parts) {
						at = parts[n]
					}
					if got := present.part(n); !bytes.Equal(got, at) {
						t.Fatalf("element %d of %x is %x", n, parts, got)
					}
				case value.Map:
					var of, keys, values []byte
					for i := 0; i < len(parts); i += 2 {
						if same(parts[i]) && of == nil {
							of = parts[i+1]
						}
						keys, values = append(keys, parts[i][3]), append(values, parts[i+1][3])
					}
					if got := present.entry(want); !bytes.Equal(got, of) {
						t.Fatalf("entry %d of %x is %x, not %x", n, parts, got, of)
					}
					if k, v := present.contains(want, true), present.contains(want, false); k != bytes.Contains(keys, want[3:]) || v != bytes.Contains(values, want[3:]) {
						t.Fatalf("%x contains %d: %v as a key, %v as a value", parts, n, k, v)
					}
					continue
				}
				if got := present.contains(want, false); got != slices.ContainsFunc(parts, same) {
					t.Fatalf("%x contains %d: %v", parts, n, got)
				}
			}
		}
	}
}

// TestTestedWork doubles both the number of conditions and the length of what they test. The
// steps are about doubled, not multiplied by four.
func TestTestedWork(t *testing.T) {
	number := value.Native(value.Int)
	list, pairs := value.ListOf(number, true), value.MapOf(number, number, true)
	of := func(typ *value.Type, c Condition) func(n, m int) int {
		return func(n, m int) int {
			var parts [][]byte
			for i := range m * len(typ.Elems) {
				parts = append(parts, fourBytes(i/len(typ.Elems)))
			}
			present := NewTested(typ, typ.Build(nil, parts))
			for i := range n {
				c.Column, c.Field = &schema.Column{Type: typ}, -1
				last := fourBytes(m - 1 - i%m)
				b := BoundCondition{Condition: &c, KeyValue: last, Values: [][]byte{last}}
				if ok, err := b.Applies(&present); !ok || err != nil {
					t.Fatalf("condition %d of %d on %d elements: %v %v", i, n, m, ok, err)
				}
			}
			return present.steps
		}
	}
	key := eval.Expr(&eval.Marker{})
	padded := func(n, m int) int {
		typ := value.Native(value.Varint)
		present := NewTested(typ, append(make([]byte, m), 1))
		for i := range n {
			c := Condition{Column: &schema.Column{Type: typ}, Field: -1, Op: syntax.OpLT}
			b := BoundCondition{Condition: &c, Values: [][]byte{fourBytes(i + 2)}}
			if ok, err := b.Applies(&present); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		return present.steps
	}
	for name, steps := range map[string]func(n, m int) int{
		"m[k] = v":            of(pairs, Condition{Key: key, Op: syntax.OpEQ}),
		"l[i] = v":            of(list, Condition{Key: key, Op: syntax.OpEQ}),
		"l CONTAINS v":        of(list, Condition{Op: syntax.OpContains}),
		"m CONTAINS v":        of(pairs, Condition{Op: syntax.OpContains}),
		"m CONTAINS KEY k":    of(pairs, Condition{Op: syntax.OpContainsKey}),
		"v < n, v with zeros": padded,
	} {
		if one, two := steps(1000, 1000), steps(2000, 2000); one == 0 || two > 3*one {
			t.Errorf("%s: %d steps for 1000 conditions on 1000 elements, %d for 2000 on 2000", name, one, two)
		}
	}
}

// TestMergedEntries checks that several entries wanted of one map become one filter, and that it
// matches the same rows as they do one by one.
func TestMergedEntries(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	number := func() []byte { return fourBytes(draw.IntN(4)) }
	c := &schema.Column{Name: "m", Type: value.MapOf(value.Native(value.Int), value.Native(value.Int), false)}
	matched := 0
	for range 5000 {
		var parts [][]byte
		for range draw.IntN(4) {
			parts = append(parts, number(), number())
		}
		cell := oneCell(c.Type.Build(nil, c.Type.Sort(parts)))
		var all []Filter
		for range draw.IntN(5) {
			all = append(all, Filter{Column: c, Op: syntax.OpEQ, Key: number(), Value: number()})
		}
		want := true
		for _, f := range all {
			want = want && f.Matches(cell)
		}
		merged := mergeEntries(append([]Filter(nil), all...))
		if len(merged) > 2 {
			t.Fatalf("%d filters are left of %d", len(merged), len(all))
		}
		got := true
		for _, f := range merged {
			got = got && f.Matches(cell)
		}
		if got != want {
			t.Fatalf("%v of % x: %v, not %v", all, cell, got, want)
		}
		if want && len(all) > 1 {
			matched++
		}
	}
	if matched == 0 {
		t.Errorf("only %d cells matched several filters", matched)
	}
}
