// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/fleet"
)

// TestDoorsThatFillShards counts the doors that are alive: neither those that have left nor those
// that died lately, whose rows stay for minutes.
func TestDoorsThatFillShards(t *testing.T) {
	o := &Rollovers{x: &tables.Schemas{Doors: new(tables.Membership)}}
	if n, before := o.Doors(); n != 1 || before != 0 {
		t.Errorf("a single door: %d doors, %d before", n, before)
	}
	const lease = 2 * time.Second
	o.x.Doors.Beaten.Store(&fleet.Seen{Self: [16]byte{5}, Doors: []*fleet.Door{
		{ID: [16]byte{1}, Lease: lease, Age: time.Minute},
		{ID: [16]byte{2}, Lease: lease, Age: time.Second},
		{ID: [16]byte{3}},
		{ID: [16]byte{5}, Lease: lease},
		{ID: [16]byte{6}, Lease: lease, Age: 2 * time.Second},
		{ID: [16]byte{7}, Lease: lease, Age: 9 * time.Minute},
	}})
	if n, before := o.Doors(); n != 3 || before != 1 {
		t.Errorf("%d doors, %d before; not 3 and 1", n, before)
	}
}
