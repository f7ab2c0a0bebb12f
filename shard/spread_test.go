// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/partitioner"
)

// bigint orders serialized bigints, as the type does.
func bigint(a, b []byte) int {
	return cmp.Compare(int64(binary.BigEndian.Uint64(a)), int64(binary.BigEndian.Uint64(b)))
}

func serialized(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

var kinds = map[string]TimeKind{"text": 0, "date": Date, "timestamp": Timestamp, "timeuuid": Timeuuid}

// TestSpreadVectors holds keys with numbers of shards of their own, epochs of keys and of
// rows, to what another implementation gives (testdata/vectors.py spreads).
func TestSpreadVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/spreads.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Options map[string]string
		Keys    map[string]string
		Kinds   []string
		Key, By []string
		Shard   int
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 300 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	decode := func(list []string) (out [][]byte) {
		for _, s := range list {
			b, err := hex.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b)
		}
		return out
	}
	for i, v := range vectors {
		l, err := Parse(v.Options)
		if err != nil {
			t.Fatal(err)
		}
		var columns []KeyColumn
		for _, k := range v.Kinds {
			columns = append(columns, KeyColumn{k, kinds[k]})
		}
		if l, err = l.Resolve(columns); err != nil {
			t.Fatal(err)
		}
		own := map[string]Spread{}
		for k, text := range v.Keys {
			if own[string(decode([]string{k})[0])], err = ParseSpread(text); err != nil {
				t.Fatal(err)
			}
		}
		l.Keys = NewKeys(1, own)
		components, by := decode(v.Key), decode(v.By)
		key := components[0]
		if len(components) > 1 {
			key = partitioner.AppendComposite(nil, components...)
		}
		s := l.Spread(key)
		if got := l.Place(s.Of(by[0], bigint), by...); got != v.Shard {
			t.Errorf("vector %d: %v of %v in %v, %v: %d, want %d", i, v.By, v.Key, v.Options, v.Keys, got, v.Shard)
		}
	}
}

// TestSpreadsOwner draws layouts and holds the order in which a key's spread is looked
// for: its own entry, the epoch that it falls into, the default.
func TestSpreadsOwner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := drawLayout(t)
		at := rapid.Int64Range(-10, 10).Draw(t, "instant")
		key := serialized(at)
		want := l.Default()
		for _, e := range l.Epochs {
			if at >= e.From {
				want = Spread{Range: e.Range}
			}
		}
		if s, ok := l.Keys.Of(key); ok {
			want = s
		}
		if got := l.Spread(key); !got.Equal(want) {
			t.Fatalf("%s: %s, want %s", l, got, want)
		}
		if got := l.Shards(key); got != want.N {
			t.Fatalf("%d shards, want %d", got, want.N)
		}
		if home := l.Home(key); !want.Range.Contains(home) {
			t.Fatalf("static columns in %d, outside %s", home, want.Range)
		}
	})
}

// TestRowsAreInTheirPlaces holds, over drawn spreads, that a row's shard is one of its
// epoch's, of the places of its key, and of those of any interval that it is in.
func TestRowsAreInTheirPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, s := drawLayout(t)
		at := rapid.Int64Range(-12, 12).Draw(t, "first")
		first := serialized(at)
		r := s.Of(first, bigint)
		want := s.Range
		for _, e := range s.Rows {
			if bigint(first, e.From) >= 0 {
				want = e.Range
			}
		}
		if r != want {
			t.Fatalf("%s: row %d in %s, want %s", s, at, r, want)
		}
		n := l.Place(r, first, rapid.SliceOf(rapid.Byte()).Draw(t, "second"))
		if !r.Contains(n) || !slices.Contains(s.Places(), n) {
			t.Fatalf("shard %d, of %s, places %v", n, r, s.Places())
		}
		places := s.Places()
		if !slices.IsSorted(places) || len(slices.Compact(slices.Clone(places))) != len(places) || places[len(places)-1] != s.Last() {
			t.Fatalf("places %v, the last %d", places, s.Last())
		}
		var low, high []byte
		if rapid.Bool().Draw(t, "low") {
			low = serialized(at - rapid.Int64Range(0, 9).Draw(t, "below"))
		}
		if rapid.Bool().Draw(t, "high") {
			high = serialized(at + rapid.Int64Range(0, 9).Draw(t, "above"))
		}
		between := s.Between(low, high, bigint)
		if !slices.Contains(between, r) {
			t.Fatalf("%s from %x to %x: %v, without row %d's %s", s, low, high, between, at, r)
		}
		if low != nil && bytes.Equal(low, high) && len(between) != 1 {
			t.Fatalf("%s of one value: %v", s, between)
		}
	})
}

// drawLayout draws a layout whose partition key is a timestamp, and a spread.
func drawLayout(t *rapid.T) (*Layout, Spread) {
	rng := rapid.Custom(func(t *rapid.T) Range {
		return Range{rapid.IntRange(1, 20).Draw(t, "n"), rapid.SampledFrom([]int{0, 0, 1, 7, 30, MaxBase}).Draw(t, "base")}
	})
	spread := rapid.Custom(func(t *rapid.T) Spread {
		s := Spread{Range: rng.Draw(t, "range")}
		froms := rapid.SliceOfNDistinct(rapid.Int64Range(-10, 10), 0, 3, rapid.ID).Draw(t, "rows")
		slices.Sort(froms)
		for _, from := range froms {
			s.Rows = append(s.Rows, RowEpoch{serialized(from), rng.Draw(t, "of rows")})
		}
		return s
	})
	s := spread.Draw(t, "default")
	l := &Layout{N: s.N, Base: s.Base, Rows: s.Rows, Column: DefaultColumn}
	froms := rapid.SliceOfNDistinct(rapid.Int64Range(-10, 10), 0, 3, rapid.ID).Draw(t, "epochs")
	slices.Sort(froms)
	for _, from := range froms {
		l.Epochs = append(l.Epochs, KeyEpoch{from, rng.Draw(t, "of keys")})
	}
	own := map[string]Spread{}
	for range rapid.IntRange(0, 3).Draw(t, "keys") {
		own[string(serialized(rapid.Int64Range(-10, 10).Draw(t, "key")))] = spread.Draw(t, "own")
	}
	l.Keys = NewKeys(1, own)
	back, err := Parse(l.Options())
	if err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	back.Keys = l.Keys
	if !back.Equal(l) || !maps.Equal(back.Options(), l.Options()) {
		t.Fatalf("%s reads back as %s", l, back)
	}
	for _, s := range own {
		if again, err := ParseSpread(s.String()); err != nil || !again.Equal(s) {
			t.Fatalf("%s: %v, %v", s, again, err)
		}
	}
	l, err = back.Resolve([]KeyColumn{{"t", Timestamp}})
	if err != nil {
		t.Fatal(err)
	}
	return l, s
}

func TestSpreadsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ option, value, fault string }{
		{"base", "-1", "'base' is '-1'"},
		{"base", "1073741825", "from 0 to 1073741824"},
		{"epochs", "", "an epoch is written as '64 from …'"},
		{"epochs", "64 from yesterday", `"yesterday" is not an instant`},
		{"epochs", "0 from 2020-01-01", "from 1 to 10000"},
		{"epochs", "8 from 2020-01-02, 9 from 2020-01-01", "in the order of their instants"},
		{"epochs", "8 from 2020-01-02, 9 from 2020-01-02", "each once"},
		{"epochs", "8@x from 2020-01-02", `"x" is not a base`},
		{"epochs", strings.Repeat("8 from 2020-01-02, ", 200), "an epoch is written"},
		{"row_epochs", "8 from 5", "not a serialized value"},
		{"row_epochs", "8 from 0xabc", "not a serialized value"},
		{"row_epochs", strings.TrimSuffix(strings.Repeat("8 from 0xab, ", 101), ", "), "101 epochs"},
	} {
		if _, err := Parse(map[string]string{"shards": "2", c.option: c.value}); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s %q: %v, want %s", c.option, c.value, err, c.fault)
		}
	}
	if _, err := Parse(map[string]string{"shards": "2", "strategy": "random", "row_epochs": "8 from 0xab"}); err == nil || !strings.Contains(err.Error(), "means nothing") {
		t.Errorf("random with epochs of rows: %v", err)
	}
	l, err := Parse(map[string]string{"shards": "2", "epochs": "8 from 2020-01-01"})
	if err != nil {
		t.Fatal(err)
	}
	for fault, columns := range map[string][]KeyColumn{"of type date, timestamp or timeuuid": {{"a", 0}}, "a and b": {{"a", Date}, {"b", Timeuuid}}} {
		if _, err := l.Resolve(columns); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%v: %v, want %s", columns, err, fault)
		}
	}
}

// TestKeysOfALaterGeneration checks that a set of keys does not change when another set is made
// from it.
func TestKeysOfALaterGeneration(t *testing.T) {
	a := NewKeys(1, map[string]Spread{"x": {Range: Range{N: 2}}, "y": {Range: Range{N: 3}}})
	b := a.With(2, map[string]Spread{"x": {Range: Range{N: 4, Base: 2}}, "y": {}, "z": {Range: Range{N: 5}}})
	if s, _ := a.Of([]byte("x")); s.N != 2 || a.Len() != 2 || a.Generation() != 1 {
		t.Errorf("the earlier set became %v", a)
	}
	if s, _ := b.Of([]byte("x")); s.N != 4 || s.Base != 2 || b.Len() != 2 || b.Generation() != 2 || a.Equal(b) {
		t.Errorf("the later set is %v", b)
	}
	if _, ok := b.Of([]byte("y")); ok {
		t.Error("a key that gave up its own spread has it still")
	}
	var none *Keys
	if !none.Equal(NewKeys(3, nil)) || none.With(1, map[string]Spread{"k": {Range: Range{N: 9}}}).Len() != 1 {
		t.Error("no keys are not the empty set")
	}
}

// TestKeysTexts writes and reads keys with spreads of their own.
func TestKeysTexts(t *testing.T) {
	k := NewKeys(1, map[string]Spread{
		"a":        {Range: Range{N: 8, Base: 16}},
		"\x00\xff": {Range: Range{N: 2}, Rows: []RowEpoch{{From: []byte{0, 7}, Range: Range{N: 64, Base: 24}}}},
	})
	got, err := ParseKeys(1, k.Texts())
	if err != nil || !got.Equal(k) {
		t.Errorf("%v, %v", got, err)
	}
	if none, err := ParseKeys(1, (*Keys)(nil).Texts()); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
	for _, wrong := range []map[string]string{{"x": "8"}, {"00": "eight"}, {"00": "8 from 0x00"}} {
		if k, err := ParseKeys(1, wrong); err == nil {
			t.Errorf("%v is read as %v", wrong, k)
		}
	}
	l := &Layout{N: 4, Base: 2, Keys: k}
	if n := l.Last(); n != 88 {
		t.Errorf("the highest place is %d", n)
	}
	other := k.With(2, map[string]Spread{"a": {Range: Range{N: 9, Base: 16}}, "b": {Range: Range{N: 1}}})
	if got := fmt.Sprintf("%q", k.Changed(other)); got != `["a" "b"]` {
		t.Errorf("changed are %s", got)
	}
	if got := (*Keys)(nil).Changed(k); len(got) != 2 || len(k.Changed(k)) != 0 {
		t.Errorf("changed are %q", got)
	}
}
