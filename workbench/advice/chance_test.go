// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// TestChanceIsNoHeat draws rows for keys of known rates, and checks what the largest is expected to
// get. Many keys of one rate differ by chance; a key with a rate of its own does not.
func TestChanceIsNoHeat(t *testing.T) {
	for _, c := range []struct {
		what   string
		keys   int
		rows   float64 // of each key, on average
		hot    float64 // of the first key; 0: as the others
		skewed bool    // rates of the keys differ
	}{
		{"few rows each", 2500, 3, 0, false},
		{"many rows each", 40, 300, 0, false},
		{"one hot key", 2500, 3, 900, false},
		{"one warm key", 2500, 30, 150, false},
		{"two keys", 2, 5000, 0, false},
		{"skewed", 1000, 20, 0, true},
	} {
		rnd := rand.New(rand.NewPCG(11, 23))
		m := &profile.Measured{}
		want, most := 0.0, 0.0
		for i := range c.keys {
			rate := c.rows
			if c.skewed {
				rate *= 20 / float64(i+1)
			}
			if i == 0 && c.hot > 0 {
				rate = c.hot
			}
			n := 0.0
			for at := rnd.ExpFloat64(); at < rate; at += rnd.ExpFloat64() {
				n++
			}
			want, most = math.Max(want, rate), math.Max(most, n)
			m.Rows += int64(n)
			m.Squares.Value += n * n
		}
		m.Partitions.Value = float64(c.keys)
		got := expected(m, exactlyOf(most))
		if math.Abs(got.Value-want) > 0.12*want || got.Low > want || got.High < want || got.High < most {
			t.Errorf("%s: %.1f (%.1f to %.1f) rows are expected of the largest, which has %.0f: %.1f are right", c.what, got.Value, got.Low, got.High, most, want)
		}
	}
}
