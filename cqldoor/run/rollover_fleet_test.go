// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/rollover"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// These tests change tables to and from strategy rollover with several doors on the store.

const (
	rollsBy15 = "'strategy': 'rollover', 'rows': '15'"
	hashedBy4 = "'strategy': 'calculated', 'shards': '4'"
)

// TestRolloverInAFleet gives a table strategy rollover under clients of two doors, takes that back, and does it
// again while another door joins. Then the table leaves the strategy. During the changes both doors begin
// further shards.
func TestRolloverInAFleet(t *testing.T) { onStores(t, rolloverInAFleet) }

func rolloverInAFleet(t *testing.T, st store.Store) {
	l, _ := newAtDoors(t, st, 2, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	ctx, cancel := context.WithTimeout(t.Context(), 8*patience)
	defer cancel()
	l.live(3, func() {
		l.change(ctx, rollsBy15, "rollback")
		if s := l.status(); s.Result != reshard.ResultTakenBack {
			t.Errorf("after it was taken back: %+v", s)
		}
		exec(t, l.doors[1], "ALTER TABLE lived.t WITH write_sharding = {"+rollsBy15+"}")
		third := session(t, serveDoor(t, st, startDoor(t, st, "z:1")), 4)
		l.end(ctx)
		l.scan(third)
		rolled := l.entry()
		if n := l.firstShards(rolled); rolled.Layout.Strategy != shard.Rollover || n < 3*livedKeys {
			t.Errorf("%d keys with %d rows and more begin with %d shards: %+v", livedKeys, livedSteady, n, rolled)
		}
		l.change(ctx, hashedBy4, "pause", "resume")
		l.scan(third)
		if left, err := catalog.NewRollovers(l.own, [16]byte{}).Read(ctx, rolled.PhysicalID(), 0); err != nil || len(left) > 0 {
			t.Errorf("the directory still has %d entries, %v", len(left), err)
		}
	})
}

// TestRolloverAtDoorsThatStop gives a table strategy rollover, takes it away, gives it to the table again, and
// makes the table plain, under clients of two doors. A third door begins the first change, and then stops for
// ever. One of the two stops for random times. No request fails at the door that never stops, and every
// answer is right.
func TestRolloverAtDoorsThatStop(t *testing.T) { onStores(t, rolloverAtDoorsThatStop) }

func rolloverAtDoorsThatStop(t *testing.T, st store.Store) {
	l, beds := newPlainAtDoors(t, st, 3)
	begins := l.doors[2]
	l.doors = l.doors[:2]
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	r := mathrand.New(mathrand.NewPCG(mathrand.Uint64(), 9))
	l.live(3, func() {
		for i, layout := range []string{rollsBy15, hashedBy4, rollsBy15, ""} {
			var stops sync.WaitGroup
			stops.Go(func() { beds[1].naps(r, 2) })
			door := l.doors[0]
			if i == 0 {
				door = begins
			}
			exec(t, door, "ALTER TABLE lived.t WITH write_sharding = {"+layout+"}")
			if i == 0 {
				defer beds[2].sleep()() // it wakes when the test has ended
			}
			l.end(ctx)
			stops.Wait()
		}
	})
}

// TestDeletionMeetsFirstShards stops a door that has planned a deletion of a key. Meanwhile another door gives the
// key its first shards, and copies rows there. When the first door wakes, its deletion has missed these shards. It
// deletes all rows that are older, and no other, before the client is told so.
func TestDeletionMeetsFirstShards(t *testing.T) { onStores(t, deletionMeetsFirstShards) }

func deletionMeetsFirstShards(t *testing.T, st store.Store) {
	l, beds := newAtDoors(t, st, 2, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}")
	ctx, cancel := context.WithTimeout(t.Context(), 6*patience)
	defer cancel()
	a, b := l.doors[0], l.doors[1]
	for c := range 60 {
		exec(t, a, "INSERT INTO lived.t (p, c, v) VALUES (1, ?, 'x')", c)
	}
	order := func(o string) {
		var text string
		if err := a.Query("ALTER TABLE lived.t WITH write_sharding = {'change': '" + o + "'}").Scan(&text); err != nil {
			t.Fatal(err)
		}
	}
	for {
		exec(t, a, "ALTER TABLE lived.t WITH write_sharding = {"+rollsBy15+"}")
		order("pause")
		if l.firstShards(l.entry()) == livedKeys {
			break // the mover has not announced any shard
		}
		order("rollback")
		l.end(ctx)
	}
	if err := l.write(b, "INSERT INTO lived.t (p, c, v) VALUES (2, 0, 'x')"); err != nil {
		t.Fatal(err)
	}
	stamp := time.Now().UnixMicro()
	wake := beds[1].sleep()
	deleted := make(chan error, 1)
	go func() {
		deleted <- l.write(b, fmt.Sprintf("DELETE FROM lived.t USING TIMESTAMP %d WHERE p = 1", stamp))
	}()
	time.Sleep(300 * time.Millisecond) // it is on the way
	exec(t, a, fmt.Sprintf("INSERT INTO lived.t (p, c, v) VALUES (1, 1000, 'later') USING TIMESTAMP %d", stamp+1))
	order("resume")
	for l.status().Phase == reshard.Announced.String() {
		if ctx.Err() != nil {
			t.Fatalf("the change does not go on: %+v", l.status())
		}
	}
	wake()
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i, door := range l.doors {
			if rows, err := rowsOf(door, 100, "SELECT c FROM lived.t WHERE p = 1"); err != nil || len(rows) != 1 {
				t.Errorf("in step %s door %d shows %d rows: %v, %v", l.status().Phase, i, len(rows), rows, err)
			}
		}
		l.end(ctx)
	}
	if n := l.firstShards(l.entry()); n < livedKeys+3 {
		t.Errorf("the keys begin with %d shards", n)
	}
}

// TestMoverOpensItsOwnShards lets a door take over a change to strategy rollover, and announce more shards of a key.
// The first door opens only those that it has announced: no barrier has passed after the others.
func TestMoverOpensItsOwnShards(t *testing.T) {
	d := newRollingDoors(t, embedded(t), 2, 100)
	first, second := d.scenes[0].router.rollovers, d.scenes[1].router.rollovers
	table, key := random(), be32(9)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	are := func(of *rollover.Rollovers, open, closed []int) {
		t.Helper()
		if o, c := of.Rolled(table).Timeless(key); !slices.Equal(o, open) || !slices.Equal(c, closed) {
			t.Errorf("the shards %v are open and %v are closed; they should be %v and %v", o, c, open, closed)
		}
	}
	do(first.Announce(t.Context(), table, key, 3))
	do(second.Announce(t.Context(), table, key, 5))
	do(first.Open(t.Context(), table, key, 3))
	are(first, []int{1, 2, 3}, []int{4, 5})
	do(second.Open(t.Context(), table, key, 5))
	are(second, []int{1, 2, 3, 4, 5}, nil)
	now := d.scenes[1].router.schema.Clock.Now().UnixMicro()
	ahead := (second.AheadOfClock + second.ClockSkew).Microseconds()
	if of := second.Rolled(table); of.Current(key, now) != 1 || of.Current(key, now+ahead) != 5 {
		t.Errorf("clients write to shard %d now, and to shard %d in %d µs", of.Current(key, now), of.Current(key, now+ahead), ahead)
	}
}

// TestMoverAfterItsLease lets a door open a shard while another door, which moves rows, stands still for an hour. When
// that door goes on, it asks which shards there are.
func TestMoverAfterItsLease(t *testing.T) {
	d := newRollingDoors(t, embedded(t), 2, 100)
	opens, moves := d.scenes[0].router.rollovers, d.scenes[1].router.rollovers
	table, key := random(), be32(9)
	shards := func() int {
		t.Helper()
		rolled, err := moves.Written(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		return rolled.Shards(key)
	}
	if err := opens.Announce(t.Context(), table, key, 2); err != nil {
		t.Fatal(err)
	}
	if n := shards(); n != 1 {
		t.Errorf("within its lease it reads the directory: %d shards", n)
	}
	d.clock.on.Add(int64(time.Hour))
	if n := shards(); n != 2 {
		t.Errorf("after its lease it knows %d shards", n)
	}
}

// TestShardHalfBegun ends a door between the two entries for a shard of a key. Others give the table shards by
// a hash, and strategy rollover again.
func TestShardHalfBegun(t *testing.T) {
	st := embedded(t)
	l, _ := newAtDoors(t, st, 2, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {"+rollsBy15+"}")
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	dead := catalog.NewRollovers(l.own, random())
	l.live(3, func() {
		e, from := l.entry(), time.Now().Add(10*time.Second).UnixMicro()
		for p := range livedKeys {
			for did := false; !did; {
				log, err := dead.Read(ctx, e.PhysicalID(), 0)
				if err != nil {
					t.Fatal(err)
				}
				next := shardsOf(log, be32(p)) + 1
				if did, err = dead.Append(ctx, e.PhysicalID(), len(log), catalog.Rollover{Key: be32(p), Shard: next, From: &from}); err != nil {
					t.Fatal(err)
				}
			}
		}
		l.change(ctx, hashedBy4)
		l.change(ctx, rollsBy15)
	})
}

// shardsOf returns how many shards a key has by a log.
func shardsOf(log []catalog.Rollover, key []byte) int {
	n := 1
	for _, r := range log {
		if string(r.Key) == string(key) {
			n = max(n, r.Shard)
		}
	}
	return n
}
