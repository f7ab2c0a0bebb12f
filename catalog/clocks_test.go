// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// TestClocksApart has a door leave operations half-way that a door with another clock finds. That door ends
// none of them before it has seen it unchanged for the lease of operations, and ends it then.
func TestClocksApart(t *testing.T) {
	b := embedded(t)
	a := b.door(nil)
	if err := a.tables.ensureLayouts(t.Context(), b.keyspaceOf(a)); err != nil {
		t.Fatal(err)
	}
	for i, skew := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		e := b.entry(fmt.Sprintf("t%d", i), 3)
		if err := a.begin(t.Context(), a.own(e.in(registry.Creating))); err != nil {
			t.Fatal(err)
		}
		left := b.entry(fmt.Sprintf("left%d", i), 3)
		left.Layout, left.Second = shard.Plain(), &Second{Physical: "second"}
		if err := a.Adopt(t.Context(), left, b.keyspaceOf(a)); err != nil {
			t.Fatal(err)
		}
		now := func() time.Time { return time.Now().Add(skew) }
		// finds reports whether a door finds the first entry after it has settled all, and whether it finds the second one overdue.
		finds := func(d *Catalog) (there, overdue bool) {
			t.Helper()
			entries, _, err := d.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Schema(t.Context(), b.keyspace)
			if err != nil {
				t.Fatal(err)
			}
			d.Settle(t.Context(), b.own(entries), s)
			second, err := d.Entry(t.Context(), b.keyspace, left.Table)
			if err != nil || second == nil {
				t.Fatal(second, err)
			}
			first, err := d.Entry(t.Context(), b.keyspace, e.Table)
			if err != nil {
				t.Fatal(err)
			}
			return first != nil, d.Overdue(second)
		}
		patient := New(Options{Session: b.session, Now: now, UUID: uuid})
		for range 2 {
			if there, overdue := finds(patient); !there || overdue {
				t.Errorf("clock %s off: the entry is there: %v, the second table overdue: %v", skew, there, overdue)
			}
		}
		const lease = 20 * time.Millisecond
		short := New(Options{Session: b.session, Now: now, UUID: uuid, Lease: lease})
		finds(short)
		time.Sleep(2 * lease)
		if there, overdue := finds(short); there || !overdue {
			t.Errorf("clock %s off, after the lease: the entry is there: %v, the second table overdue: %v", skew, there, overdue)
		}
	}
}
