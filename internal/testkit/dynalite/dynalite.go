// Package dynalite starts dynalite, an implementation of the DynamoDB API on
// Node, for tests that compare answers with it. `make deps` brings it by npm.
//
// It imports internal/testkit/deps and internal/testkit/watchdog.
package dynalite

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// Start starts a dynalite, in memory and empty, for the life of the test, and
// returns its URL. Tables are there at once and gone at once.
func Start(t testing.TB) string {
	t.Helper()
	cli, err := deps.Path("dynalite/node_modules/dynalite/cli.js")
	if err != nil {
		t.Fatalf("this test compares with dynalite: %v", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("dynalite needs Node 18 or later: %v; `make deps` installs it or says how", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	guard, err := watchdog.Start("")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, cli, "--host", "127.0.0.1", "--port", port,
		"--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard.Guard(cmd.Process.Pid)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		guard.Guard(0)
		guard.Close()
		if t.Failed() && stderr.Len() > 0 {
			t.Logf("dynalite printed:\n%s", &stderr)
		}
	})
	listening := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil && !strings.Contains(line, "listening at") {
			err = fmt.Errorf("it printed %q", line)
		}
		listening <- err
	}()
	select {
	case err := <-listening:
		if err != nil {
			t.Fatalf("start dynalite: %v\n%s", err, &stderr)
		}
	case <-time.After(time.Minute):
		t.Fatal("dynalite does not listen after a minute")
	}
	return "http://127.0.0.1:" + port
}
