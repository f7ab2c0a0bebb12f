// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// client is one driver that knows one door and puts a load on one hot key, see
// fleet/session.py.
type client struct {
	name string
	ask  func(command string) (said, error)
	quit func() error
}

// said is what a client says at STATS.
type said struct {
	By     map[string]int // answers by door
	Errors []string
}

// TestFleet has each driver know one of three doors and find the others: a hot key is spread
// over all of them, and none of the client's requests, which are idempotent, fails while one
// door is killed, another stands still, and a fourth joins.
func TestFleet(t *testing.T) {
	java := compile(t, need(t, "java"), "fleet/Session.java")
	real := cassandra.Shared(t)
	t.Run("cassandra", func(t *testing.T) {
		t.Parallel()
		testFleet(t, real, java())
	})
	t.Run("engine", func(t *testing.T) {
		t.Parallel()
		store := startDoor(t, "store", "--store-only", "--data", t.TempDir())
		testFleet(t, store.addr, java())
	})
}

func testFleet(t *testing.T, store string, java *exec.Cmd) {
	_, port, err := net.SplitHostPort(loopback.FreeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) string { return net.JoinHostPort(fmt.Sprintf("127.0.0.%d", i), port) }
	doors := map[int]*door{}
	start := func(i int) {
		w, err := watchdog.Start("")
		if err != nil {
			t.Fatal(err)
		}
		d := &door{path: evenkeel(t), watchdog: w, args: []string{"serve", "--cassandra", store, "--listen-cql", at(i), "--listen-http", "off"}}
		d.start(t)
		doors[i] = d
		t.Cleanup(func() {
			if d.cmd.ProcessState == nil {
				d.stop(t)
			}
			w.Close()
			if t.Failed() {
				t.Logf("door %s printed:\n%s", at(i), d.log)
			}
		})
	}
	for i := range 3 {
		start(i + 1)
	}
	keyspace := cassandra.Keyspace(t, "fleet")
	table := keyspace + ".hot"
	config := gocql.NewCluster("127.0.0.1")
	config.Port, _ = strconv.Atoi(port)
	config.Timeout, config.ConnectTimeout = time.Minute, time.Minute
	admin, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	for _, ddl := range []string{
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE " + table + " (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}",
	} {
		if err := admin.Query(ddl).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	admin.Close()

	clients := []*client{
		program(t, "python", table, port, exec.Command(need(t, "venv/bin/python"), "fleet/session.py")),
		program(t, "java", table, port, java),
		nodeProgram(t, table, port),
		gocqlClient(t, table, port),
	}
	// until waits until each client has had answers from these doors and no other since the
	// line before. That is how long it takes; what is wrong is what fails.
	until := func(what string, of ...int) {
		t.Helper()
		var want []string
		for _, i := range of {
			want = append(want, at(i))
		}
		slices.Sort(want)
		begun := time.Now()
		for _, c := range clients {
			for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
				s, err := c.ask("STATS")
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if len(s.Errors) > 0 {
					t.Errorf("%s, %s: %d requests failed, such as %s", what, c.name, len(s.Errors), s.Errors[0])
					break
				}
				least, most := 1<<30, 0
				for _, n := range s.By {
					least, most = min(least, n), max(most, n)
				}
				if slices.Equal(slices.Sorted(maps.Keys(s.By)), want) && most <= 4*least {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s, %s: after %v the answers are from %v, and should be from %q", what, c.name, patience, s.By, want)
				}
			}
		}
		t.Logf("%s: after %v", what, time.Since(begun).Round(time.Millisecond))
	}
	until("one contact point", 1, 2, 3)

	// What one driver creates through one door is there for the next statement through any.
	begun := time.Now()
	var ddl sync.WaitGroup
	for i, c := range clients {
		ddl.Go(func() {
			for n, with := range []string{"", " WITH write_sharding = {'shards': '3'}"} {
				name := fmt.Sprintf("%s.made%d_%d", keyspace, i, n)
				for _, text := range []string{
					"CREATE TABLE " + name + " (k int, c int, v int, PRIMARY KEY (k, c))" + with,
					"INSERT INTO " + name + " (k, c, v) VALUES (1, 1, 1)", "INSERT INTO " + name + " (k, c, v) VALUES (1, 2, 1)", "INSERT INTO " + name + " (k, c, v) VALUES (1, 3, 1)",
				} {
					s, err := c.ask("DDL " + text)
					if err != nil || len(s.Errors) > 0 {
						t.Errorf("%s: %s: %v %v", c.name, text, err, s.Errors)
					}
				}
			}
		})
	}
	ddl.Wait()
	t.Logf("tables created and used: after %v", time.Since(begun).Round(time.Millisecond))
	copied := filepath.Join(t.TempDir(), "hot.csv")
	cqlsh := exec.Command(need(t, "venv/bin/cqlsh"), "--connect-timeout=60", "--request-timeout=60", "-e", fmt.Sprintf("COPY %s TO '%s'; COPY %s FROM '%s'", table, copied, table, copied), "127.0.0.1", port)
	cqlsh.Env = append(os.Environ(), "LANG=C.UTF-8", "HOME="+t.TempDir())
	if out, err := cqlsh.CombinedOutput(); err != nil || !strings.Contains(string(out), "4 rows exported") || !strings.Contains(string(out), "4 rows imported") {
		t.Errorf("cqlsh: %v\n%s", err, out)
	}

	if err := doors[1].cmd.Process.Kill(); err != nil { // the contact point
		t.Fatal(err)
	}
	_ = doors[1].cmd.Wait()
	until("one killed", 2, 3)
	start(4)
	until("another joins", 2, 3, 4)
	if err := doors[2].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second) // longer than its lease: it is a part of what happens
	until("one stands still", 3, 4)
	if err := doors[2].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until("it goes on", 2, 3, 4)
	for _, c := range clients {
		if err := c.quit(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func nodeProgram(t *testing.T, table, port string) *client {
	modules := need(t, "node/node_modules")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("this test needs Node 18 or later: %v; `make deps` installs it or says how", err)
	}
	cmd := exec.Command(node, "fleet/session.js")
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	return program(t, "node", table, port, cmd)
}

// program starts a client that is a program of its own.
func program(t *testing.T, name, table, port string, cmd *exec.Cmd) *client {
	t.Helper()
	cmd.Args = append(cmd.Args, "127.0.0.1", port, table)
	in, out, printed := begin(t, cmd)
	hung := time.AfterFunc(hangs, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		hung.Stop()
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, printed)
		}
	})
	lines := bufio.NewReader(out)
	return &client{name: name, ask: func(command string) (s said, err error) {
		if _, err = io.WriteString(in, command+"\n"); err != nil {
			return s, err
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return s, fmt.Errorf("it has ended: %w", err)
		}
		return s, json.Unmarshal([]byte(line), &s)
	}, quit: func() error {
		if _, err := io.WriteString(in, "QUIT\n"); err != nil {
			return err
		}
		return cmd.Wait()
	}}
}

// gocqlClient is the same load with gocql, in this process.
func gocqlClient(t *testing.T, table, port string) *client {
	t.Helper()
	config := gocql.NewCluster("127.0.0.1")
	config.Port, _ = strconv.Atoi(port)
	config.Timeout, config.ConnectTimeout = 20*time.Second, 20*time.Second
	config.Consistency = gocql.One
	config.ReconnectInterval = time.Second
	config.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	config.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 4}
	session, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	is := said{By: map[string]int{}}
	done := make(chan struct{})
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				q := session.Query("INSERT INTO "+table+" (k, c, v) VALUES (?, ?, ?)", 1, worker, n)
				if n%2 == 0 {
					q = session.Query("SELECT v FROM "+table+" WHERE k = ? AND c = ?", 1, worker)
				}
				it := q.Idempotent(true).SetSpeculativeExecutionPolicy(&gocql.SimpleSpeculativeExecution{NumAttempts: 4, TimeoutDelay: 500 * time.Millisecond}).Iter()
				at := it.Host()
				err := it.Close()
				mu.Lock()
				if err != nil {
					is.Errors = append(is.Errors, err.Error())
				} else {
					is.By[netip.MustParseAddrPort(at.ConnectAddressAndPort()).String()]++
				}
				mu.Unlock()
			}
		})
	}
	end := sync.OnceFunc(func() {
		close(done)
		workers.Wait()
		session.Close()
	})
	t.Cleanup(end)
	return &client{name: "gocql", ask: func(command string) (said, error) {
		if ddl, ok := strings.CutPrefix(command, "DDL "); ok {
			if err := session.Query(ddl).Exec(); err != nil {
				return said{Errors: []string{err.Error()}}, nil
			}
			return said{}, nil
		}
		mu.Lock()
		defer mu.Unlock()
		s := is
		is = said{By: map[string]int{}}
		return s, nil
	}, quit: func() error { end(); return nil }}
}
