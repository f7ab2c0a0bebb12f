// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// TestLookups looks into long collections many times. Each look finds what a search from the
// beginning finds, also in collections that are not sorted, have an element twice, or are damaged.
func TestLookups(t *testing.T) {
	kinds := map[string]*value.Type{
		"map": value.MapOf(value.Native(value.Decimal), value.Native(value.Text), true),
		"set": value.SetOf(value.Native(value.Decimal), true),
	}
	for name, kind := range kinds {
		column := &Column{Cell: 0, Column: &schema.Column{Name: name, Type: kind}}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			decimal := func(label string) []byte { // 10 and 1.0e1 are equal, and have other bytes
				n, scale := rapid.Int64Range(-50, 50).Draw(t, label), rapid.Int32Range(0, 1).Draw(t, "scale")
				if scale == 1 {
					n *= 10
				}
				return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, uint32(scale)), uint64(n))
			}
			var parts [][]byte
			for i := range rapid.IntRange(300, 400).Draw(t, "n") {
				parts = append(parts, decimal("element"))
				if kind.Kind == value.Map {
					parts = append(parts, fmt.Append(nil, "value ", i))
				}
			}
			v := kind.Build(nil, parts)
			v = v[:len(v)-rapid.IntRange(0, 9).Draw(t, "cut")]
			ev := evaluate(&Env{}, nil)
			for range 3 * manyLooks {
				key := decimal("key")
				i, part := find(kind, v, key)
				gotI, got, err := ev.find(column, v, key)
				if err != nil || gotI != i || !bytes.Equal(got, part) {
					t.Fatalf("%x at %d: %x, %v; want %x at %d", key, gotI, got, err, part, i)
				}
			}
			if len(ev.lookups) != 1 || ev.lookups[&v[0]].sorted == nil {
				t.Fatalf("not sorted: %v", ev.lookups)
			}
		}))
	}
}

// TestLookupsAreCounted checks that the places of a long collection count as memory of the request.
func TestLookupsAreCounted(t *testing.T) {
	kind := value.SetOf(value.Native(value.Int), false)
	var parts [][]byte
	for i := range 10_000 {
		parts = append(parts, encodeInt(int64(i)))
	}
	column := &Column{Cell: 0, Column: &schema.Column{Name: "s", Type: kind}}
	s := &Selection{}
	for i := range 2 * manyLooks {
		s.Exprs = append(s.Exprs, &Element{Of: column, Key: &Const{T: kind.Elems[0], Value: encodeInt(int64(i))}})
	}
	row := Cells{kind.Build(nil, parts)}
	memory := &store{most: 1 << 20}
	if got, err := s.Row(&Env{Memory: memory}, row, nil); err != nil || !bytes.Equal(got[2*manyLooks-1], encodeInt(2*manyLooks-1)) {
		t.Errorf("%x, %v", got, err)
	}
	if memory.asked < 80_000 {
		t.Errorf("asked for %d bytes", memory.asked)
	}
	if _, err := s.Row(&Env{Memory: &store{most: 1 << 10}}, row, nil); err == nil {
		t.Error("the places do not count")
	}
}

// BenchmarkLookups looks n times into a map of 100,000 entries: a search from the beginning beside
// lookups.
func BenchmarkLookups(b *testing.B) {
	kind := value.MapOf(value.Native(value.Int), value.Native(value.Int), false)
	var parts [][]byte
	for i := range 100_000 {
		parts = append(parts, encodeInt(int64(i)), encodeInt(1))
	}
	v := kind.Build(nil, parts)
	column := &Column{Cell: 0, Column: &schema.Column{Name: "m", Type: kind}}
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint("search/", n), func(b *testing.B) {
			for b.Loop() {
				for i := range n {
					find(kind, v, encodeInt(int64(i*99)))
				}
			}
		})
		b.Run(fmt.Sprint("lookups/", n), func(b *testing.B) {
			for b.Loop() {
				ev := evaluate(&Env{}, nil)
				for i := range n {
					if _, _, err := ev.find(column, v, encodeInt(int64(i*99))); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
