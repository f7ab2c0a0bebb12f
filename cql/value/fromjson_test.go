// SPDX-License-Identifier: Apache-2.0

package value

import (
	"runtime"
	"strings"
	"testing"
)

// TestFromJSONTakesLittle reads long JSON texts of many short values. Beside the value, it allocates
// at most a few bytes for a byte of the text, with what is copied as the value grows.
func TestFromJSONTakesLittle(t *testing.T) {
	const long = 1 << 20
	many := func(s string) string { return strings.Repeat(s, long/len(s)) }
	wide := UDTOf("k", "u", make([]string, 300), types(Native(Int), 300), true)
	numbers := ListOf(Native(Int), true)
	for _, c := range []struct {
		t    *Type
		text string
	}{
		{numbers, "[1" + many(",1") + "]"},
		{Native(Int), "[1" + many(",1") + "]"},
		{ListOf(numbers, true), "[[]" + many(",[]") + "]"},
		{ListOf(Native(Text), true), `[""` + many(`,""`) + "]"},
		{SetOf(Native(Int), true), "[2" + many(",1") + "]"},
		{MapOf(Native(Text), Native(Boolean), true), `{"":true` + many(`,"":true`) + "}"},
		{ListOf(wide, true), "[{}" + many(",{}") + "]"},
		{Native(Blob), `"0x` + many("00") + `"`},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, ok, err := c.t.FromJSON([]byte(c.text), 16<<20)
		runtime.ReadMemStats(&after)
		took := int(after.TotalAlloc - before.TotalAlloc)
		made := len(v)
		if !ok && err == nil {
			made = 16 << 20
		}
		if most := 24*len(c.text) + 6*made; took > most { // under -race a map takes more
			t.Errorf("%s %.10s…: %d bytes for a value of %d bytes from a text of %d (%v, %.60v)", c.t, c.text, took, made, len(c.text), ok, err)
		}
	}
}

// TestFromJSONIsBounded reads a text of which a value is made that is much longer.
func TestFromJSONIsBounded(t *testing.T) {
	u := UDTOf("k", "u", make([]string, 1000), types(Native(Int), 1000), true)
	list := ListOf(u, true)
	for most, want := range map[int]bool{4 + 2*4004 - 1: false, 4 + 2*4004: true} {
		if v, ok, err := list.FromJSON([]byte(`[{},{}]`), most); ok != want || err != nil || ok && len(v) != most {
			t.Errorf("%d bytes at most: %v, %v, %d bytes", most, ok, err, len(v))
		}
	}
}

func types(t *Type, n int) []*Type {
	all := make([]*Type, n)
	for i := range all {
		all[i] = t
	}
	return all
}

// An empty string in JSON is the empty value of most types, which counts as null. A vector has no
// null; a list has the empty value.
func TestEmptyElementsOfVectors(t *testing.T) {
	for _, k := range []Kind{Int, Bigint, Decimal, Double, Duration, Inet, Smallint, Timestamp, Tinyint, UUID} {
		if v, _, err := VectorOf(Native(k), 2).FromJSON([]byte(`["", ""]`), 1<<20); err != ErrNullInVector {
			t.Errorf("two empty values of %s: %x, %v", Native(k), v, err)
		}
	}
	for _, k := range []Kind{Ascii, Text, Boolean} {
		if _, _, err := VectorOf(Native(k), 2).FromJSON([]byte(`["", ""]`), 1<<20); err != nil {
			t.Errorf("two empty values of %s: %v", Native(k), err)
		}
	}
	if _, _, err := ListOf(Native(Int), false).FromJSON([]byte(`["", ""]`), 1<<20); err != nil {
		t.Errorf("two empty values of a list: %v", err)
	}
}
