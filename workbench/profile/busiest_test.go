// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestBusiestWindow checks that window finds a window that exists, and none that is only chance.
func TestBusiestWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for draw := range 200 {
		var even, hot [timeParts]int64
		for range 4000 {
			even[r.IntN(timeParts)]++
			hot[r.IntN(timeParts)]++
		}
		if at, length, _, _ := window(even[:], 0); length != timeParts {
			found++
			t.Logf("draw %d: of %d rows that come evenly the window from %d, %d long", draw, 4000, at, length)
		}
		from := r.IntN(timeParts - 6)
		for range 600 {
			hot[from+r.IntN(6)]++
		}
		if at, length, _, rows := window(hot[:], 0); at < from-1 || at+length > from+7 || float64(rows)/float64(length) < 110 {
			t.Errorf("draw %d: 600 rows from part %d to %d: the window from %d, %d long, %d rows", draw, from, from+6, at, length, rows)
		}
	}
	if found > 2 {
		t.Errorf("%d of 200 times a window was made of chance", found)
	}
}

func TestBusiestOf(t *testing.T) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	course := make([]int64, timeParts)
	for i := range course {
		course[i] = 10
	}
	course[40], course[41] = 400, 410
	b := BusiestOf(course, first, time.Minute)
	if b == nil || !b.Start.Equal(first.Add(40*time.Minute)) || b.Length != 2*time.Minute || b.All != 810 || b.Rows.Low > 810 || b.Rows.High < 810 {
		t.Errorf("%+v", b)
	}
	if b := BusiestOf(make([]int64, timeParts), first, time.Minute); b != nil {
		t.Errorf("of no rows: %+v", b)
	}
}
