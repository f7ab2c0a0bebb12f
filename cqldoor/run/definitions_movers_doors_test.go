// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/reshard"
)

// sleeper is the store of a door that a test can stop, as SIGSTOP does. Until the door is woken,
// its requests stay on the way, and no answer reaches it.
type sleeper struct {
	store.Store
	mu   sync.Mutex
	wake chan struct{} // nil: the door is awake
}

func (s *sleeper) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *sleeper) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	<-s.awake()
	l, err := s.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return sleepyLink{l, s}, nil
}

// sleep stops the door until the test calls the returned function.
func (s *sleeper) sleep() (wake func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan struct{})
	s.wake = ch
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wake = nil
		close(ch)
	}
}

// naps stops the door several times for random times.
func (s *sleeper) naps(r *mathrand.Rand, times int) {
	for range times {
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		wake := s.sleep()
		time.Sleep(time.Duration(100+r.IntN(2500)) * time.Millisecond)
		wake()
	}
}

var now = func() chan struct{} { ch := make(chan struct{}); close(ch); return ch }()

func (s *sleeper) awake() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		return now
	}
	return s.wake
}

type sleepyLink struct {
	store.Link
	of *sleeper
}

func (l sleepyLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	answer := func(resp wire.Message) {
		awake := l.of.awake()
		if awake == now {
			reply(resp)
			return
		}
		resp.Body, resp.Arrival = slices.Clone(resp.Body), nil // both are the reading goroutine's
		go func() {
			<-awake
			reply(resp)
		}()
	}
	awake := l.of.awake()
	if awake == now {
		l.Link.Send(ctx, req, answer)
		return
	}
	req.Body = slices.Clone(req.Body)
	go func() {
		<-awake
		l.Link.Send(context.WithoutCancel(ctx), req, answer)
	}()
}

// startDoor starts one of several doors. It detects vanished doors within seconds.
func startDoor(t *testing.T, st store.Store, name string) *Router {
	t.Helper()
	return startDoorWith(t, st, name, func(*Options) {})
}

// startDoorWith is startDoor with changed options.
func startDoorWith(t *testing.T, st store.Store, name string, with func(*Options)) *Router {
	t.Helper()
	o := Options{
		Lease: time.Second, Longest: 300 * time.Millisecond, Takeover: 2 * time.Second, Self: fleet.Door{CQL: name},
		Store: st, Now: time.Now, Timeuuid: timeuuid, UUID: random, IntN: mathrand.IntN, Eras: new(cqldoor.Eras),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)).With("door", name),
	}
	with(&o)
	r := New(o)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestLiveChangeOfSeveralDoors changes the layout of a table that clients use at two doors.
func TestLiveChangeOfSeveralDoors(t *testing.T) { onStores(t, liveChangeOfSeveralDoors) }

func liveChangeOfSeveralDoors(t *testing.T, st store.Store) {
	l, _ := newLivedAtDoors(t, st)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l.live(3, func() {
		l.change(ctx, "'shards': '6'")
		l.change(ctx, "'shards': '2'", "rollback")
	})
}

// newLivedAtDoors makes a table and two doors that a test can stop.
func newLivedAtDoors(t *testing.T, st store.Store) (*lived, [2]*sleeper) {
	t.Helper()
	beds := [2]*sleeper{{Store: st}, {Store: st}}
	s := session(t, serveDoor(t, beds[0], startDoor(t, beds[0], "a:1")), 4)
	l := livedAt(t, st, s)
	exec(t, s, "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	b := startDoor(t, beds[1], "b:1")
	l.doors = append(l.doors, session(t, serveDoor(t, beds[1], b), 5))
	return l, beds
}

// TestDoorsThatStop stops doors for random times while the layout changes, including the door that
// moves rows, whose change another door takes over. Doors that wake give no wrong answer, and no
// change stays half done.
func TestDoorsThatStop(t *testing.T) { onStores(t, doorsThatStop) }

func doorsThatStop(t *testing.T, st store.Store) {
	l, beds := newLivedAtDoors(t, st)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	r := mathrand.New(mathrand.NewPCG(3, 9))
	l.live(3, func() {
		var stops sync.WaitGroup
		stops.Go(func() {
			for range 5 {
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				wake := beds[r.IntN(2)].sleep()
				time.Sleep(time.Duration(100+r.IntN(3000)) * time.Millisecond)
				wake()
			}
		})
		l.change(ctx, "'shards': '7'")
		stops.Wait()
	})
}

// TestTakenOver stops the door that moves rows for ever: another door completes the change.
func TestTakenOver(t *testing.T) { onStores(t, takenOver) }

func takenOver(t *testing.T, st store.Store) {
	l, beds := newLivedAtDoors(t, st)
	for c := range 500 {
		exec(t, l.doors[0], "INSERT INTO "+l.table+" (p, c, v) VALUES (1, ?, 'x')", c)
	}
	exec(t, l.doors[0], "ALTER TABLE "+l.table+" WITH write_sharding = {'shards': '9'}")
	wake := beds[0].sleep()
	defer wake()
	l.doors = l.doors[1:]
	var s reshard.Status
	for s = l.status(); s.Phase != reshard.NoPhase; s = l.status() {
		time.Sleep(20 * time.Millisecond)
	}
	if s.To != 9 {
		t.Errorf("%+v", s)
	}
	var n int
	if err := l.doors[0].Query("SELECT count(*) FROM " + l.table + " WHERE p = 1").Scan(&n); err != nil || n != 500 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestDoorOfAnOlderRelease checks that a change is refused while some door does not know its steps.
func TestDoorOfAnOlderRelease(t *testing.T) {
	st := embedded(t)
	s := newSceneOf(t, st, startRouterOf(t, st, 5*time.Second))
	table := s.keyspace + ".t"
	s.must(s.v5, "CREATE TABLE "+table+" (k int, c int, v int, PRIMARY KEY (k, c))"+shardedByFour)
	own := catalog.NewSession(st)
	defer own.Close()
	old := fleet.New(fleet.Options{Session: own, Now: time.Now, UUID: random, Self: fleet.Door{CQL: "old:1", Release: "0.1", Steps: reshard.Steps()[:2]}})
	if _, err := old.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	alter := "ALTER TABLE " + table + " WITH write_sharding = {'shards': '8'}"
	if a := s.query(s.v5, alter); !strings.Contains(a.Text, "door old:1, of release 0.1, does not know") {
		t.Errorf("%s", show(a))
	}
	if err := old.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(s.v5, alter)
}

// TestEndedChangesAreOver asks each of two doors for the progress of changes. A door that says that
// a change has ended carries out what is refused during one.
func TestEndedChangesAreOver(t *testing.T) {
	st := embedded(t)
	l := &lived{t: t, table: "over.t"}
	for _, name := range []string{"a", "b"} {
		l.doors = append(l.doors, session(t, serveDoor(t, st, startDoor(t, st, name)), 5))
	}
	exec(t, l.doors[0], "CREATE KEYSPACE over WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, l.doors[0], "CREATE TABLE over.t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}")
	for i, shards := range []int{5, 3, 7} {
		exec(t, l.doors[i%2], fmt.Sprintf("ALTER TABLE over.t WITH write_sharding = {'shards': '%d'}", shards))
		for _, door := range l.doors {
			at := &lived{t: t, table: l.table, doors: []*gocql.Session{door}}
			for at.status().Phase != reshard.NoPhase {
				time.Sleep(time.Millisecond)
			}
			if err := door.Query("UPDATE over.t SET v = ? WHERE p = 1 AND c = 1 IF v != ?", i, i).Exec(); err != nil {
				t.Errorf("the change to %d shards has ended: %v", shards, err)
			}
		}
	}
}
