// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a server under measurement.
type Process struct {
	Name string
	Addr string // host:port
	PID  int
	Dir  string // its data directory, removed by Stop; empty: none

	cmd *exec.Cmd        // nil: it was not started here
	log *strings.Builder // its output
}

// Printed returns the output of a server that was started and stopped here.
func (p *Process) Printed() string { return p.log.String() }

// Launch starts a server and waits until it listens on addr.
func Launch(ctx context.Context, name, addr, binary string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{Name: name, Addr: addr, PID: cmd.Process.Pid, cmd: cmd, log: &log}
	for range 200 {
		// Another process may have taken the port meanwhile.
		if pid, err := Listener(addr); err == nil && pid == p.PID {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	p.Stop()
	return nil, fmt.Errorf("%s does not listen on %s: %s", name, addr, log.String())
}

// Stop ends a server that was started here. It does nothing to others.
func (p *Process) Stop() {
	if p.cmd != nil {
		p.cmd.Process.Signal(syscall.SIGTERM)
		p.cmd.Wait()
	}
	if p.Dir != "" {
		os.RemoveAll(p.Dir)
	}
}

// tick is the length of a tick in /proc: 10 ms (USER_HZ).
const tick = 10 * time.Millisecond

// CPU returns the processor time that a process has used, in ticks of 10 ms.
func CPU(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+2:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * tick
}

// Listener returns the process that listens on a port of this machine.
func Listener(addr string) (int, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0, err
	}
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			fields := strings.Fields(s.Text())
			if len(fields) > 9 && fields[3] == "0A" && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", n)) {
				inodes["socket:["+fields[9]+"]"] = true
			}
		}
		f.Close()
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && inodes[target] {
			return strconv.Atoi(strings.Split(fd, "/")[2])
		}
	}
	return 0, fmt.Errorf("no process of this machine listens on %s", addr)
}

// FreeAddr returns an address of this machine on which nothing listens.
func FreeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}
