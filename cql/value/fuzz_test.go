// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"cmp"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// shapes are the types to fuzz, by number.
var shapes = func() []*Type {
	var types []*Type
	for k := Ascii; k <= Duration; k++ {
		types = append(types, Native(k))
	}
	n := func(k Kind) *Type { return Native(k) }
	return append(types, n(Empty), CustomOf("x"),
		ListOf(n(Varint), true), ListOf(n(Boolean), false), SetOf(n(Decimal), true), SetOf(n(Inet), true), MapOf(n(Double), n(Text), true),
		TupleOf(n(Int), n(Boolean)), TupleOf(TupleOf(n(Varint)), n(Blob)), VectorOf(n(Float), 2), VectorOf(n(Varint), 2),
		VectorOf(TupleOf(n(Boolean)), 2), UDTOf("k", "u", []string{"a", "b"}, []*Type{n(Decimal), SetOf(n(Boolean), true)}, true),
		ListOf(SetOf(TupleOf(n(Float)), true), true), MapOf(SetOf(n(Varint), true), ListOf(n(Duration), true), true))
}()

func shape(n uint8) *Type { return shapes[int(n)%len(shapes)] }

// FuzzValue calls every operation with three values, malformed or not. It checks that Compare is a
// total order and that Canonical agrees with it.
func FuzzValue(f *testing.F) {
	for i := range shapes {
		f.Add(uint8(i), []byte{}, []byte{0, 0, 0, 1, 0, 0, 0, 1, 2}, []byte{0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0, 1, 255})
		f.Add(uint8(i), []byte{1}, []byte{0, 1}, []byte{0x7f, 0xc0, 0, 0, 0x7f, 0xc0, 0, 1})
	}
	f.Fuzz(func(t *testing.T, n uint8, a, b, c []byte) {
		typ := shape(n)
		for _, v := range [][]byte{a, b, c} {
			checkValue(t, typ, v)
		}
		ab, ba := typ.Compare(a, b), typ.Compare(b, a)
		if cmp.Compare(ab, 0) != cmp.Compare(0, ba) {
			t.Fatalf("%s: 0x%x with 0x%x is %d, the other way %d", typ, a, b, ab, ba)
		}
		if bc := typ.Compare(b, c); ab <= 0 && bc <= 0 {
			ac := typ.Compare(a, c)
			if ac > 0 || ac == 0 && (ab < 0 || bc < 0) {
				t.Fatalf("%s: 0x%x, 0x%x, 0x%x: %d, %d, %d", typ, a, b, c, ab, bc, ac)
			}
		}
		if ab == 0 && !bytes.Equal(typ.Canonical(nil, a), typ.Canonical(nil, b)) {
			t.Fatalf("%s: 0x%x and 0x%x are equal, and differ canonically", typ, a, b)
		}
	})
}

func checkValue(t *testing.T, typ *Type, v []byte) {
	if typ.Compare(v, v) != 0 {
		t.Fatalf("%s: 0x%x differs from itself", typ, v)
	}
	valid := typ.Validate(v) == nil
	jsonText(typ, v)
	typ.Format(nil, v)
	canonical := typ.Canonical(nil, v)
	bound, err := typ.Bind(v)
	if err == nil && !valid {
		t.Fatalf("%s: 0x%x is bound and not valid", typ, v)
	}
	if err == nil && !bytes.Equal(typ.Canonical(nil, bound), canonical) {
		t.Fatalf("%s: 0x%x and what is stored of it differ canonically", typ, v)
	}
	if err == nil {
		if again, err := typ.Bind(bound); err != nil || !bytes.Equal(again, bound) {
			t.Fatalf("%s: 0x%x bound is 0x%x, bound again 0x%x, %v", typ, v, bound, again, err)
		}
	}
	if !valid {
		return
	}
	if again := typ.Canonical(nil, canonical); !bytes.Equal(again, canonical) {
		t.Fatalf("%s: 0x%x canonical is 0x%x, again 0x%x", typ, v, canonical, again)
	}
	if err := typ.Validate(canonical); err != nil && len(canonical) > 0 {
		t.Fatalf("%s: 0x%x canonical is 0x%x: %v", typ, v, canonical, err)
	}
	if typ.CanonicalIsSame() && !bytes.Equal(canonical, v) {
		t.Fatalf("%s: 0x%x is canonically 0x%x", typ, v, canonical)
	}
	if len(typ.Elems) == 0 && len(v) > 0 && typ.Kind != Custom && typ.Kind != Blob && typ.Kind != Timestamp && typ.Kind != Inet && typ.Kind != Duration {
		back, err := typ.FromString(string(typ.plain(nil, v)))
		if typ.Kind == Time && err != nil {
			return // not a time of day
		}
		if _, scale := BigDecimal(v); typ.Kind == Decimal && err != nil && (scale < -1<<31+1000 || scale > 1<<31-1000) {
			return // Java cannot read its own text here
		}
		if err != nil || typ.Compare(back, v) != 0 {
			t.Fatalf("%s: 0x%x is %q, which is 0x%x, %v", typ, v, typ.plain(nil, v), back, err)
		}
	}
}

// FuzzText parses a text in every possible way.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "1", "-1.5e3", "true", "2020-07-09 12:00:01.5+0200", "+292278994-08-17", "12:00:01.1", "1y2mo3d", "P1Y2M3DT4H5M6S", "P0001-02-03T04:05:06",
		"::ffff:1.2.3.4", "123e4567-e89b-12d3-a456-426614174000", `{"a": [1, "x", null], "\"B\"": {"c": 1.5e3}}`, `"\ud83d\ude00"`, `["1.0", 2]`, "1:@:a\\:b",
		"frozen<map<text, tuple<int, u>>>", "org.apache.cassandra.db.marshal.MapType(UTF8Type,VectorType(FloatType , 3))", "0x1.8p3f", "2020-07-09 12:00 Europe/Berlin"} {
		for i := range shapes {
			f.Add(uint8(i), s)
		}
	}
	// The empty text is the empty value, even for types that allow no empty value, as in Cassandra.
	f.Fuzz(func(t *testing.T, n uint8, s string) {
		typ := shape(n)
		if v, err := typ.FromString(s); err == nil && len(v) > 0 && typ.Kind != Text && typ.Kind != Custom && len(typ.Elems) == 0 {
			if err := typ.Validate(v); err != nil {
				t.Fatalf("%s: %q is 0x%x: %v", typ, s, v, err)
			}
		}
		if v, err := fromJSON(typ, s); err == nil && len(v) > 0 && typ.Kind != Custom && typ.Kind != Text && len(typ.Elems) == 0 {
			if err := typ.Validate(v); err != nil {
				t.Fatalf("%s: %s is 0x%x: %v", typ, s, v, err)
			}
		}
		for k := StringLiteral; k <= DurationLiteral; k++ {
			_, _ = typ.FromLiteral(k, s)
			Preferred(k, s)
		}
		if values, _, err := Members([]byte(s), 1, func(name []byte) int { return len(name) - 1 }); err == nil {
			_, _ = fromJSON(typ, string(values[0]))
		}
		if c, _, err := ParseClass(s); err == nil {
			if back, _, err := ParseClass(c.Class()); err != nil || !back.Equal(c) {
				t.Fatalf("%q is %s, which is %v, %v", s, c.Class(), back, err)
			}
		}
		_, _ = ParseType(s, func(string) (*Type, error) { return shape(n), nil })
	})
}

func TestNumbersParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "digits"))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		v := AppendVarint(nil, n)
		if BigInt(v).Cmp(n) != 0 || !bytes.Equal(trimVarint(v), v) {
			t.Fatalf("%s is 0x%x, which is %s", n, v, BigInt(v))
		}
		scale := rapid.Int32().Draw(t, "scale")
		d := AppendDecimal(nil, n, scale)
		text := string(formatDecimal(nil, n, scale))
		m, s, ok := ParseDecimal(text)
		if !ok {
			// For some decimals Java writes an exponent that it cannot read.
			if int64(scale)-int64(len(n.String())) > -1<<31+32 && int64(scale) < 1<<31-32 {
				t.Fatalf("%s e-%d is %q, which does not parse", n, scale, text)
			}
			return
		}
		if compareDecimal(AppendDecimal(nil, m, s), d) != 0 {
			t.Fatalf("%s e-%d is %q, which is %s e-%d", n, scale, text, m, s)
		}
		u := rapid.Uint64().Draw(t, "vint") >> rapid.IntRange(0, 63).Draw(t, "shift")
		w := appendVint(nil, u)
		if back, size := readVint(w); back != u || size != len(w) || unzigzag(zigzag(int64(u))) != int64(u) {
			t.Fatalf("%d is 0x%x, which is %d", u, w, back)
		}
	})
}

func TestSpansParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Span{rapid.Int32Min(0).Draw(t, "months"), rapid.Int32Min(0).Draw(t, "days"), rapid.Int64Min(0).Draw(t, "nanos")}
		if rapid.Bool().Draw(t, "negative") {
			s = Span{-s.Months, -s.Days, -s.Nanos}
		}
		if back, ok := SpanOf(s.Append(nil)); !ok || back != s {
			t.Fatalf("%v is 0x%x, which is %v", s, s.Append(nil), back)
		}
		if back, err := ParseSpan(s.String()); s != (Span{}) && (err != nil || back != s) {
			t.Fatalf("%v is %s, which is %v, %v", s, s, back, err)
		}
	})
}
