// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// TestCut checks that cutting the hidden attributes out of an item gives the same as writing it
// without them.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var item, visible attribute.Item
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "evenkeel", "evenkeel.pk", "evenkeel.s.x", "evenkeel0", "f", "z", "\"q\""}), func(s string) string { return s }).Draw(t, "names") {
			value := rapid.SampledFrom([]attribute.Value{
				attribute.String("x"), attribute.String(`"evenkeel.pk":`), attribute.Bool(true), attribute.List(nil),
				attribute.Map(attribute.NewItem(attribute.Attribute{Name: "evenkeel.pk", Value: attribute.String("deep")})),
			}).Draw(t, "value")
			item = item.With(name, value)
			if name != "evenkeel.pk" && name != "evenkeel.s.x" {
				visible = visible.With(name, value)
			}
		}
		if got, want := string(Strip(item.Encode())), string(visible.Encode()); got != want {
			t.Fatalf("%s becomes %s, not %s", item, got, want)
		}
		if got, want := string(stripInPlace(item.Encode())), string(visible.Encode()); got != want {
			t.Fatalf("%s becomes %s in its place, not %s", item, got, want)
		}
	})
}

// TestHiddenAttributesNeedNotBeBesideEachOther covers stores that return attributes in any order.
func TestHiddenAttributesNeedNotBeBesideEachOther(t *testing.T) {
	for item, want := range map[string]string{
		`{"evenkeel.pk":{"S":"a-1"},"a":{"S":"x"},"evenkeel.s.i":{"N":"1"}}`:                `{"a":{"S":"x"}}`,
		`{"evenkeel.pk":{"S":"a-1"} ,"a":{"S":"x"}}`:                                        `{"a":{"S":"x"}}`,
		`{"a":{"S":"x"}, "evenkeel.pk":{"S":"a-1"},"b":{"N":"1"},"evenkeel.s.i":{"N":"1"}}`: `{"a":{"S":"x"},"b":{"N":"1"}}`,
	} {
		if got := string(Strip(attribute.Encoded(item))); got != want {
			t.Errorf("%s becomes %s", item, got)
		}
		if got := string(stripInPlace(attribute.Encoded(item))); got != want {
			t.Errorf("%s becomes %s in its place", item, got)
		}
	}
}
