// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"maps"
	"slices"
	"testing"
)

// TestPublishTwice publishes a table while another one is being published. Both are there then.
func TestPublishTwice(t *testing.T) {
	r := New(Options{})
	inner := false
	r.publish(func(tables map[string]*Entry) {
		if !inner {
			inner = true
			r.publish(func(tables map[string]*Entry) { tables["inner"] = new(Entry) })
		}
		tables["outer"] = new(Entry)
	})
	if names := slices.Sorted(maps.Keys(r.All())); !slices.Equal(names, []string{"inner", "outer"}) {
		t.Errorf("%q are published", names)
	}
}
