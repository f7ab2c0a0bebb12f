// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"testing"
	"time"
)

// TestStoreClock has the store tell its time with more and less precision.
func TestStoreClock(t *testing.T) {
	const ms = time.Millisecond
	c := &StoreClock{now: time.Now}
	for _, s := range []struct{ least, most, want time.Duration }{
		{-ms, ms, 0}, // the clocks agree
		{time.Minute - ms, time.Minute + ms, time.Minute - ms},
		{-time.Hour, time.Hour, time.Minute - ms}, // the store took long to answer
		{-2*time.Minute - ms, -2*time.Minute + ms, -2*time.Minute + ms},
		{-ms, ms, -ms}, // somebody has set the door's clock right
	} {
		if c.set(s.least, s.most); time.Duration(c.Ahead.Load()) != s.want {
			t.Errorf("between %s and %s: %s, not %s", s.least, s.most, time.Duration(c.Ahead.Load()), s.want)
		}
	}
}
