// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/registry"
)

// TestWatched has doors judge tables that come and go. A door that is alone never reads the whole
// catalogue again, so it could not forget the tables that are gone. It must watch none.
func TestWatched(t *testing.T) {
	for _, c := range []struct {
		lease time.Duration
		want  int
	}{{0, 0}, {time.Second, 100}} {
		r := New(Options{Now: time.Now, Lease: c.lease})
		for i := range 100 {
			e := &catalog.Entry{Table: fmt.Sprint("t", i)}
			for _, e.State = range []registry.State{registry.Creating, registry.Active, registry.Dropping, registry.Dropped} {
				if late := r.late(e); late != (c.lease == 0) {
					t.Errorf("lease %v, %s: late is %t", c.lease, e.State, late)
				}
				if left := r.Rest(e); left > r.Grace() || left < 0 {
					t.Errorf("lease %v, %s: %v of the grace are left", c.lease, e.State, left)
				}
			}
		}
		watched := 0
		r.watched.Keep(func(string) bool { watched++; return true })
		if watched != c.want {
			t.Errorf("lease %v: the door watches %d tables, not %d", c.lease, watched, c.want)
		}
	}
}
