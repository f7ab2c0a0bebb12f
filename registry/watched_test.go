// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWatched looks at a thing again and again: only the time without a change counts.
func TestWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWatched(time.Now)
		look := func(state string, want time.Duration) {
			t.Helper()
			if got := w.Unchanged("t", state); got != want {
				t.Errorf("unchanged for %v, not %v", got, want)
			}
		}
		look("a", 0)
		time.Sleep(time.Minute)
		look("a", time.Minute)
		look("b", 0)
		time.Sleep(time.Second)
		look("b", time.Second)
		w.Keep(func(name string) bool { return name == "t" })
		look("b", time.Second)
		w.Keep(func(string) bool { return false })
		look("b", 0)
	})
}

// TestWatchedByTheMonotonicClock sets the wall clock forward: nothing gets older by that.
func TestWatchedByTheMonotonicClock(t *testing.T) {
	base := time.Now()
	now := base
	w := NewWatched(func() time.Time { return now })
	w.Unchanged("t", "a")
	now = at(base, time.Second, time.Hour)
	if got := w.Unchanged("t", "a"); got != time.Second {
		t.Errorf("unchanged for %v", got)
	}
}
