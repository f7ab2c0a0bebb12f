// SPDX-License-Identifier: Apache-2.0

package registry

import "testing"

// TestJudge lists all cases.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		state     State
		its, late bool
		want      Verdict
	}{
		{Creating, false, false, Verdict{}},
		{Creating, false, true, Verdict{Write: Remove}},
		{Creating, true, false, Verdict{Applies: true, Write: Activate}},
		{Creating, true, true, Verdict{Applies: true, Write: Activate}},
		{Active, false, false, Verdict{}},
		{Active, false, true, Verdict{}}, // an administrator has to look at it
		{Active, true, false, Verdict{Applies: true}},
		{Active, true, true, Verdict{Applies: true}},
		{Dropping, false, false, Verdict{}},
		{Dropping, false, true, Verdict{Write: Remove}},
		{Dropping, true, false, Verdict{Applies: true}},
		{Dropping, true, true, Verdict{Applies: true, Write: Activate}},
		{Dropped, false, false, Verdict{}},
		{Dropped, false, true, Verdict{Write: Remove}},
		{Dropped, true, false, Verdict{Applies: true}},
		{Dropped, true, true, Verdict{Applies: true}},
	} {
		if got := Judge(c.state, c.its, c.late); got != c.want {
			t.Errorf("%s, its table: %t, late: %t: %+v, not %+v", c.state, c.its, c.late, got, c.want)
		}
	}
}
