// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEstablished waits until a door has been registered for a lease.
func TestEstablished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newDoor(newMemory(), "a:1")
		if err := a.Established(t.Context()); err == nil {
			t.Error("a door that is not registered")
		}
		beat(t, a)
		for _, want := range []time.Duration{DefaultLease, 0} {
			began := time.Now()
			if err := a.Established(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < want || took > want+time.Second {
				t.Errorf("it waited for %v, not %v", took, want)
			}
		}
	})
}
