// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// rollingDoors are doors with one clock, which only the test moves on. The test does what their
// goroutines would do.
type rollingDoors struct {
	t      *testing.T
	clock  *passingTime
	scenes []*scene
	table  string
	counts []*counted
	pulsed map[[16]byte]int64 // when each door last gave a sign of life, by the clock
	rows   int                // written to key 1
}

const rollingLease = 2 * time.Second

// newRollingDoors starts doors and makes a table whose shards have a number of rows.
func newRollingDoors(t *testing.T, st store.Store, doors, each int) *rollingDoors {
	d := &rollingDoors{t: t, clock: new(passingTime), pulsed: map[[16]byte]int64{}}
	begun := time.Now()
	now := func() time.Time { return begun.Add(time.Duration(d.clock.on.Load())) }
	for range doors {
		d.scenes = append(d.scenes, newSceneOf(t, st, startRouterBy(t, st, rollingLease, now)))
	}
	a := d.scenes[0]
	d.table = a.keyspace + ".log"
	a.must(a.v5, "CREATE TABLE "+d.table+fmt.Sprintf(" (k int, c int, v text, PRIMARY KEY (k, c)) WITH write_sharding = {'strategy': 'rollover', 'rows': '%d'}", each))
	for _, s := range d.scenes {
		s.must(s.v5, "SELECT * FROM "+d.table)
		s.router.stop()
		s.router.done.Wait()
		d.counts = append(d.counts, s.countRollovers())
	}
	// Doors of other tests may have ended a moment ago without leaving.
	for range 300 {
		d.pass(0)
		if n, _ := d.scenes[0].router.rollovers.Doors(); n == doors {
			return d
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("doors of other tests do not end")
	return nil
}

// pass moves the clock on. Then each door in alive does the work that is due; all doors, if alive is
// empty.
func (d *rollingDoors) pass(by time.Duration, alive ...int) {
	d.t.Helper()
	d.clock.on.Add(int64(by))
	for n, s := range d.scenes {
		if len(alive) > 0 && !slices.Contains(alive, n) {
			continue
		}
		if err := s.router.schema.RenewLease(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		d.age(s.router.schema.Doors)
		if err := s.router.rollovers.Step(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
	}
}

// age corrects what a door has just read of how old the doors' signs of life are. The store says it
// by its own clock, by which a test takes as long as the machine does.
func (d *rollingDoors) age(m *tables.Membership) {
	seen := *m.Beaten.Load()
	now := d.clock.on.Load()
	d.pulsed[seen.Self] = now
	seen.Doors = slices.Clone(seen.Doors)
	for i, o := range seen.Doors {
		if at, ours := d.pulsed[o.ID]; ours {
			aged := *o
			aged.Age = time.Duration(now - at)
			seen.Doors[i] = &aged
		}
	}
	m.Beaten.Store(&seen)
}

// write writes rows to key 1 through a door.
func (d *rollingDoors) write(door, rows int) {
	d.t.Helper()
	s := d.scenes[door]
	for range rows {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s (k, c, v) VALUES (1, %d, 'x')", d.table, d.rows))
		d.rows++
	}
}

// current returns the current shard of key 1, as a door knows it.
func (d *rollingDoors) current(door int) int {
	s := d.scenes[door]
	return s.router.state.Load().Table(d.scenes[0].keyspace, "log").Layout.Rolled.Current(be32(1), s.router.opts.Now().UnixMicro())
}

// check has doors read all rows.
func (d *rollingDoors) check(doors ...int) {
	d.t.Helper()
	for _, n := range doors {
		s := d.scenes[n]
		if a := s.paged(s.v5, "SELECT c FROM "+d.table+" WHERE k = 1", 700); len(a.Rows) != d.rows || be(a.Rows[d.rows-1][0]) != uint64(d.rows-1) {
			d.t.Errorf("door %d reads %d of %d rows", n, len(a.Rows), d.rows)
		}
	}
}

// TestTwoDoorsRollOver lets two doors write to one key, so that a shard fills in half a minute.
// Each door must show the rows that the other one has acknowledged. No shard may get many more rows
// than it should. A shard may cost each door at most two writes to the directory.
func TestTwoDoorsRollOver(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const each, most, tick = 1200, 2, 500 * time.Millisecond
		d := newRollingDoors(t, st, 2, each)
		for d.current(0) <= most && d.rows < 2*most*each {
			for n := range d.scenes {
				d.write(n, 10)
				other := d.scenes[1-n]
				if a := other.must(other.v4, fmt.Sprintf("SELECT c FROM %s WHERE k = 1 AND c = %d", d.table, d.rows-1)); len(a.Rows) != 1 {
					t.Fatalf("door %d does not show row %d of door %d", 1-n, d.rows-1, n)
				}
			}
			d.pass(tick)
		}
		sizes := d.scenes[0].sizes(d.table)
		t.Logf("shards of %v rows, for %d each; %d and %d writes of the directory", sizes, each, d.counts[0].writes(), d.counts[1].writes())
		if len(sizes) < most {
			t.Fatalf("shards of %v rows", sizes)
		}
		for i, n := range sizes[:most] {
			if n > each*12/10 || n < each*8/10 {
				t.Errorf("shard %d has %d rows, for %d", i+1, n, each)
			}
		}
		if n := d.counts[0].writes() + d.counts[1].writes(); n > 2*2*most {
			t.Errorf("the doors wrote the directory %d times for %d shards", n, most)
		}
		d.check(0, 1)
		// A deletion at one door is of the shards that the other door has written.
		a, b := d.scenes[0], d.scenes[1]
		b.must(b.v5, "DELETE FROM "+d.table+" WHERE k = 1")
		if x := a.must(a.v5, "SELECT count(*) FROM "+d.table+" WHERE k = 1"); be(x.Rows[0][0]) != 0 {
			t.Errorf("%d rows are left", be(x.Rows[0][0]))
		}
	})
}

// TestDoorDiesWhileItOpens ends a door between the two entries for a shard. The other door goes on
// with the next shard, and nothing is written to the one that stays closed.
func TestDoorDiesWhileItOpens(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const each, tick = 100, 500 * time.Millisecond
		d := newRollingDoors(t, st, 2, each)
		announced := func() bool {
			rolled := d.scenes[0].router.state.Load().Table(d.scenes[0].keyspace, "log").Layout.Rolled
			return rolled.Shards(be32(1)) > rolled.Last(be32(1))
		}
		for !announced() {
			d.write(0, 4)
			d.pass(tick)
			if d.rows > 4*each {
				t.Fatal("the door announces no shard")
			}
		}
		for d.current(1) < 3 && d.rows < 20*each {
			d.write(1, 2)
			d.pass(tick, 1)
		}
		d.write(1, 5)
		sizes := d.scenes[1].sizes(d.table)
		t.Logf("shards of %v rows", sizes)
		if len(sizes) < 3 || sizes[1] != 0 || sizes[2] == 0 {
			t.Errorf("shards of %v rows", sizes)
		}
		d.check(1)
		fresh := newSceneOf(t, st, startRouterOf(t, st, rollingLease))
		if a := fresh.must(fresh.v5, "SELECT count(*) FROM "+d.table+" WHERE k = 1"); be(a.Rows[0][0]) != uint64(d.rows) {
			t.Errorf("a door that starts reads %d of %d rows", be(a.Rows[0][0]), d.rows)
		}
	})
}

// TestStalledDoorRollsOver holds back the answers of a door while another one opens the next shard
// of the key and writes to it. The stalled door's read shows those rows, its write is not lost, and
// its deletion deletes all that is older.
func TestStalledDoorRollsOver(t *testing.T) {
	for _, version := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
		p := newStalledDoor(t, version)
		w := way{name: "rolled", table: "'strategy': 'rollover', 'rows': '1000'", text: "SELECT c FROM TABLE WHERE k = 1", prepared: true, read: true}
		count := func(table string) int {
			t.Helper()
			return len(p.must(p.v5, "SELECT c FROM "+table+" WHERE k = 1").Rows)
		}
		for _, op := range []string{"read", "write", "deletion"} {
			w.text = map[string]string{"read": "SELECT c FROM TABLE WHERE k = 1", "write": "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", "deletion": "DELETE FROM TABLE WHERE k = 1"}[op]
			table, text, id := p.table(w)
			if op == "deletion" {
				p.must(p.v5, "INSERT INTO "+table+" (k, c, v) VALUES (1, 1, 1)")
			}
			clock, stamp := p.router.schema.Clock, int64(0)
			if op == "deletion" {
				clock.Ahead.Add(int64(3 * time.Second / 2)) // it takes the store's clock for ahead, and so is its deletion
			}
			a := p.stalled(w, text, id, func() {
				stamp = clock.Now().UnixMicro()
				o := p.scene.router.rollovers
				o.Announcing, o.AheadOfClock, o.ClockSkew = 0, 0, 0 // its opening is soon
				p.roll(table, be32(1))
				name := strings.TrimPrefix(table, p.keyspace+".")
				for p.scene.router.state.Load().Table(p.keyspace, name).Layout.Rolled.Current(be32(1), time.Now().UnixMicro()) < 2 {
					time.Sleep(time.Millisecond) // until the opening
				}
				p.must(p.v5, "INSERT INTO "+table+" (k, c, v) VALUES (1, 2, 2) USING TIMESTAMP "+fmt.Sprint(time.Now().Add(100*time.Hour).UnixMicro()))
				p.must(p.v5, "INSERT INTO "+table+" (k, c, v) VALUES (1, 3, 3)")
				p.clock.on.Add(int64(time.Hour))
			})
			switch {
			case a.Kind == difftest.Error:
				t.Errorf("%s: %s", op, show(a))
			case op == "read" && len(a.Rows) != 2:
				t.Errorf("the read shows %d rows", len(a.Rows))
			case op == "write" && count(table) != 3:
				t.Errorf("after the write there are %d rows", count(table))
			}
			if op != "deletion" {
				continue
			}
			left := p.must(p.v5, "SELECT c, writetime(v) FROM "+table+" WHERE k = 1").Rows
			for _, r := range left {
				if at := int64(binary.BigEndian.Uint64(r[1])); at < stamp {
					t.Errorf("the deletion at %d leaves row %d, written at %d", stamp, r[0], at)
				}
			}
			if len(left) == 0 {
				t.Error("the deletion deletes a later row")
			}
		}
	}
}
