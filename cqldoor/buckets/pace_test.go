// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"testing"
)

// TestPaceAfter checks what a read says about the next one.
func TestPaceAfter(t *testing.T) {
	for _, c := range []struct {
		known         Pace
		rows, buckets int
		want          Pace
	}{
		{Pace{}, 0, 0, Pace{}},
		{Pace{}, 100, 1, Pace{}},
		{Pace{}, 100, 10, Pace{100, 10}},
		{Pace{100, 10}, 0, 3, Pace{100, 10}},
		{Pace{100, 10}, 10, 1, Pace{100, 10}},
		{Pace{100, 10}, 11, 1, Pace{}},
		{Pace{100, 10}, 100, 2, Pace{100, 2}},
	} {
		if got := c.known.after(c.rows, c.buckets); got != c.want {
			t.Errorf("%v, then %d rows in %d buckets: %v, want %v", c.known, c.rows, c.buckets, got, c.want)
		}
	}
}
