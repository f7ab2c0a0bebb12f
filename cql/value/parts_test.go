// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPartsAreWhatWasBuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]*Type{ListOf(Native(Blob), true), MapOf(Native(Blob), Native(Blob), true), TupleOf(Native(Blob), Native(Blob), Native(Blob)),
			VectorOf(Native(Blob), 3), VectorOf(Native(Int), 3)}).Draw(t, "type")
		n := rapid.IntRange(0, 5).Draw(t, "n")
		switch typ.Kind {
		case Map:
			n *= 2
		case Tuple, Vector:
			n = 3
		}
		parts := make([][]byte, n)
		for i := range parts {
			parts[i] = rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "part")
			if _, fixed := typ.Elems[0].FixedLen(); fixed {
				parts[i] = []byte{1, 2, 3, byte(i)}
			}
			if typ.Kind == Tuple && rapid.Bool().Draw(t, "null") {
				parts[i] = nil
			}
		}
		v := typ.Build(nil, parts)
		var got [][]byte
		p := typ.Parts(v)
		for p.Next() {
			got = append(got, p.Part())
		}
		if p.Malformed() || len(got) != n || !slices.EqualFunc(got, parts, func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }) {
			t.Fatalf("%s of %x is %x, which is %x", typ, parts, v, got)
		}
		if err := typ.Validate(v); err != nil {
			t.Fatal(err)
		}
		if typ.Collection() && typ.Len(v)*len(typ.Elems) != n {
			t.Fatalf("%d of %d parts", typ.Len(v), n)
		}
	})
}

func TestSort(t *testing.T) {
	int4 := func(n ...byte) (parts [][]byte) {
		for _, b := range n {
			parts = append(parts, []byte{0, 0, 0, b})
		}
		return parts
	}
	for _, c := range []struct {
		typ      *Type
		in, want [][]byte
	}{
		{SetOf(Native(Int), true), int4(3, 1, 2, 3, 1), int4(1, 2, 3)},
		{MapOf(Native(Int), Native(Int), true), int4(3, 30, 1, 10, 3, 31), int4(1, 10, 3, 31)},
		{ListOf(Native(Int), true), int4(3, 1), int4(3, 1)},
		{SetOf(Native(Int), true), nil, nil},
	} {
		if got := c.typ.Sort(c.in); !slices.EqualFunc(got, c.want, bytes.Equal) {
			t.Errorf("%s: %v, want %v", c.typ, got, c.want)
		}
	}
}

// uuid returns a version 1 uuid.
func uuid(b byte) []byte {
	u := bytes.Repeat([]byte{b}, 16)
	u[6] = 0x10
	return u
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	types := []*Type{Native(Int), Native(Text), Native(Timeuuid), Native(Double), Native(Varint), Native(Decimal), ListOf(Native(Int), true),
		TupleOf(Native(Int), Native(Text)), VectorOf(Native(Float), 2)}
	values := [][2][]byte{
		{{0, 0, 0, 1}, {0, 0, 0, 2}}, {[]byte("a"), []byte("b")}, {uuid(0), uuid(1)}, {make([]byte, 8), bytes.Repeat([]byte{1}, 8)},
		{{1}, {0, 1}}, {{0, 0, 0, 1, 10}, {0, 0, 0, 0, 1}},
		{ListOf(Native(Int), true).Build(nil, [][]byte{{0, 0, 0, 1}}), ListOf(Native(Int), true).Build(nil, [][]byte{{0, 0, 0, 2}})},
		{TupleOf(Native(Int), Native(Text)).Build(nil, [][]byte{{0, 0, 0, 1}, []byte("a")}), TupleOf(Native(Int), Native(Text)).Build(nil, [][]byte{{0, 0, 0, 1}})},
		{make([]byte, 8), bytes.Repeat([]byte{1}, 8)},
	}
	dst := make([]byte, 0, 100)
	for i, typ := range types {
		a, b := values[i][0], values[i][1]
		if n := testing.AllocsPerRun(100, func() {
			typ.Compare(a, b)
			dst = typ.Canonical(dst[:0], a)
			if typ.Validate(a) != nil {
				t.Fatal("malformed")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", typ, n)
		}
		if typ.Compare(a, b) == 0 && typ.Kind != Varint && typ.Kind != Decimal {
			t.Errorf("%s: 0x%x and 0x%x are equal", typ, a, b)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, c := range []struct {
		typ  *Type
		a, b []byte
	}{
		{Native(Int), []byte{0, 0, 0, 1}, []byte{0, 0, 0, 2}},
		{Native(Text), []byte("The quick brown fox"), []byte("The quick brown dog")},
		{Native(Timeuuid), uuid(0), uuid(1)},
		{Native(Decimal), []byte{0, 0, 0, 1, 15}, []byte{0, 0, 0, 2, 0, 150}},
		{TupleOf(Native(Int), Native(Text)), TupleOf(Native(Int), Native(Text)).Build(nil, [][]byte{{0, 0, 0, 1}, []byte("a")}), TupleOf(Native(Int), Native(Text)).Build(nil, [][]byte{{0, 0, 0, 1}, []byte("b")})},
	} {
		b.Run(fmt.Sprint(c.typ), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.typ.Compare(c.a, c.b)
			}
		})
	}
}
