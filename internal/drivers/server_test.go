// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// server is what a session connects to.
type server struct {
	name       string
	addr       string
	properties string           // of CREATE TABLE, "" for none
	restart    func(testing.TB) // nil where the session is not to be disturbed
	log        func() string    // what a door has printed
}

// judge is Cassandra itself.
func judge(t testing.TB) server { return server{name: "cassandra", addr: cassandra.Shared(t)} }

// doors starts the evenkeel binary in each way that the sessions are to work with.
// This is the list: what stands here is tested.
func doors(t testing.TB) []server {
	real := startDoor(t, "door", "--cassandra", cassandra.Shared(t))
	engine := startDoor(t, "engine", "--data", t.TempDir())
	return []server{real, real.sharded(), engine, engine.sharded()}
}

// sharded is the same server, with tables over three shards.
func (s server) sharded() server {
	s.name += ", sharded"
	s.properties = "write_sharding = {'shards': '3'}"
	return s
}

var binary struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if binary.dir != "" {
		os.RemoveAll(binary.dir)
	}
	os.Exit(code)
}

// evenkeel builds the binary, once.
func evenkeel(t testing.TB) string {
	t.Helper()
	binary.once.Do(func() {
		root, err := deps.Root()
		if err != nil {
			binary.err = err
			return
		}
		if binary.dir, binary.err = os.MkdirTemp("", "evenkeel-binary-"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "evenkeel")
		cmd := exec.Command("go", "build", "-o", binary.path, "./cmd/evenkeel")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("build evenkeel: %w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

// door is a running `evenkeel serve`.
type door struct {
	path string
	args []string
	cmd  *exec.Cmd
	log  *lines

	watchdog *watchdog.Watchdog
}

// startDoor serves on a free port until the test ends; restart ends the process by
// SIGTERM and starts it again on the same port.
func startDoor(t testing.TB, name string, args ...string) server {
	t.Helper()
	addr := loopback.FreeAddr(t)
	d := &door{path: evenkeel(t), args: append([]string{"serve", "--listen-cql", addr, "--listen-http", "off", "--listen-dynamodb", "off"}, args...)}
	var err error
	if d.watchdog, err = watchdog.Start(""); err != nil {
		t.Fatal(err)
	}
	d.start(t)
	t.Cleanup(func() {
		d.stop(t)
		d.watchdog.Close()
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, d.log)
		}
	})
	return server{name: name, addr: addr, restart: func(t testing.TB) {
		d.stop(t)
		time.Sleep(500 * time.Millisecond) // clients see that it is gone
		d.start(t)
	}, log: func() string { return d.log.String() }}
}

func (d *door) start(t testing.TB) {
	t.Helper()
	d.cmd = exec.Command(d.path, d.args...)
	serving := make(chan struct{})
	d.log = &lines{until: "CQL on ", seen: serving}
	d.cmd.Stderr = d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.watchdog.Guard(d.cmd.Process.Pid)
	select {
	case <-serving:
	case <-time.After(patience):
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		t.Fatalf("the door does not serve after %v; it printed:\n%s", patience, d.log)
	}
}

func (d *door) stop(t testing.TB) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("end the door: %v", err)
	}
	kill := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
	defer kill.Stop()
	err := d.cmd.Wait()
	d.watchdog.Guard(0)
	if err != nil {
		t.Errorf("the door ended with %v; it printed:\n%s", err, d.log)
	}
}

// lines keeps what a process prints, and says when a text was in it.
type lines struct {
	until string
	seen  chan struct{}

	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.until != "" && strings.Contains(l.all.String(), l.until)
	l.all.Write(p)
	if !before && l.until != "" && strings.Contains(l.all.String(), l.until) {
		close(l.seen)
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// hangs is when a client is taken for one that does not end. Those that are slow are
// not: the AWS CLI, which starts a Python for each of its commands, takes a minute where
// others compute too.
const hangs = 10 * time.Minute

// patience is how long a test waits for what a loaded machine does late.
const patience = 3 * time.Minute

// begin starts a program. It returns the program's standard input and output, and what it
// prints to its standard error.
func begin(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader, stderr *lines) {
	t.Helper()
	stderr = &lines{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out, stderr
}

// transcript runs a session and returns what it prints, its keyspace's name put
// into general terms. At RESTART the server is restarted, where it can be.
func transcript(t testing.TB, s server, keyspace string, cmd *exec.Cmd) string {
	t.Helper()
	in, out, stderr := begin(t, cmd)
	kill := time.AfterFunc(hangs, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	var text strings.Builder
	for r := bufio.NewScanner(out); r.Scan(); {
		line := r.Text()
		text.WriteString(strings.ReplaceAll(line, keyspace, "KEYSPACE") + "\n")
		if line == "RESTART" {
			if s.restart != nil {
				s.restart(t)
			}
			if _, err := io.WriteString(in, "\n"); err != nil {
				t.Error(err)
			}
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the session on %s: %v\nIt printed:\n%s%s", s.name, err, text.String(), stderr)
	}
	return text.String()
}
