// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAffixCut(t *testing.T) {
	for _, c := range []struct {
		affix    Affix
		physical string
		n        int
		key      string
		shard    int // 0: none
	}{
		{Affix{Separator: "-", First: 1}, "121212-3", 5, "121212", 3},
		{Affix{Separator: "-", First: 1}, "121212-5", 5, "121212", 5},
		{Affix{Separator: "-", First: 1}, "121212-6", 5, "121212-6", 0},
		{Affix{Separator: "-", First: 1}, "121212-0", 5, "121212-0", 0},
		{Affix{Separator: "-", First: 0}, "121212-0", 5, "121212", 1},
		{Affix{Separator: "-", First: 0}, "121212-5", 5, "121212-5", 0},
		{Affix{Separator: "-", First: 1}, "121212-03", 5, "121212-03", 0},
		{Affix{Separator: "-", First: 1}, "121212-+3", 5, "121212-+3", 0},
		{Affix{Separator: "-", First: 1}, "121212--3", 5, "121212-", 3},
		{Affix{Separator: "-", First: 1}, "121212", 5, "121212", 0},
		{Affix{Separator: "-", First: 1}, "121212-", 5, "121212-", 0},
		{Affix{Separator: "-", First: 1}, "-1", 5, "-1", 0},
		{Affix{Separator: ".", First: 1}, "2014-07-09.200", 200, "2014-07-09", 200},
		{Affix{Separator: "#", First: 1}, "a#b#2", 2, "a#b", 2},
		{Affix{Separator: "-", First: 1}, "a-99999999999999999999", 5, "a-99999999999999999999", 0},
		{Affix{Separator: "-", First: 1, Front: true}, "3-121212", 5, "121212", 3},
		{Affix{Separator: "#", First: 1, Front: true}, "3#121212", 5, "121212", 3},
		{Affix{Separator: "-", First: 1, Front: true}, "6-121212", 5, "6-121212", 0},
		{Affix{Separator: "-", First: 1, Front: true}, "0-121212", 5, "0-121212", 0},
		{Affix{Separator: "-", First: 0, Front: true}, "0-121212", 5, "121212", 1},
		{Affix{Separator: "-", First: 1, Front: true}, "03-121212", 5, "03-121212", 0},
		{Affix{Separator: "-", First: 1, Front: true}, "3--a", 5, "-a", 3},
		{Affix{Separator: "-", First: 1, Front: true}, "3-4-a", 5, "4-a", 3},
		{Affix{Separator: "-", First: 1, Front: true}, "121212-3", 5, "121212-3", 0},
		{Affix{Separator: "-", First: 1, Front: true}, "3-", 5, "3-", 0},
		{Affix{Separator: "-", First: 1, Front: true}, "3", 5, "3", 0},
		{Affix{Separator: "-", First: 1, Front: true}, "-121212", 5, "-121212", 0},
	} {
		key, shard, ok := c.affix.Cut(c.physical, c.n)
		if key != c.key || shard != c.shard || ok != (c.shard > 0) {
			t.Errorf("%+v: %q of %d shards is %q, %d, %v", c.affix, c.physical, c.n, key, shard, ok)
		}
	}
}

// TestAffixJoinCut is that cutting is the inverse of joining.
func TestAffixJoinCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Affix{Separator: rapid.SampledFrom([]string{"-", ".", "#", "--", "_s"}).Draw(t, "separator"), First: rapid.IntRange(0, 1).Draw(t, "first"), Front: rapid.Bool().Draw(t, "front")}
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		key, shard := rapid.StringN(1, -1, -1).Draw(t, "key"), rapid.IntRange(1, n).Draw(t, "shard")
		k, got, ok := s.Cut(s.Join(key, shard), n)
		if k != key || got != shard || !ok {
			t.Fatalf("%+v: %q, shard %d, is cut to %q, %d, %v", s, key, shard, k, got, ok)
		}
	})
}

func TestParseSeparator(t *testing.T) {
	for text, want := range map[string]string{"-": "-", "U+0023": "#", "U+7C": "|", "_s": "_s", "U+0020": " ", "": "", "U+D800": "", "U+": "", "U+0": "", "a1": "", "U+110000": "", "U+0031": ""} {
		got, err := ParseSeparator(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		written := FormatSeparator(got)
		if again, _ := ParseSeparator(written); err == nil && (again != got || strings.ContainsAny(written, "#| ")) {
			t.Errorf("%q is written %q", got, written)
		}
		if err != nil && !strings.Contains(err.Error(), "separator") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
