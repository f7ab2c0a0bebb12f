// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

var (
	doorsFor  = flag.Duration("reshard.doors", 0, "how long TestDoorsKilledWhileChanging kills and stops doors; 0: one change, in which a door is killed and another one stopped")
	doorsStop = flag.Duration("reshard.stop", time.Minute, "the longest time for which it stops a door")
	doorsReal = flag.Bool("reshard.cassandra", false, "its doors are in front of a Cassandra, not of the embedded engine")
)

// The table has rows of clients, which each change their own, and steady ones, which nobody changes.
const (
	doorPartitions = 3
	doorRows       = 12 // of one client in one partition
	doorSteady     = 60 // in one partition; their clustering keys are negative
)

// member is one door of several on a store.
type member struct {
	*mortal

	mu      sync.Mutex
	life    int       // counts its processes
	down    bool      // it is killed or stopped
	changed time.Time // when it was last killed, started or continued
}

func (m *member) is(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down, m.changed = down, time.Now()
}

// end kills the door. It may be stopped.
func (m *member) end() {
	m.mu.Lock()
	m.life++
	m.mu.Unlock()
	m.kill()
	m.is(true)
}

// again starts the door after end.
func (m *member) again() error {
	err := m.run()
	m.is(err != nil)
	return err
}

// signal sends the door's process a signal.
func (m *member) signal(s syscall.Signal) error {
	err := m.cmd.Process.Signal(s)
	m.is(s == syscall.SIGSTOP)
	return err
}

// sent notes that a request was sent to the door.
func (m *member) sent() lost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return lost{door: m, life: m.life, at: time.Now()}
}

// lost is a write whose outcome is unknown.
type lost struct {
	value int
	stamp int64 // 0: the store's or a door's
	door  *member
	life  int
	at    time.Time
}

// over reports whether the write can take effect no more: what a killed door had sent has arrived, and
// what a living door got has run into its time limit.
func (l *lost) over() bool {
	const arrived, ended = 2 * time.Second, 25 * time.Second
	l.door.mu.Lock()
	defer l.door.mu.Unlock()
	since := time.Since(l.door.changed)
	if l.life != l.door.life {
		return !l.door.down || since > arrived
	}
	return !l.door.down && since > ended && time.Since(l.at) > ended
}

// kept is what a client knows of one of its rows.
type kept struct {
	value int   // what was acknowledged last
	stamp int64 // of that
	lost  []lost
}

// may reports whether the row may have a value.
func (k *kept) may(value int) bool {
	return value == k.value || slices.ContainsFunc(k.lost, func(l lost) bool { return l.value == value && (l.stamp == 0 || l.stamp > k.stamp) })
}

// open reports whether a write of unknown outcome may still take effect.
func (k *kept) open() bool {
	return slices.ContainsFunc(k.lost, func(l lost) bool { return !l.over() })
}

// company is what all clients share.
type company struct {
	doors []*member
	stop  chan struct{}
	stamp atomic.Int64 // the last timestamp of a client; no two are equal

	mu       sync.Mutex
	faults   []string
	answered map[string]int // what requests were answered, by kind of answer
}

func (c *company) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (c *company) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered[what]++
}

func (c *company) over() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// next returns a timestamp that is later than all before.
func (c *company) next() int64 {
	for {
		last := c.stamp.Load()
		now := max(time.Now().UnixMicro(), last+1)
		if c.stamp.CompareAndSwap(last, now) {
			return now
		}
	}
}

// doorsPatience is how long a change may take while doors are killed and stopped.
const doorsPatience = 6 * time.Minute

// TestDoorsKilledWhileChanging runs three doors, each a process of its own, on one store. Clients use all of
// them while a plain table becomes sharded, gets other numbers of shards and strategy rollover, and becomes plain again. Doors are
// killed and started again, or stopped and continued. No acknowledged row is lost, no deleted one comes back,
// and no read shows a row twice or misses one that was there all the time.
func TestDoorsKilledWhileChanging(t *testing.T) {
	t.Parallel()
	at := ""
	if *doorsReal {
		at = cassandra.Shared(t)
	} else {
		at = startMortal(t, "", "--store-only", "--data", t.TempDir()).cql
	}
	all := &company{stop: make(chan struct{}), answered: map[string]int{}}
	for range 3 {
		all.doors = append(all.doors, &member{mortal: startMortal(t, "", "--cassandra", at)})
	}
	setup := all.caller(1, false)
	for _, text := range []string{"DROP KEYSPACE IF EXISTS k", "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))"} {
		if a := setup.ask(all.doors[0], difftest.Request{Query: text}); a == nil || a.Kind == difftest.Error {
			t.Fatalf("%s: %+v", text, a)
		}
	}
	for p := range doorPartitions {
		for n := range doorSteady {
			if a := setup.ask(all.doors[0], difftest.Request{Query: doorsInsert, Values: []*primitive.Value{intValue(p), intValue(-1 - n), intValue(n + 1)}}); a == nil || a.Kind != difftest.Void {
				t.Fatalf("%+v", a)
			}
		}
	}
	const clients = 4
	rows := make([]map[[2]int]*kept, clients)
	var living sync.WaitGroup
	for i := range rows {
		rows[i] = map[[2]int]*kept{}
		for p := range doorPartitions {
			for n := range doorRows {
				rows[i][[2]int{p, i*doorRows + n}] = &kept{value: gone}
			}
		}
		c := all.caller(uint64(10+i), i%2 == 0)
		living.Go(func() { c.live(i, rows[i], i < 2) })
	}
	var whole atomic.Int64
	for i := range 2 {
		c := all.caller(uint64(20+i), i == 0)
		living.Go(func() { whole.Add(int64(c.scans())) })
	}
	if *doorsFor == 0 {
		all.once(t, setup)
	} else {
		all.long(t, setup)
	}
	close(all.stop)
	living.Wait()

	// What doors have not answered yet ends with them.
	for _, m := range all.doors {
		m.end()
	}
	for _, m := range all.doors {
		if err := m.again(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second)
	if phase, _ := setup.order(doorsStatus); phase != "none" && !setup.change("'change': 'status'", doorsPatience, false) {
		t.Error("the last change does not end")
	}
	all.compare(t, setup, rows)
	for _, what := range slices.Sorted(maps.Keys(all.answered)) {
		t.Logf("%7d × %s", all.answered[what], what)
	}
	t.Logf("%d scans of the whole table", whole.Load())
	if len(all.faults) > 0 {
		for _, m := range all.doors {
			m.end()
			t.Logf("door %s printed:\n%s", m.cql, m.printed.String())
		}
		t.Fatalf("%d faults (seed %d):\n%s", len(all.faults), *killsSeed, strings.Join(all.faults[:min(20, len(all.faults))], "\n"))
	}
}

// compare compares what each door shows with what the clients know.
func (c *company) compare(t *testing.T, by *caller, rows []map[[2]int]*kept) {
	by.conns = map[*member]*difftest.Conn{}
	doors := c.doors
	defer func() { c.doors = doors }()
	for _, m := range doors {
		c.doors = []*member{m}
		for _, text := range []string{doorsScan, doorsPart} {
			there := map[[2]int]int{}
			if text == doorsScan {
				there = by.scan(text)
			} else {
				for p := range doorPartitions {
					maps.Copy(there, by.scan(text, intValue(p)))
				}
			}
			if there == nil {
				t.Fatalf("door %s does not answer %s", m.cql, text)
			}
			by.steady(there, text, 0, 1, 2)
			for _, own := range rows {
				for at, k := range own {
					got, is := there[at]
					if !is {
						got = gone
					}
					if !k.may(got) {
						c.fault("at the end %s at door %s shows row %v as %d; it should be %+v", text, m.cql, at, got, k)
					}
					delete(there, at)
				}
			}
			if len(there) != doorPartitions*doorSteady {
				c.fault("at the end %s at door %s shows %d rows too many", text, m.cql, len(there)-doorPartitions*doorSteady)
			}
		}
	}
}

// once makes a plain table a sharded one while the door that moves its rows is killed, and another one is stopped
// for a moment.
func (c *company) once(t *testing.T, by *caller) {
	doors := c.doors
	c.doors = doors[:1] // which begins the change, so that it moves the rows
	if _, refused := by.order("'shards': '5'"); refused != "" {
		t.Fatal(refused)
	}
	c.doors = doors
	doors[0].end()
	if err := doors[1].signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := doors[1].signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := doors[0].again(); err != nil {
		t.Fatal(err)
	}
	by.change(doorsStatus, 2*time.Minute, false) // with what vanishes, a step takes 18 s
}

// long changes the layout again and again, and kills and stops one or two doors at a time.
func (c *company) long(t *testing.T, by *caller) {
	end := time.Now().Add(*doorsFor)
	var harm sync.WaitGroup
	harm.Go(func() {
		r := rand.New(rand.NewPCG(*killsSeed, 30))
		for {
			// Each harm can delay a step by 18 s.
			time.Sleep(time.Duration(r.IntN(40_000)) * time.Millisecond)
			if time.Now().After(end) {
				return
			}
			doors := r.Perm(len(c.doors))[:1+r.IntN(2)] // one goes on
			var both sync.WaitGroup
			for _, i := range doors {
				r := rand.New(rand.NewPCG(r.Uint64(), 0))
				both.Go(func() {
					if err := c.harm(r, c.doors[i]); err != nil {
						c.fault("%v", err)
					}
				})
			}
			both.Wait()
		}
	})
	layouts := []string{"'shards': '5'", "'shards': '8'", "'strategy': 'rollover', 'rows': '30'", "'strategy': 'calculated', 'shards': '3'", "", "'strategy': 'rollover', 'rows': '20'", ""}
	for n := 0; time.Now().Before(end); n++ {
		if !by.change(layouts[n%len(layouts)], doorsPatience, by.r.IntN(6) == 0) {
			break
		}
	}
	harm.Wait()
}

// harm kills a door and starts it again, or stops it and lets it go on.
func (c *company) harm(r *rand.Rand, m *member) error {
	pause := time.Duration(r.Int64N(1<<(8+r.IntN(8)))) * time.Millisecond
	pause = min(pause, *doorsStop)
	if r.IntN(2) == 0 {
		c.count("kills")
		m.end()
		time.Sleep(min(pause, 5*time.Second))
		return m.again()
	}
	c.count("stops")
	if err := m.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(pause)
	if r.IntN(4) == 0 {
		c.count("kills of stopped doors")
		m.end()
		return m.again()
	}
	return m.signal(syscall.SIGCONT)
}
