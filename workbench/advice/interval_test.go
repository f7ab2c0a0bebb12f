// SPDX-License-Identifier: Apache-2.0

package advice

import "testing"

// TestHitsNameAnIntervalOnce checks that a time whose bounds have the same text is named once.
func TestHitsNameAnIntervalOnce(t *testing.T) {
	for _, c := range []struct {
		hit  Hit
		want string
	}{
		{Hit{After: 360, AfterLow: 355, AfterHigh: 365}, "100 MB: after about 6 minutes"},
		{Hit{After: 360, AfterLow: 300, AfterHigh: 365}, "100 MB: after about 6 minutes (5 minutes to 6 minutes)"},
		{Hit{After: 9e6, AfterLow: 9e6, AfterHigh: 9e6, Date: "2026-02-22", DateLow: "2026-02-22", DateHigh: "2026-02-22"}, "100 MB: about 2026-02-22"},
		{Hit{After: 9e6, AfterLow: 8e6, AfterHigh: 9e6, Date: "2026-02-22", DateLow: "2026-02-12", DateHigh: "2026-02-22"}, "100 MB: about 2026-02-22 (2026-02-12 to 2026-02-22)"},
	} {
		c.hit.Limit, c.hit.Predictable = "100 MB", true
		if got := c.hit.Text(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
