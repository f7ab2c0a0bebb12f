// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// livedWith creates table lived.t with a layout at a door of its own.
func livedWith(t *testing.T, st store.Store, layout string) *lived {
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	l := livedAt(t, st, s)
	exec(t, s, "CREATE TABLE lived.t (p int, c bigint, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = "+layout)
	return l
}

// TestLiveRollover changes a table from strategy rollover to shards by a hash, while clients read and write
// it. The test takes the first change back. During the changes, keys get further shards. No request may fail.
// Every answer must equal that of a table that does not change.
func TestLiveRollover(t *testing.T) { onStores(t, liveRollover) }

func liveRollover(t *testing.T, st store.Store) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l := livedWith(t, st, "{'strategy': 'rollover', 'rows': '30'}")
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

// TestLiveToRollover changes a table from shards by a hash to strategy rollover, while clients read and write
// it. The test takes the first change back. After the second one it changes the limits of the shards, and then
// changes the table to shards by a hash again. No request may fail. Every answer must equal that of a table
// that does not change.
func TestLiveToRollover(t *testing.T) { onStores(t, liveToRollover) }

func liveToRollover(t *testing.T, st store.Store) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l := livedWith(t, st, "{'shards': '4'}")
	before := l.entry()
	const rolls = "'strategy': 'rollover', 'rows': '15'"
	l.live(4, func() {
		l.change(ctx, rolls, "rollback")
		if got := l.status(); got.Result != reshard.ResultTakenBack || l.tables() != before.Physical || l.entry().Layout.Strategy != shard.Calculated {
			t.Errorf("after it was taken back the store has %s: %+v", l.tables(), got)
		}
		l.change(ctx, rolls, "pause", "resume")
		after := l.entry()
		if after.Layout.Strategy != shard.Rollover || after.Second != nil || l.tables() != after.Physical || after.Physical == before.Physical {
			t.Errorf("the store has %s: %+v", l.tables(), after)
		}
		if n := l.firstShards(after); n < 3*livedKeys {
			t.Errorf("%d keys with %d rows and more begin with %d shards", livedKeys, livedSteady, n)
		}
		l.change(ctx, "'rows': '20', 'max': '30'")
		if now := l.entry(); now.Physical != after.Physical || now.Layout.Fill.Rows != 20 || now.Layout.Max != 30 {
			t.Errorf("after a change of the limits: %+v", now)
		}
		l.change(ctx, "'strategy': 'calculated', 'shards': '4'")
		if left, err := catalog.NewRollovers(l.own, [16]byte{}).Read(t.Context(), after.PhysicalID(), 0); err != nil || len(left) > 0 {
			t.Errorf("the directory still has %d entries, %v", len(left), err)
		}
	})
}

// firstShards returns with how many shards the keys of a table began.
func (l *lived) firstShards(e *catalog.Entry) int {
	l.t.Helper()
	entries, err := catalog.NewRollovers(l.own, [16]byte{}).Read(l.t.Context(), e.PhysicalID(), 0)
	if err != nil {
		l.t.Fatal(err)
	}
	n := livedKeys
	for _, r := range entries {
		if r.From != nil && *r.From == shard.Always {
			n++
		}
	}
	return n
}

// TestRolloverGoesOnFilling gives a plain table strategy rollover. The doors count the rows that were copied to
// the current shard of a key, and open the next one when few rows have come.
func TestRolloverGoesOnFilling(t *testing.T) {
	st := embedded(t)
	r := startRouter(t, st)
	r.rollovers.AheadOfClock, r.rollovers.ClockSkew = 0, 0 // clients write to the first shards at once
	s := session(t, serveDoor(t, st, r), 4)
	l := livedAt(t, st, s)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	exec(t, s, "CREATE TABLE lived.t (p int, c int, v text, PRIMARY KEY (p, c))")
	insert := func(from, to int) {
		for c := from; c < to; c++ {
			exec(t, s, fmt.Sprintf("INSERT INTO lived.t (p, c, v) VALUES (1, %d, 'x')", c))
		}
	}
	insert(0, 450)
	l.change(ctx, "'strategy': 'rollover', 'rows': '300'")
	directory, e := catalog.NewRollovers(l.own, [16]byte{}), l.entry()
	log := func() []catalog.Rollover {
		entries, err := directory.Read(ctx, e.PhysicalID(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	if got := log(); len(got) != 2 || got[1].Shard != 2 || got[1].From == nil || *got[1].From <= shard.Always {
		t.Fatalf("after the change the log is %+v", got)
	}
	insert(450, 570) // with these, shard 2 has about 345 rows
	for len(log()) < 3 {
		if ctx.Err() != nil {
			t.Fatal("no door announces shard 3")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := log()[2]; got.Shard != 3 || got.From == nil || *got.From <= shard.Always {
		t.Errorf("shard 3 is announced as %+v", got)
	}
	for _, c := range []int{0, 449, 569} {
		exec(t, s, fmt.Sprintf("DELETE FROM lived.t WHERE p = 1 AND c = %d", c))
	}
	if rows, err := rowsOf(s, 100, "SELECT c FROM lived.t WHERE p = 1"); err != nil || len(rows) != 567 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestDeletionsAheadBeforeRollover refuses deletions with timestamps in the future as soon as a change to
// strategy rollover has begun: later shards would need them.
func TestDeletionsAheadBeforeRollover(t *testing.T) {
	st := embedded(t)
	s := session(t, serveDoor(t, st, startRouter(t, st)), 4)
	l := livedAt(t, st, s)
	exec(t, s, "CREATE TABLE lived.t (p int, c int, v text, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	ahead := time.Now().Add(time.Hour).UnixMicro()
	deletion := fmt.Sprintf("DELETE FROM lived.t USING TIMESTAMP %d WHERE p = 1 AND c = 1", ahead)
	exec(t, s, deletion)
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'strategy': 'rollover', 'rows': '10'}")
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'change': 'pause'}")
	if err := s.Query(deletion).Exec(); err == nil || !strings.Contains(err.Error(), "ahead of the store's clock") {
		t.Errorf("in step %s: %v", l.status().Phase, err)
	}
	exec(t, s, fmt.Sprintf("INSERT INTO lived.t (p, c, v) VALUES (1, 2, 'x') USING TIMESTAMP %d", ahead))
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'change': 'resume'}")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for l.status().Phase != reshard.NoPhase {
		if ctx.Err() != nil {
			t.Fatalf("%+v", l.status())
		}
	}
	if rows, err := rowsOf(s, 100, "SELECT c FROM lived.t WHERE p = 1"); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestWarnedOfANewLayout checks that ALTER TABLE warns of what a layout costs, as CREATE TABLE does: from a plain
// table and from a sharded one.
func TestWarnedOfANewLayout(t *testing.T) {
	st := embedded(t)
	s := newSceneOf(t, st, startRouter(t, st))
	for name, with := range map[string]string{"plain": "", "sharded": " AND write_sharding = {'shards': '4'}"} {
		table := s.keyspace + "." + name
		s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, v text, PRIMARY KEY (p, c)) WITH default_time_to_live = 1000"+with)
		a := s.must(s.v5, "ALTER TABLE "+table+" WITH write_sharding = {'strategy': 'rollover', 'rows': '5000'}")
		if !strings.Contains(strings.Join(a.Warnings, "\n"), "with default_time_to_live = 1000 every write goes to all shards that the key has") {
			t.Errorf("%s: %q", name, a.Warnings)
		}
	}
}
