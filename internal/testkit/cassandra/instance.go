// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// Instance is one Cassandra process with its data. Its address stays the same after a restart. Only
// one goroutine may use it at a time.
type Instance struct {
	layout   layout
	java     string
	watchdog *watchdog.Watchdog

	mu   sync.Mutex
	proc *process // nil: stopped
}

// process is one run of the JVM. No goroutine waits for it, because tests that look for leaked
// goroutines would find that one. Instead, ended asks whether it has ended.
type process struct {
	p      *os.Process
	status syscall.WaitStatus // valid after the end
}

func (p *process) ended() bool {
	pid, err := syscall.Wait4(p.p.Pid, &p.status, syscall.WNOHANG, nil)
	return pid == p.p.Pid || errors.Is(err, syscall.ECHILD)
}

const (
	startLimit = 5 * time.Minute // a loaded machine took 57 s
	stopLimit  = 2 * time.Minute
)

// Launch starts an instance and waits until it serves CQL. Close ends it.
func Launch(ctx context.Context, o Options) (*Instance, error) { return Join(ctx, o, nil) }

// LaunchRing starts n instances of one cluster, one after another: at 127.0.0.1, 127.0.0.2 and so
// on. Close ends each.
func LaunchRing(ctx context.Context, n int, o Options) ([]*Instance, error) {
	var ring []*Instance
	for range n {
		i, err := Join(ctx, o, ring)
		if err != nil {
			for _, i := range ring {
				i.Close()
			}
			return nil, err
		}
		ring = append(ring, i)
	}
	return ring, nil
}

// Join starts an instance, as another node of a ring if there is one, at the address that follows
// the last node's.
func Join(ctx context.Context, o Options, ring []*Instance) (*Instance, error) {
	o = o.withDefaults()
	java, err := deps.Java()
	if err != nil {
		return nil, err
	}
	lib, err := deps.Path("cassandra")
	if err != nil {
		return nil, fmt.Errorf("Cassandra's jars: %w", err)
	}
	// Another process may take a free port before Cassandra does. Then the JVM ends at once, and
	// Join tries other ports.
	for attempt := 1; ; attempt++ {
		i, err := launch(ctx, java, lib, o, ring)
		if err == nil || attempt == 3 || !errors.Is(err, errPortTaken) {
			return i, err
		}
	}
}

var errPortTaken = errors.New("port taken")

func launch(ctx context.Context, java, lib string, o Options, ring []*Instance) (*Instance, error) {
	dir, err := os.MkdirTemp(spacious(), "evenkeel-cassandra-")
	if err != nil {
		return nil, fmt.Errorf("Cassandra's directory: %w", err)
	}
	address := "127.0.0.1"
	if len(ring) > 0 {
		last := netip.MustParseAddr(ring[len(ring)-1].layout.Address)
		address = last.Next().String()
	}
	ports, err := freePorts(address, 3)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	i := &Instance{java: java, layout: layout{
		Options: o, Dir: dir, Address: address, Native: ports[0], Storage: ports[1], JMX: ports[2], Lib: lib,
		DataDir: filepath.Join(dir, "data"), ConfigDir: filepath.Join(dir, "conf"),
	}}
	i.layout.Seed = i.layout.storage()
	if len(ring) > 0 {
		i.layout.Seed = ring[0].layout.storage()
	}
	if err := errors.Join(i.configure(), i.writeTools()); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if i.watchdog, err = watchdog.Start(dir); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err := i.Restart(ctx); err != nil {
		log := i.LogTail(40)
		i.Close()
		if strings.Contains(log, "Address already in use") || strings.Contains(log, "is in use by another process") {
			return nil, fmt.Errorf("%w: %w", errPortTaken, err)
		}
		return nil, fmt.Errorf("%w; the end of its log:\n%s", err, log)
	}
	return i, nil
}

func (i *Instance) configure() error {
	for _, dir := range []string{i.layout.DataDir, filepath.Join(i.layout.ConfigDir, "triggers")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("configure Cassandra: %w", err)
		}
	}
	var b bytes.Buffer
	if err := yaml.Execute(&b, i.layout); err != nil {
		return fmt.Errorf("cassandra.yaml: %w", err)
	}
	if err := os.WriteFile(filepath.Join(i.layout.ConfigDir, "cassandra.yaml"), b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("configure Cassandra: %w", err)
	}
	if err := os.WriteFile(filepath.Join(i.layout.ConfigDir, "cassandra-rackdc.properties"), []byte(i.layout.rackdc()), 0o644); err != nil {
		return fmt.Errorf("configure Cassandra: %w", err)
	}
	b.Reset()
	if err := logback.Execute(&b, i.layout); err != nil {
		return fmt.Errorf("logback.xml: %w", err)
	}
	if err := os.WriteFile(filepath.Join(i.layout.ConfigDir, "logback.xml"), b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("configure Cassandra: %w", err)
	}
	return nil
}

// Addr returns the host:port on which the instance serves CQL.
func (i *Instance) Addr() string { return fmt.Sprintf("%s:%d", i.layout.Address, i.layout.Native) }

// PID returns the process of the instance; 0: it is stopped.
func (i *Instance) PID() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.proc == nil {
		return 0
	}
	return i.proc.p.Pid
}

// Log returns the path of the instance's log.
func (i *Instance) Log() string { return filepath.Join(i.layout.Dir, "system.log") }

// Set adds a line to cassandra.yaml, which a Restart puts into force.
func (i *Instance) Set(setting string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.layout.Settings = append(slices.Clip(i.layout.Settings), setting)
	return i.configure()
}

// Restart starts the process, after ending it if it runs, and waits until it serves CQL with its
// earlier data.
func (i *Instance) Restart(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.proc != nil {
		if err := i.end(syscall.SIGTERM); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(filepath.Join(i.layout.Dir, "out.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("start Cassandra: %w", err)
	}
	defer out.Close() // the child has its own copy
	cmd := exec.Command(i.java, i.layout.arguments()...)
	cmd.Dir = i.layout.Dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's ^C goes only to the tests, which then end the process
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Cassandra: %w", err)
	}
	p := &process{p: cmd.Process}
	i.proc = p
	i.watchdog.Guard(cmd.Process.Pid)
	if err := i.await(ctx, p); err != nil {
		_ = i.end(syscall.SIGKILL) // the first error says more
		return err
	}
	return nil
}

// await returns when the instance answers CQL (and, with Auth, knows its superuser).
func (i *Instance) await(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe(ctx, i.Addr(), i.layout.Auth)
		if err == nil {
			return nil
		}
		if p.ended() {
			i.proc = nil
			return fmt.Errorf("Cassandra ended while it started, with status %d", p.status.ExitStatus())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("Cassandra does not serve CQL after %v: %w", startLimit, err)
		case <-tick.C:
		}
	}
}

// Stop ends the process properly (SIGTERM: it drains). The data stays.
func (i *Instance) Stop() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.end(syscall.SIGTERM)
}

// Kill ends the process at once (SIGKILL). Data that it has not written is lost.
func (i *Instance) Kill() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.end(syscall.SIGKILL)
}

// Pause stops the process without closing its connections (SIGSTOP), until Continue or the end.
func (i *Instance) Pause() error { return i.signal(syscall.SIGSTOP) }

// Continue lets a paused process go on.
func (i *Instance) Continue() error { return i.signal(syscall.SIGCONT) }

func (i *Instance) signal(s syscall.Signal) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.proc == nil {
		return errors.New("Cassandra is not running")
	}
	if err := i.proc.p.Signal(s); err != nil {
		return fmt.Errorf("%v to Cassandra: %w", s, err)
	}
	return nil
}

// Close ends the process and removes its data.
func (i *Instance) Close() {
	_ = i.Kill() // it may have ended already
	i.watchdog.Close()
	os.RemoveAll(i.layout.Dir)
}

func (i *Instance) end(s syscall.Signal) error {
	p := i.proc
	if p == nil {
		return nil
	}
	i.proc = nil
	if err := p.p.Signal(s); err != nil {
		return fmt.Errorf("end Cassandra: %w", err)
	}
	for begun := time.Now(); !p.ended(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > stopLimit {
			_ = p.p.Kill() // the loop above waits for it
		}
	}
	i.watchdog.Guard(0)
	return nil
}

// LogTail returns the last n lines of the log and of the JVM's output.
func (i *Instance) LogTail(n int) string {
	return tail(filepath.Join(i.layout.Dir, "out.log"), 0, n) + tail(i.Log(), 0, n)
}

// tail returns the last n lines of the file after offset.
func tail(path string, offset int64, n int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return ""
	}
	b, err := io.ReadAll(f)
	if err != nil || len(b) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n") + "\n"
}

// spacious returns the directory for data: in memory, if there are at least 2 GiB.
func spacious() string {
	const shm, enough = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err == nil && uint64(fs.Bsize)*fs.Bavail >= enough {
		return shm
	}
	return os.TempDir()
}

// freePorts returns ports that are free at an address. On systems other than Linux, 127.0.0.2 and
// those that follow must be configured first.
func freePorts(address string, n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", address+":0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // close all at the end, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
