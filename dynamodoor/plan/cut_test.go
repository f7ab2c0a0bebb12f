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
