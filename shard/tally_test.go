// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestTally checks that a tally counts no row too much, and misses no more than it says.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(2, 20).Draw(t, "most")
		tally, rows, all := NewTally(most), map[string]int64{}, int64(0)
		for range rapid.IntRange(0, 500).Draw(t, "rows") {
			key := fmt.Sprint(rapid.IntRange(0, rapid.IntRange(0, 40).Draw(t, "up to")).Draw(t, "key"))
			tally.Add(key)
			rows[key]++
			all++
		}
		if len(tally.rows) > most {
			t.Fatalf("it remembers %d keys of %d", len(tally.rows), most)
		}
		for key, n := range rows {
			if got := tally.rows[key]; got > n || n-got > 2*all/int64(most) {
				t.Fatalf("it counts %d of %d rows, of %d in all, with %d keys", got, n, all, most)
			}
		}
	})
}
