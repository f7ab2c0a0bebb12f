// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// TestCutPartition cuts the partition key out of items, in which its name can also be elsewhere.
func TestCutPartition(t *testing.T) {
	for _, c := range []struct {
		before, value, after string
		cut                  bool
	}{
		{"", "k-1", "", true},
		{"", "k-1", `"pk":{"S":"k"}`, true},
		{`"a":{"S":"x"}`, "k-1", `"pk":{"S":"k"}`, true},
		{`"a":{"S":"x"}`, "k-1", "", true},
		{`"a":{"M":{"b":{"S":"x"},"evenkeel.pk":{"S":"k-2"}}}`, "k-1", `"pk":{"S":"k"}`, true},
		{`"a":{"L":[{"M":{"evenkeel.pk":{"S":"k-2"}}}]}`, "k-1", "", true},
		{`"M":{"S":"x"}`, "k-1", "", true},
		{`"a":{"S":"\"evenkeel.pk\":{\"S\":\"k-2\"}"}`, "k-1", "", true},
		{"", "{k}-1", `"pk":{"S":"{k}"}`, true},
		{"", "k}-1", `"z":{"M":{"evenkeel.pk":{"S":"k-2"}}}`, true},
		{"", `a\"}b-1`, `"pk":{"S":"x"}`, false},
		{"", `a\\-1`, "", false},
		{"", "k-1", `"evenkeel.tie":{"S":"x"}`, false},
		{`"a\"evenkeel.pk":{"S":"x"},"b":{"S":"y"}`, "k-1", `"pk":{"S":"k"}`, true},
	} {
		parts := []string{`"evenkeel.pk":{"S":"` + c.value + `"}`}
		var rest []string
		if c.before != "" {
			parts, rest = append([]string{c.before}, parts...), append(rest, c.before)
		}
		if c.after != "" {
			parts, rest = append(parts, c.after), append(rest, c.after)
		}
		item, want := "{"+strings.Join(parts, ",")+"}", "{"+strings.Join(rest, ",")+"}"
		if !c.cut {
			want = item
		}
		got, size, ok := cutPartition(attribute.Encoded(item))
		if string(got) != want || ok != c.cut || ok && size != len(PartitionKey)+len(c.value) {
			t.Errorf("%s: %s, %d, %t", item, got, size, ok)
		}
	}
}

// TestCutter cuts the partition key out of pairs of items. The second one has, at the place of what was
// cut out of the first one, the same bytes.
func TestCutter(t *testing.T) {
	const key = `"evenkeel.pk":{"S":"k-1"}`
	for _, c := range []struct{ first, second, rest string }{
		{`{"a":{"S":"x"},` + key + `,"pk":{"S":"k"}}`, `{"a":{"S":"y"},` + key + `,"pk":{"S":"long"}}`, `{"a":{"S":"y"},"pk":{"S":"long"}}`},
		{`{` + key + `,"pk":{"S":"k"}}`, `{` + key + `,"pk":{"S":"k"}}`, `{"pk":{"S":"k"}}`},
		{`{"a":{"S":"x"},` + key + `}`, `{"a":{"S":"y"},` + key + `}`, `{"a":{"S":"y"}}`},
		{`{"a":{"S":"x"},` + key + `}`, `{"a":{"S":"y"},` + key + `,"pk":{"S":"k"}}`, `{"a":{"S":"y"},"pk":{"S":"k"}}`},
		{`{"a":{"S":"x"},` + key + `,"pk":{"S":"k"}}`, `{"a":{"S":"y"},` + key + `}`, `{"a":{"S":"y"}}`},
		{`{` + key + `}`, `{` + key + `,"pk":{"S":"k"}}`, `{"pk":{"S":"k"}}`},
		{`{` + key + `}`, `{` + key + `}`, `{}`},
		// A map is before it.
		{`{"a":{"S":"123456789012"},` + key + `,"pk":{"S":"k"}}`, `{"a":{"M":{"b":{"S":"1"},` + key + `,"pk":{"S":"k"}}},` + key + `,"pk":{"S":"k"}}`, `{"a":{"M":{"b":{"S":"1"},` + key + `,"pk":{"S":"k"}}},"pk":{"S":"k"}}`},
		// It is the end of a name.
		{`{"a":{"S":"x"},` + key + `,"pk":{"S":"k"}}`, `{"a23456789012\` + key + `,` + key + `,"pk":{"S":"k"}}`, `{"a23456789012\` + key + `,"pk":{"S":"k"}}`},
		// Another hidden attribute follows.
		{`{"a":{"S":"x"},` + key + `,"pk":{"S":"k"}}`, `{"a":{"S":"x"},` + key + `,"evenkeel.s":{"N":"1"}}`, ""},
		{`{"a":{"S":"x"},` + key + `}`, `{"a":{"S":"x"},` + key + `,"evenkeel.s":{"N":"1"}}`, ""},
	} {
		var cuts partitionCutter
		if _, _, ok := cuts.from(attribute.Encoded(c.first)); !ok {
			t.Errorf("%s has no partition key", c.first)
		}
		rest, size, ok := cuts.from(attribute.Encoded(c.second))
		if ok != (c.rest != "") || ok && (string(rest) != c.rest || size != len(PartitionKey)+len("k-1")) || !ok && string(rest) != c.second {
			t.Errorf("%s after %s: %s, %d, %t", c.second, c.first, rest, size, ok)
		}
	}
}
