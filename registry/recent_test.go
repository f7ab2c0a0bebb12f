// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/binary"
	"testing"
)

// TestRecentIsBounded adds more names than a set keeps: short names, then long ones. The set must keep the
// newest names, and the name that the test asks for all the time. Its memory must stay bounded.
func TestRecentIsBounded(t *testing.T) {
	for _, size := range []int{4, 60_000} {
		var s Recent
		name := func(i int) []byte { return binary.BigEndian.AppendUint32(make([]byte, size-4), uint32(i)) }
		s.Add(name(0))
		last := 2*min(recentNames, recentBytes/size) + 10
		for i := 1; i <= last; i++ {
			s.Add(name(i))
			if !s.Has(name(0)) || !s.Has(name(i)) || !s.Has(name(i-1)) {
				t.Fatalf("of %d names of %d bytes a recent one is forgotten", i, size)
			}
		}
		names, bytes := 0, 0
		for _, half := range []map[string]struct{}{s.young, s.old} {
			for n := range half {
				names, bytes = names+1, bytes+len(n)
			}
		}
		if s.Has(name(1)) || names > 2*recentNames || bytes > 2*(recentBytes+size) {
			t.Errorf("the set has %d names, of %d bytes in all", names, bytes)
		}
	}
}
