// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/reshard"
)

// newPlainAtDoors makes a plain table, and n doors that clients use and a test can stop.
func newPlainAtDoors(t *testing.T, st store.Store, n int) (*lived, []*sleeper) {
	t.Helper()
	return newAtDoors(t, st, n, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c))")
}

// newAtDoors makes a table, and n doors that clients use and a test can stop.
func newAtDoors(t *testing.T, st store.Store, n int, create string) (*lived, []*sleeper) {
	t.Helper()
	var l *lived
	var beds []*sleeper
	for i := range n {
		bed := &sleeper{Store: st}
		beds = append(beds, bed)
		s := session(t, serveDoor(t, bed, startDoor(t, bed, string(rune('a'+i))+":1")), 4+i%2)
		if l == nil {
			l = livedAt(t, st, s)
			exec(t, s, "CREATE TABLE lived.other (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}") // makes the catalogue
			exec(t, s, create)
			continue
		}
		l.doors = append(l.doors, s)
	}
	return l, beds
}

// TestSecondTableInAFleet shards a plain table that clients use at two doors, takes that back, and shards it
// again while another door joins.
func TestSecondTableInAFleet(t *testing.T) {
	st := embedded(t)
	l, _ := newPlainAtDoors(t, st, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 6*patience)
	defer cancel()
	l.live(3, func() {
		l.change(ctx, "'shards': '5'", "rollback")
		if s := l.status(); s.Result != reshard.ResultTakenBack {
			t.Errorf("after it was taken back: %+v", s)
		}
		exec(t, l.doors[0], "ALTER TABLE lived.t WITH write_sharding = {'shards': '3'}")
		third := session(t, serveDoor(t, st, startDoor(t, st, "z:1")), 4)
		for s := l.status(); s.Phase != reshard.NoPhase; s = l.status() {
			if ctx.Err() != nil || s.Problem != "" {
				t.Fatalf("the change does not end: %+v", s)
			}
			l.scan(third)
		}
		l.scan(third)
		if s := l.status(); s.Result != reshard.ResultDone {
			t.Errorf("%+v", s)
		}
	})
}

// TestSecondTableAtDoorsThatStop takes a plain table to 50 shards, to 75, and back to plain, under clients of
// two doors. A third door begins the changes, and then stops for ever. One of the two stops for
// random times. No request fails at the door that never stops, and every answer is right.
func TestSecondTableAtDoorsThatStop(t *testing.T) { onStores(t, secondTableAtDoorsThatStop) }

func secondTableAtDoorsThatStop(t *testing.T, st store.Store) {
	l, beds := newPlainAtDoors(t, st, 3)
	begins := l.doors[2]
	l.doors = l.doors[:2]
	ctx, cancel := context.WithTimeout(t.Context(), 8*patience)
	defer cancel()
	r := mathrand.New(mathrand.NewPCG(mathrand.Uint64(), 9))
	l.live(3, func() {
		for i, shards := range []string{"'shards': '50'", "'shards': '75'", ""} {
			var stops sync.WaitGroup
			stops.Go(func() { beds[1].naps(r, 2) })
			if i == 0 {
				exec(t, begins, "ALTER TABLE lived.t WITH write_sharding = {"+shards+"}")
				defer beds[2].sleep()() // it wakes when the test has ended
			} else {
				exec(t, l.doors[0], "ALTER TABLE lived.t WITH write_sharding = {"+shards+"}")
			}
			l.end(ctx)
			stops.Wait()
		}
	})
}

// TestTimeInAFleet gives a table buckets of time, and shards by a hash, under clients of two doors. One of
// them stops for random times.
func TestTimeInAFleet(t *testing.T) {
	l, beds := newAtDoors(t, embedded(t), 2, "CREATE TABLE lived.t (p int, c timestamp, v text, n int, PRIMARY KEY (p, c))")
	l.scale = 15_000
	ctx, cancel := context.WithTimeout(t.Context(), 6*patience)
	defer cancel()
	r := mathrand.New(mathrand.NewPCG(mathrand.Uint64(), 5))
	l.live(3, func() {
		for _, layout := range []string{"'strategy': 'time', 'by': 'c', 'bucket': '1m', 'shards': '2'", "'strategy': 'calculated', 'shards': '3'"} {
			var stops sync.WaitGroup
			stops.Go(func() { beds[1].naps(r, 1) })
			l.change(ctx, layout)
			stops.Wait()
		}
	})
}

// TestSecondTableOvertakesAWrite lets a door stop while it forwards statements to a plain table. Another door
// shards the table meanwhile, so that no read goes to the plain table any more. When the first door goes
// on, it acknowledges no such write, and answers no such read.
func TestSecondTableOvertakesAWrite(t *testing.T) { onStores(t, secondTableOvertakesAWrite) }

func secondTableOvertakesAWrite(t *testing.T, st store.Store) {
	hints := func(o *Options) { o.Hints = time.Hour } // the change stays at settled
	bed := &sleeper{Store: st}
	l := livedAt(t, st, session(t, serveDoor(t, st, startDoorWith(t, st, "a:1", hints)), 4))
	exec(t, l.doors[0], "CREATE TABLE lived.other (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}") // makes the catalogue
	exec(t, l.doors[0], "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c))")
	exec(t, l.doors[0], "INSERT INTO lived.t (p, c, v) VALUES (1, 0, 'x')")
	at := serveDoor(t, bed, startDoorWith(t, bed, "b:1", hints))
	insert := "INSERT INTO lived.t (p, c, v) VALUES (1, %d, 'x')"
	sends := map[string]func(c *difftest.Conn, p *difftest.Answer) (*difftest.Answer, error){
		"EXECUTE": func(c *difftest.Conn, p *difftest.Answer) (*difftest.Answer, error) {
			return c.Execute(p, difftest.Request{})
		},
		"QUERY": func(c *difftest.Conn, _ *difftest.Answer) (*difftest.Answer, error) {
			return c.Query(difftest.Request{Query: fmt.Sprintf(insert, 2)})
		},
		"BATCH": func(c *difftest.Conn, p *difftest.Answer) (*difftest.Answer, error) {
			return c.Batch(&message.Batch{Children: []*message.BatchChild{{Query: fmt.Sprintf(insert, 3)}, {Id: p.ID}}})
		},
		"SELECT": func(c *difftest.Conn, _ *difftest.Answer) (*difftest.Answer, error) {
			return c.Query(difftest.Request{Query: "SELECT v FROM lived.t WHERE p = 1 AND c = 0"})
		},
	}
	var all, began sync.WaitGroup
	asleep := make(chan struct{})
	for name, send := range sends {
		c := dial(t, at, primitive.ProtocolVersion5)
		p, err := c.Prepare(fmt.Sprintf(insert, 1))
		if err != nil || p.Kind != difftest.Prepared {
			t.Fatalf("%v %s", err, show(p))
		}
		began.Add(1)
		all.Go(func() {
			<-asleep
			began.Done()
			a, err := send(c, p)
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case name == "SELECT" && a.Code != primitive.ErrorCodeServerError || name != "SELECT" && a.Code != primitive.ErrorCodeWriteTimeout || !strings.Contains(a.Text, "another door began to shard a table"):
				t.Errorf("%s is answered %s", name, show(a))
			}
		})
	}
	wake := bed.sleep()
	close(asleep)
	began.Wait()
	time.Sleep(200 * time.Millisecond) // they are on the way
	exec(t, l.doors[0], "ALTER TABLE lived.t WITH write_sharding = {'shards': '4'}")
	for deadline := time.Now().Add(patience); l.status().Phase != reshard.Settled.String(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the change does not come to settled: %+v", l.status())
		}
	}
	wake()
	all.Wait()
	var text string
	if err := l.doors[0].Query("ALTER TABLE lived.t WITH write_sharding = {'change': 'finish'}").Scan(&text); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l.end(ctx)
}

// TestSecondTableBesideAnOldDoor refuses a change while a door is there that acknowledges what it has
// forwarded after its lease has ended.
func TestSecondTableBesideAnOldDoor(t *testing.T) {
	st := embedded(t)
	s := session(t, serveDoor(t, st, startDoor(t, st, "127.0.0.1:1")), 4)
	exec(t, s, "CREATE KEYSPACE lived WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, s, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c))")
	changeRefused(t, s, "lived.t", "'shards': '4'", "in which doors find each other")
	exec(t, s, "CREATE TABLE lived.other (p int, c int, v text, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}") // makes the catalogue
	own := catalog.NewSession(st)
	t.Cleanup(own.Close)
	old := fleet.New(fleet.Options{Session: own, Now: time.Now, UUID: random, Self: fleet.Door{CQL: "old:1", Release: "0.2", Steps: append(reshard.Steps(), fleet.StepAdopted)}})
	if _, err := old.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	changeRefused(t, s, "lived.t", "'shards': '4'", "door old:1, of release 0.2, does not know")
	changeRefused(t, s, "lived.other", "", "door old:1, of release 0.2, does not know")
	changeRefused(t, s, "lived.other", "'strategy': 'rollover', 'rows': '30'", "door old:1, of release 0.2, does not know")
	if err := old.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'shards': '4'}")
}
