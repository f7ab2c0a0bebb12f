// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// The beginnings of hashes as in dynalite, which found out DynamoDB's own.
var hashVectors = []struct {
	kind attribute.Kind
	text string
	hash string
}{
	{attribute.N, "0", "ce212d"},
	{attribute.N, "1", "c3a031"},
	{attribute.N, "-1", "0267df"},
	{attribute.N, "10", "3c465f"},
	{attribute.N, "-10", "63129f"},
	{attribute.N, "1.5", "8158bd"},
	{attribute.N, "-1.5", "98f4b1"},
	{attribute.N, "0.1", "e2d171"},
	{attribute.N, "-0.1", "62d411"},
	{attribute.N, "0.01", "355037"},
	{attribute.N, "0.001", "3223fe"},
	{attribute.N, "123456", "c9ff63"},
	{attribute.N, "-123456", "fd4015"},
	{attribute.N, "1234567", "7a0b17"},
	{attribute.N, "99999999999999999999999999999999999999", "be31f6"},
	{attribute.N, "-99999999999999999999999999999999999999", "1ee423"},
	{attribute.N, "-9999999999999999999999999999999999999", "ce8383"},
	{attribute.N, "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "2f2857"},
	{attribute.N, "-100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "88ac34"},
	{attribute.N, "0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001", "727de7"},
	{attribute.N, "-0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001", "3ad3e0"},
	{attribute.N, "999999999999999999999999999999999999990000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "459670"},
	{attribute.N, "3.14159", "fbe1c2"},
	{attribute.N, "100", "6840bd"},
	{attribute.N, "1000", "47ad4a"},
	{attribute.N, "-1000.001", "375841"},
	{attribute.S, "a", "f6558e"},
	{attribute.S, "", "65a4c0"},
	{attribute.S, "\u00fc", "cba33c"},
	{attribute.S, "121212", "e155f6"},
	{attribute.S, "x\x00y", "5a9f7e"},
}

func value(t testing.TB, k attribute.Kind, text string) attribute.Value {
	t.Helper()
	switch k {
	case attribute.S:
		return attribute.String(text)
	case attribute.B:
		return attribute.Binary(text)
	}
	v, err := attribute.Number(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestHashVectors(t *testing.T) {
	for _, v := range hashVectors {
		if got := fmt.Sprintf("%x", appendHash(nil, value(t, v.kind, v.text))); !strings.HasPrefix(got, v.hash) {
			t.Errorf("%s %q: %s, not %s…", v.kind, v.text, got, v.hash)
		}
	}
	if got := fmt.Sprintf("%x", appendHash(nil, attribute.String("a"), value(t, attribute.N, "12"))); !strings.HasPrefix(got, "e6caaa") {
		t.Errorf("two values: %s", got)
	}
}

func drawValue(t *rapid.T, k attribute.Kind) attribute.Value {
	if k == attribute.N {
		v, err := attribute.Number(rapid.SampledFrom([]string{"0", "1", "-1", "1.5", "-1.5", "10", "-10", "100", "0.01", "1e100", "-1e100", "12", "-12", "1.25", "99", "-99"}).Draw(t, "n"))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	text := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "a\x00", "a\x00b", "a\xff", "\xff", "\xff\xff", "\x00", "\x01", "b\x00\x01"}).Draw(t, "text")
	if k == attribute.B {
		return attribute.Binary(text)
	}
	return attribute.String(strings.ToValidUTF8(text, "ü"))
}

// A key condition holds for exactly the keys between its bounds.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attribute.Kind{attribute.S, attribute.N, attribute.B}).Draw(t, "kind")
		k := expression.KeyRange{Hash: []attribute.Value{drawValue(t, attribute.S)}}
		k.Op = expression.RangeOp(rapid.IntRange(int(expression.NoRange), int(expression.Between)).Draw(t, "op"))
		if k.Op == expression.BeginsWith && kind == attribute.N {
			k.Op = expression.Equal
		}
		k.Low, k.High = drawValue(t, kind), drawValue(t, kind)
		hash, sort := drawValue(t, attribute.S), drawValue(t, kind)
		lower, upper := bounds([]byte("p"), &k)
		key := attribute.AppendKey(appendPartition([]byte("p"), []attribute.Value{hash}), sort)
		in := bytes.Compare(lower, key) <= 0 && bytes.Compare(key, upper) < 0

		low, _ := attribute.Compare(sort, k.Low)
		high, _ := attribute.Compare(sort, k.High)
		want := hash.Equal(k.Hash[0]) && map[expression.RangeOp]bool{
			expression.NoRange: true, expression.Equal: low == 0, expression.Less: low < 0, expression.LessOrEqual: low <= 0,
			expression.Greater: low > 0, expression.GreaterOrEqual: low >= 0,
			expression.BeginsWith: strings.HasPrefix(sort.Text(), k.Low.Text()), expression.Between: low >= 0 && high <= 0,
		}[k.Op]
		if in != want {
			t.Fatalf("%v in %v %v..%v: %v, not %v", sort, k.Op, k.Low, k.High, in, want)
		}
	})
}

// The segments of a scan cover all hashes, each hash once.
func TestSegments(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 4096, 1_000_000} {
		last := []byte("p")
		for i := range n {
			lower, upper := segment([]byte("p"), i, n)
			if i == 0 {
				lower = lower[:1] // there is no hash before 00000000
			}
			if !bytes.Equal(lower, last) || bytes.Compare(lower, upper) >= 0 {
				t.Fatalf("segment %d of %d: %x..%x after %x", i, n, lower, upper, last)
			}
			last = upper
		}
		if !bytes.Equal(last, []byte("q")) {
			t.Fatalf("%d segments end at %x", n, last)
		}
	}
}

func TestAppendAfter(t *testing.T) {
	for _, c := range [][2]string{{"a", "b"}, {"a\xff", "b"}, {"a\x00", "a\x01"}, {"a\xff\xff", "b"}} {
		if got := string(appendAfter([]byte("x"), []byte(c[0]))); got != "x"+c[1] {
			t.Errorf("after %q: %q", c[0], got)
		}
	}
}

// Keys of items are ordered by hash, then partition key, then sort key.
func TestItemKeysKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attribute.Kind{attribute.S, attribute.N, attribute.B}).Draw(t, "kind")
		partition := drawValue(t, attribute.S)
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) attribute.Value { return drawValue(t, kind) }), 2, 12).Draw(t, "values")
		slices.SortFunc(values, func(a, b attribute.Value) int { c, _ := attribute.Compare(a, b); return c })
		var last []byte
		for i, v := range values {
			key := attribute.AppendKey(appendPartition(nil, []attribute.Value{partition}), v)
			if i > 0 {
				want, _ := attribute.Compare(values[i-1], v)
				if got := bytes.Compare(last, key); got != cmp.Compare(want, 0) {
					t.Fatalf("%v and %v: %d", values[i-1], v, got)
				}
			}
			last = key
		}
	})
}
