// SPDX-License-Identifier: Apache-2.0

package attribute_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// The script decodes items. The output is the canonical text and the size, or AWS's error.
func TestItems(t *testing.T) {
	datadriven.RunTest(t, "testdata/items", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			var dec attribute.Decoder
			item, err := dec.Item([]byte(strings.TrimSpace(line)))
			if err == nil {
				err = item.Validate()
			}
			if err == nil {
				err = item.ValidateNesting()
			}
			if err != nil {
				e := exception.Of(err)
				fmt.Fprintf(&out, "%s: %s\n", e.Kind, e.Message)
				continue
			}
			fmt.Fprintf(&out, "%s %d\n", item, item.Size())
		}
		return out.String()
	})
}

func TestNesting(t *testing.T) {
	// Recorded from AWS: 31 maps around a string are accepted, 32 are refused.
	for levels, want := range map[int]bool{1: true, 32: true, 33: false, 100: false} {
		for _, leaf := range []string{`{"S":"leaf"}`, `{"M":{}}`, `{"SS":["leaf"]}`} {
			src := `{"a":` + strings.Repeat(`{"M":{"n":`, levels-1) + leaf + strings.Repeat(`}}`, levels-1) + `}`
			var d attribute.Decoder
			item, err := d.Item([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if err := item.ValidateNesting(); (err == nil) != want {
				t.Errorf("%d levels, the last of which is %s: %v", levels, leaf, err)
			}
		}
		src := `{"a":` + strings.Repeat(`{"L":[`, levels) + strings.Repeat(`]}`, levels) + `}`
		var d attribute.Decoder
		item, err := d.Item([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if err := item.ValidateNesting(); (err == nil) != want {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
	var d attribute.Decoder
	if _, err := d.Item([]byte(`{"a":` + strings.Repeat(`{"L":[`, 100_000))); exception.Of(err).Kind != exception.Serialization {
		t.Errorf("100,000 levels: %v", err)
	}
}

// drawScalar draws an S, N or B.
func drawScalar(t *rapid.T, k attribute.Kind) attribute.Value {
	switch k {
	case attribute.N:
		return drawNumber(t)
	case attribute.B:
		return attribute.Binary(string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0x7f, 0xfe, 0xff}), 0, 5).Draw(t, "B")))
	}
	if rapid.Bool().Draw(t, "short") {
		return attribute.String(rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 'a', 'b', 'é', 0x10ffff}), 0, 4, -1).Draw(t, "S"))
	}
	return attribute.String(rapid.String().Draw(t, "S"))
}

func drawValue(t *rapid.T, depth int) attribute.Value {
	k := attribute.Kind(rapid.IntRange(int(attribute.S), int(attribute.NULL)).Draw(t, "kind"))
	if depth == 0 && (k == attribute.L || k == attribute.M) {
		k = attribute.S
	}
	switch k {
	case attribute.S, attribute.N, attribute.B:
		return drawScalar(t, k)
	case attribute.BOOL:
		return attribute.Bool(rapid.Bool().Draw(t, "BOOL"))
	case attribute.NULL:
		return attribute.Null()
	case attribute.M:
		return attribute.Map(drawItem(t, depth-1))
	case attribute.L:
		var elems []attribute.Value
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			elems = append(elems, drawValue(t, depth-1))
		}
		return attribute.List(elems)
	}
	var elems []attribute.Value
	seen := map[string]bool{}
	for range rapid.IntRange(1, 20).Draw(t, "elements") {
		if e := drawScalar(t, k.Element()); !seen[e.Text()] {
			seen[e.Text()] = true
			elems = append(elems, e)
		}
	}
	return attribute.Set(k, elems)
}

func drawItem(t *rapid.T, depth int) attribute.Item {
	var attributes []attribute.Attribute
	for range rapid.IntRange(0, 4).Draw(t, "attributes") {
		attributes = append(attributes, attribute.Attribute{Name: rapid.StringN(1, -1, -1).Draw(t, "name"), Value: drawValue(t, depth)})
	}
	return attribute.NewItem(attributes...)
}

// The encoded text is JSON, and is decoded to an equal item.
func TestEncodingDecodes(t *testing.T) {
	var d attribute.Decoder
	rapid.Check(t, func(t *rapid.T) {
		d.Reset()
		item := drawItem(t, 3)
		text := item.Encode()
		if !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
		back, err := d.Item(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := back.Validate(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !back.Equal(item) || back.Size() != item.Size() {
			t.Fatalf("%s came back as %s", text, back)
		}
		if again := back.Encode(); !bytes.Equal(again, text) {
			t.Fatalf("%s is encoded again as %s", text, again)
		}
		var names []string
		for i := range item {
			if rapid.Bool().Draw(t, "wanted") {
				names = append(names, item[i].Name)
			}
		}
		names = append(names, rapid.StringN(1, -1, -1).Draw(t, "another name"))
		some, err := d.Some(text, names...)
		if want := item.Only(names...); err != nil || !some.Equal(want) || len(some) != len(want) {
			t.Fatalf("%q of %s are %s, %v; want %s", names, text, some, err, want)
		}
	})
}

// Sets are equal in any order, both small and large ones.
func TestSetsEqualInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		var elems []attribute.Value
		for i := range n {
			elems = append(elems, attribute.Int(int64(i)))
		}
		v := attribute.Set(attribute.NS, elems)
		shuffled := attribute.Set(attribute.NS, rapid.Permutation(elems).Draw(t, "shuffled"))
		if !v.Equal(shuffled) {
			t.Fatalf("%s and %s differ", v, shuffled)
		}
		other := append([]attribute.Value(nil), shuffled.Elems()...)
		other[rapid.IntRange(0, n-1).Draw(t, "i")] = attribute.Int(-1)
		if v.Equal(attribute.Set(attribute.NS, other)) {
			t.Fatalf("%s and %v are equal", v, other)
		}
	})
}

func TestItemWithAndWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := drawItem(t, 1)
		before := item.Encode()
		name := rapid.SampledFrom([]string{"", "a", "zz", "\x00"}).Draw(t, "name")
		with := item.With(name, attribute.Null())
		if v, ok := with.Get(name); !ok || v.Kind() != attribute.NULL {
			t.Fatalf("%s with %q is %s", before, name, with)
		}
		without := with.Without(name)
		if without.Has(name) || len(without) != len(with)-1 {
			t.Fatalf("%s without %q is %s", with, name, without)
		}
		if !bytes.Equal(item.Encode(), before) {
			t.Fatalf("%s was changed to %s", before, item)
		}
	})
}

func FuzzItem(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":{"S":"b"}}`, `{"a":{"N":"1e5"},"b":{"B":"AAE="}}`, `{"a":{"SS":["x","x"]}}`, `{"a":{"M":{"b":{"L":[{"NULL":true},{"BOOL":false}]}}}}`,
		`{"a":{"S":"\ud83d\ude00\u0000"}}`, `{"a":{"S":"x","N":"1"}}`, `{"b":{"NS":["1","2"]},"a":{"BS":["AQ=="]},"b":{"S":""}}`, `[`, `{"a":`, `{"a":{"L":[null]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var d attribute.Decoder
		item, err := d.Item(src)
		if err != nil {
			if exception.Of(err).Kind != exception.Serialization {
				t.Errorf("%q: %v", src, err)
			}
			return
		}
		if !json.Valid(src) {
			t.Errorf("%q is no JSON, but an item", src)
		}
		if item.Validate() != nil {
			return
		}
		text := item.Encode()
		var d2 attribute.Decoder
		back, err := d2.Item(text)
		if err != nil || !back.Equal(item) || !bytes.Equal(back.Encode(), text) {
			t.Errorf("%q: %s comes back as %s, %v", src, text, back, err)
		}
	})
}
