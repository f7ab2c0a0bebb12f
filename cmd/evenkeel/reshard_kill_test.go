// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

var (
	kills     = flag.Int("reshard.kills", 20, "how often TestKilledWhileChanging and TestItemsWhileKilled kill the door")
	killsSeed = flag.Uint64("reshard.seed", 1, "seed of their draws")
)

// mortal is an evenkeel in a process that is killed and started again.
type mortal struct {
	t         *testing.T
	cql, http string
	dynamodb  string   // "": no door for DynamoDB
	args      []string // of serve, besides addresses
	cmd       *exec.Cmd
	guard     *watchdog.Watchdog
	printed   strings.Builder
}

// newMortal starts an evenkeel on the embedded engine.
func newMortal(t *testing.T) *mortal {
	t.Helper()
	return startMortal(t, loopback.FreeAddr(t), "--data", t.TempDir())
}

// startMortal starts an evenkeel. args are those of serve, besides addresses.
func startMortal(t *testing.T, dynamodb string, args ...string) *mortal {
	t.Helper()
	m := &mortal{t: t, cql: loopback.FreeAddr(t), http: loopback.FreeAddr(t), dynamodb: dynamodb, args: args}
	var err error
	if m.guard, err = watchdog.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.kill()
		m.guard.Guard(0)
		m.guard.Close()
	})
	m.start()
	return m
}

func (m *mortal) start() {
	m.t.Helper()
	if err := m.run(); err != nil {
		m.t.Fatal(err)
	}
}

// run starts the process and waits until it is ready.
func (m *mortal) run() error {
	m.printed.Reset()
	m.cmd = exec.Command("evenkeel", append([]string{"serve", "--listen-cql", m.cql, "--listen-http", m.http, "--listen-dynamodb", cmp.Or(m.dynamodb, "off")}, m.args...)...)
	m.cmd.Stdout, m.cmd.Stderr = &m.printed, &m.printed
	if err := m.cmd.Start(); err != nil {
		return err
	}
	m.guard.Guard(m.cmd.Process.Pid)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get("http://" + m.http + "/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	m.kill()
	return fmt.Errorf("the door does not become ready:\n%s", m.printed.String())
}

// kill is kill -9.
func (m *mortal) kill() {
	_ = m.cmd.Process.Kill() // it may have ended
	_ = m.cmd.Wait()         // with the state of one that was killed
}

func (m *mortal) dial() *difftest.Conn {
	m.t.Helper()
	c, err := difftest.Dial(m.cql, primitive.ProtocolVersion5, "", "")
	if err != nil {
		m.t.Fatalf("%v\n%s", err, m.printed.String())
	}
	return c
}

// gone is the value of a row that is not there.
const gone = -2

// ledger is what one client knows of its rows: the value of each that is there. A row is in doubt
// if one of its writes has no answer. Such a write may take effect at any time. But it must not
// disappear after a read has shown it, and it must not take effect after a later write that was
// answered.
type ledger struct {
	rows    map[[2]int]int
	doubt   map[[2]int][]int // the values that such writes give a row
	written int
}

// newLedgers returns one empty ledger for each of n clients.
func newLedgers(n int) []*ledger {
	ledgers := make([]*ledger, n)
	for i := range ledgers {
		ledgers[i] = &ledger{rows: map[[2]int]int{}, doubt: map[[2]int][]int{}}
	}
	return ledgers
}

func (l *ledger) of(at [2]int) int {
	if v, ok := l.rows[at]; ok {
		return v
	}
	return gone
}

func (l *ledger) is(at [2]int, v int) {
	delete(l.doubt, at)
	if v == gone {
		delete(l.rows, at)
	} else {
		l.rows[at] = v
	}
}

const killPartitions, killRows = 3, 40

// killScale is the number of milliseconds between the clustering keys of two rows.
const killScale = 20_000

// write writes until the door is killed.
func (l *ledger) write(t *testing.T, c *difftest.Conn, client int, r *rand.Rand, faults *[]string, mu *sync.Mutex) {
	for {
		p, row := r.IntN(killPartitions), client*killRows+r.IntN(killRows)
		at := [2]int{p, row}
		n := r.IntN(1 << 20)
		text := fmt.Sprintf("INSERT INTO k.t (p, c, v) VALUES (%d, %d, %d)", p, row*killScale, n)
		deletes := r.IntN(3) == 0
		if deletes {
			text = fmt.Sprintf("DELETE FROM k.t WHERE p = %d AND c = %d", p, row*killScale)
		}
		if deletes {
			n = gone
		}
		a, err := c.Query(difftest.Request{Query: text})
		if err != nil {
			l.doubt[at] = append(l.doubt[at], n) // the door is dead
			return
		}
		if a.Kind == difftest.Error {
			mu.Lock()
			*faults = append(*faults, text+": "+a.Text)
			mu.Unlock()
			return
		}
		l.written++
		l.is(at, n)
	}
}

// check compares what the door shows with what the clients know, row by row and in a scan.
func (l *ledger) check(there map[[2]int]int, client int) (faults []string) {
	for p := range killPartitions {
		for row := client * killRows; row < (client+1)*killRows; row++ {
			at := [2]int{p, row}
			got, is := there[at]
			if !is {
				got = gone
			}
			switch want := l.of(at); {
			case got == want:
			case slices.Contains(l.doubt[at], got):
				l.is(at, got)
			default:
				faults = append(faults, fmt.Sprintf("row %v is %d; it should be %d, or in doubt %v", at, got, want, l.doubt[at]))
			}
		}
	}
	return faults
}

// failOn ends the test with the first ten faults and the seed, if there are faults.
func failOn(t *testing.T, after string, faults []string) {
	t.Helper()
	if len(faults) > 0 {
		t.Fatalf("%s (seed %d):\n%s", after, *killsSeed, strings.Join(faults[:min(10, len(faults))], "\n"))
	}
}

// shown reads the whole table, page by page; each row may be there once. A scan that meets
// the end of a change begins again.
func shown(t *testing.T, c *difftest.Conn, text string) (map[[2]int]int, []string) {
	t.Helper()
	number := func(b []byte) int {
		if b == nil {
			return -1 // no client writes a null
		}
		return int(binary.BigEndian.Uint32(b))
	}
	row := func(b []byte) int {
		if len(b) != 8 {
			return -1
		}
		return int(binary.BigEndian.Uint64(b) / killScale)
	}
	there := map[[2]int]int{}
	var faults []string
	for state := []byte(nil); ; {
		a, err := c.Query(difftest.Request{Query: text, PageSize: 23, State: state})
		if err == nil && a.Kind == difftest.Error && a.Text == "Invalid value for the paging state" {
			clear(there)
			faults, state = nil, nil
			continue
		}
		if err != nil || a.Kind != difftest.Rows {
			t.Fatalf("%s: %v %v", text, a, err)
		}
		for _, cells := range a.Rows {
			at := [2]int{number(cells[0]), row(cells[1])}
			if _, twice := there[at]; twice {
				faults = append(faults, fmt.Sprintf("%s shows row %v twice", text, at))
			}
			there[at] = number(cells[2])
		}
		if state = a.State; state == nil {
			return there, faults
		}
	}
}

// TestKilledWhileChanging kills the door at random moments of random changes, while clients write.
// No acknowledged write may be lost, no deleted row may come back, and no read may show a row
// twice. At the end, the change that is under way must finish. make kill-reshard does so 500 times.
func TestKilledWhileChanging(t *testing.T) {
	t.Run("table", func(t *testing.T) {
		killedWhileChanging(t, byThree, func(r *rand.Rand) string { return fmt.Sprintf("'shards': '%d'", 1+r.IntN(9)) })
	})
	t.Run("plain", func(t *testing.T) {
		killedWhileChanging(t, "", func(r *rand.Rand) string { return fmt.Sprintf("'shards': '%d'", 1+r.IntN(9)) })
	})
	t.Run("plain again", func(t *testing.T) {
		killedWhileChanging(t, byThree, func(r *rand.Rand) string {
			if r.IntN(2) == 0 {
				return ""
			}
			return fmt.Sprintf("'shards': '%d'", 1+r.IntN(9))
		})
	})
	t.Run("time", func(t *testing.T) {
		killedWhileChanging(t, byThree, func(r *rand.Rand) string {
			if r.IntN(3) == 0 {
				return fmt.Sprintf("'strategy': 'calculated', 'shards': '%d'", 1+r.IntN(9))
			}
			return fmt.Sprintf("'strategy': 'time', 'by': 'c', 'bucket': '%dm', 'shards': '%d'", 1+r.IntN(9), 1+r.IntN(3))
		})
	})
	t.Run("rollover", func(t *testing.T) {
		killedWhileChanging(t, byThree, func(r *rand.Rand) string {
			switch r.IntN(4) {
			case 0:
				return fmt.Sprintf("'strategy': 'calculated', 'shards': '%d'", 1+r.IntN(9))
			case 1:
				return fmt.Sprintf("'strategy': 'time', 'by': 'c', 'bucket': '%dm'", 1+r.IntN(9))
			}
			return fmt.Sprintf("'strategy': 'rollover', 'rows': '%d'", 10+r.IntN(30))
		})
	})
	t.Run("keys", func(t *testing.T) {
		killedWhileChanging(t, byThree, func(r *rand.Rand) string {
			return fmt.Sprintf("'key': '%d', 'shards': '%d'", r.IntN(killPartitions), 1+r.IntN(9))
		})
	})
}

const byThree = " WITH write_sharding = {'shards': '3'}"

// killedWhileChanging kills the door while a table is changed by orders. with is how the table is
// created; "" makes a plain one, which the first change that is not taken back shards.
func killedWhileChanging(t *testing.T, with string, order func(*rand.Rand) string) {
	m := newMortal(t)
	r := rand.New(rand.NewPCG(*killsSeed, 13))
	c := m.dial()
	for _, text := range []string{"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (p int, c timestamp, v int, PRIMARY KEY (p, c))" + with} {
		if a, err := c.Query(difftest.Request{Query: text}); err != nil || a.Kind == difftest.Error {
			t.Fatalf("%s: %v %v", text, a, err)
		}
	}
	c.Close()
	ledgers := newLedgers(2)
	phases := map[string]int{}
	var mu sync.Mutex
	var faults []string
	check := func(after string) {
		t.Helper()
		c := m.dial()
		defer c.Close()
		all, twice := shown(t, c, "SELECT p, c, v FROM k.t")
		faults = append(faults, twice...)
		for i, l := range ledgers {
			faults = append(faults, l.check(all, i)...)
		}
		each := map[[2]int]int{}
		for p := range killPartitions {
			one, twice := shown(t, c, fmt.Sprintf("SELECT p, c, v FROM k.t WHERE p = %d", p))
			faults = append(faults, twice...)
			maps.Copy(each, one)
		}
		for i, l := range ledgers {
			faults = append(faults, l.check(each, i)...)
		}
		failOn(t, after, faults)
	}
	status := func() string {
		c := m.dial()
		defer c.Close()
		a, err := c.Query(difftest.Request{Query: "ALTER TABLE k.t WITH write_sharding = {'change': 'status'}"})
		if err != nil || a.Kind != difftest.Rows {
			t.Fatalf("status: %v %v", a, err)
		}
		_, rest, _ := strings.Cut(string(a.Rows[0][0]), `"phase":"`)
		phase, _, _ := strings.Cut(rest, `"`)
		return phase
	}
	for n := range *kills {
		var all sync.WaitGroup
		for i, l := range ledgers {
			c, r := m.dial(), rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
			all.Go(func() {
				defer c.Close()
				l.write(t, c, i, r, &faults, &mu)
			})
		}
		c := m.dial()
		orders := []string{order(r)}
		if r.IntN(4) == 0 {
			orders = append(orders, "'change': 'rollback'")
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		for _, o := range orders {
			// It is refused where a change is under way, or the table has the layout.
			if _, err := c.Query(difftest.Request{Query: "ALTER TABLE k.t WITH write_sharding = {" + o + "}"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond)
		}
		phases[status()]++
		c.Close()
		time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
		m.kill()
		all.Wait()
		m.start()
		check(fmt.Sprintf("after kill %d", n+1))
	}
	for deadline := time.Now().Add(patience); status() != "none"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the last change does not end:\n%s", m.printed.String())
		}
	}
	check("at the end")
	summarize(t, ledgers, phases)
}

// summarize logs how many kills and writes there were. It fails the test if all of many kills
// came in one phase.
func summarize(t *testing.T, ledgers []*ledger, phases map[string]int) {
	t.Helper()
	written := 0
	for _, l := range ledgers {
		written += l.written
	}
	var seen []string
	for phase, n := range phases {
		seen = append(seen, fmt.Sprintf("%s %d", phase, n))
	}
	slices.Sort(seen)
	t.Logf("%d kills, %d writes; phases before the kills: %s", *kills, written, strings.Join(seen, ", "))
	if *kills >= 10 && len(phases) < 2 {
		t.Errorf("all kills came in one phase: %v", seen)
	}
}
