// SPDX-License-Identifier: Apache-2.0

// Package server starts servers that listen on a port of this machine while a test runs.
//
// It imports internal/testkit/loopback and internal/testkit/watchdog.
package server

import (
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// Start starts the server that command returns for a free port, waits until it listens there, and
// returns its address. The server ends with the test and with the test's process.
func Start(t testing.TB, name string, command func(port string) *exec.Cmd) (addr string) {
	t.Helper()
	addr = loopback.FreeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := watchdog.Start("")
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	cmd := command(port)
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard.Guard(cmd.Process.Pid)
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the process was killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		guard.Guard(0)
		guard.Close()
		if t.Failed() && printed.Len() > 0 {
			t.Logf("%s printed:\n%s", name, &printed)
		}
	})
	for deadline := time.Now().Add(3 * time.Minute); ; {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			c.Close()
			return addr
		}
		select {
		case <-ended:
			t.Fatalf("%s ended at once:\n%s", name, &printed)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen on %s after three minutes", name, addr)
		}
	}
}
