// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"math"
	"testing"
)

// TestOnce limits the inserts of a key that has a single row, and nothing else.
func TestOnce(t *testing.T) {
	for _, c := range []struct {
		what                string
		writes, all         float64
		inserts             float64
		wantWrites, wantAll float64
	}{
		{"inserts alone", 2000, 200_000, 1, 1, 200_000},
		{"updates alone", 2000, 200_000, 0, 2000, 200_000},
		{"half of each", 2000, 200_000, 0.5, 1001, 200_000},
		{"slow inserts", 0.01, 0.5, 1, 0.01, 0.5},
	} {
		m := Moment{Writes: c.writes, Low: c.writes, High: c.writes, All: c.all, Share: c.writes / c.all}
		m.once(c.inserts)
		if m.Writes != c.wantWrites || m.Low != m.Writes || m.High != m.Writes || m.All != c.wantAll || math.Abs(m.Share-m.Writes/m.All) > 1e-12 {
			t.Errorf("%s: %+v", c.what, m)
		}
	}
}
