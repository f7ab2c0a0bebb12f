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

// TestLiveRollover gives a table of strategy rollover, which clients read and write all the time, shards by a
// hash, after a change that is taken back. Keys get further shards meanwhile. No request fails, and every
// answer equals that of a table that does not change.
func TestLiveRollover(t *testing.T) { onStores(t, liveRollover) }

func liveRollover(t *testing.T, st store.Store) {
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	l := livedAt(t, st, s)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	exec(t, s, "CREATE TABLE lived.t (p int, c bigint, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'strategy': 'rollover', 'rows': '30'}")
	before := l.entry()
	l.live(4, func() {
		l.change(ctx, "", "rollback")
		if got := l.status(); got.Result != reshard.ResultTakenBack || l.tables() != before.Physical || l.entry().Layout.Strategy != shard.Rollover {
			t.Errorf("after it was taken back the store has %s: %+v", l.tables(), got)
		}
		l.change(ctx, "'strategy': 'calculated', 'shards': '4'", "pause", "resume")
	})
	if after := l.entry(); after.Layout.Strategy != shard.Calculated || after.Second != nil || l.tables() != after.Physical || after.Physical == before.Physical {
		t.Errorf("the store has %s: %+v", l.tables(), after)
	}
	if left, err := catalog.NewRollovers(l.own, [16]byte{}).Read(t.Context(), before.ID, 0); err != nil || len(left) > 0 {
		t.Errorf("the directory still has %d entries, %v", len(left), err)
	}
}
