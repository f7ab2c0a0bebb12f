// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"math/rand/v2"
	"testing"
)

// TestChange checks that the rate of a course changes at the right part; chance, or a change for a
// while, is no change.
func TestChange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for draw := range 100 {
		even, faster, while := make([]int64, timeParts), make([]int64, timeParts), make([]int64, timeParts)
		from := 30 + r.IntN(70)
		for range 5000 {
			even[r.IntN(timeParts)]++
			faster[r.IntN(timeParts)]++
			while[r.IntN(timeParts)]++
		}
		for range 3 * 5000 * (timeParts - from) / timeParts {
			faster[from+r.IntN(timeParts-from)]++
		}
		for range 1500 {
			while[from+r.IntN(8)]++
		}
		if at, _, _ := change(even); at != 0 {
			t.Errorf("draw %d: of an even course a change at %d", draw, at)
		}
		if at, _, _ := change(while); at != 0 {
			t.Errorf("draw %d: of a while a change at %d", draw, at)
		}
		if at, before, after := change(faster); at < from-2 || at > from+2 || after/before < 3.5 || after/before > 4.5 {
			t.Errorf("draw %d: four times as fast from %d: %.1f to %.1f at %d", draw, from, before, after, at)
		}
	}
}
