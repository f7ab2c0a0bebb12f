// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"testing"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// TestLiveTime gives a table that clients read and write all the time buckets of time, other buckets,
// shards by a hash, and makes it plain in the end. No request fails, and every answer equals that of a
// table that does not change.
func TestLiveTime(t *testing.T) { onStores(t, liveTime) }

func liveTime(t *testing.T, st store.Store) {
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	l := livedAt(t, st, s)
	l.scale = 15_000
	exec(t, s, "CREATE TABLE lived.t (p int, c timestamp, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	directory := catalog.NewBuckets(l.own)
	buckets := func(id [16]byte) (n int) {
		t.Helper()
		err := directory.EachKey(t.Context(), id, func(key []byte) error {
			all, err := directory.List(t.Context(), id, key, -1<<40, 1<<40, false, 10_000)
			n += len(all)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	l.live(4, func() {
		l.change(ctx, "'strategy': 'time', 'by': 'c', 'bucket': '1m', 'shards': '2'")
		minutes := l.entry()
		if got := buckets(minutes.PhysicalID()); minutes.Layout.Strategy != shard.Time || minutes.Layout.N != 2 || minutes.PhysicalID() == minutes.ID || got < livedSteady*livedKeys/4 {
			t.Errorf("%v, %d buckets", minutes.Layout, got)
		}
		l.change(ctx, "'bucket': '2m'", "rollback")
		if s := l.status(); s.Result != reshard.ResultTakenBack || l.tables() != minutes.Physical {
			t.Errorf("after it was taken back the store has %s: %+v", l.tables(), s)
		}
		l.change(ctx, "'bucket': '2m', 'shards': '1'", "pause", "resume")
		wider := l.entry()
		if n, left := buckets(wider.PhysicalID()), buckets(minutes.PhysicalID()); n == 0 || left != 0 {
			t.Errorf("%d buckets, and %d of the table that was dropped", n, left)
		}
		l.change(ctx, "'strategy': 'calculated', 'shards': '3'")
		if e := l.entry(); e.Layout.Strategy != shard.Calculated || e.Layout.N != 3 || e.Second != nil || l.tables() != e.Physical || buckets(wider.PhysicalID()) != 0 {
			t.Errorf("the store has %s: %+v", l.tables(), e)
		}
		l.change(ctx, "'shards': '5'")
		l.change(ctx, "'strategy': 'time', 'by': 'c', 'bucket': '1h'")
		l.change(ctx, "")
	})
	if e := l.entry(); !e.Layout.Plain() || e.Change != nil || e.Second != nil || l.tables() != e.Physical {
		t.Errorf("in the end the store has %s: %+v", l.tables(), e)
	}
}
