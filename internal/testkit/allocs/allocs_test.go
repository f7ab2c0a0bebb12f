// SPDX-License-Identifier: Apache-2.0

package allocs

import "testing"

var kept []byte

// TestPerRun checks that allocations in only some of the measurements are not counted, and that
// those in each are.
func TestPerRun(t *testing.T) {
	calls := 0
	others := func() {
		if calls++; calls <= 30 {
			kept = make([]byte, 100)
		}
	}
	if n := PerRun(10, others); n != 0 || calls <= 30 {
		t.Errorf("others' allocations count %v, in %d calls", n, calls)
	}
	if n := PerRun(10, func() { kept = make([]byte, 100) }); n != 1 {
		t.Errorf("an allocation counts %v", n)
	}
}
