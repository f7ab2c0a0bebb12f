// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/internal/dynamodiff"
	"github.com/evenkeel/evenkeel/internal/testkit/metrics"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// server is an evenkeel in its own process.
type server struct {
	cql, dynamo, http string // addresses
	data              string
	flags             []string

	cmd   *exec.Cmd
	log   string // the file with its output
	ended chan struct{}
	guard *watchdog.Watchdog
}

// newServer chooses addresses and starts an evenkeel. flags come in addition to those for addresses
// and data.
func (f *field) newServer(name string, flags ...string) (*server, error) {
	s := &server{data: filepath.Join(f.dir, name), log: filepath.Join(f.dir, name+".log"), flags: flags}
	for _, addr := range []*string{&s.cql, &s.dynamo, &s.http} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*addr = ln.Addr().String()
		ln.Close()
	}
	if err := s.start(f.ctx, f.binary); err != nil {
		return nil, err
	}
	return s, nil
}

// errRefused reports that a server ended by itself when it was started.
var errRefused = errors.New("the server did not start")

// start starts the process and waits until it is ready.
func (s *server) start(ctx context.Context, binary string) error {
	out, err := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	args := append([]string{"serve", "--data", s.data, "--listen-cql", s.cql, "--listen-dynamodb", s.dynamo, "--listen-http", s.http, "--drain", "2s"}, s.flags...)
	s.cmd = exec.Command(binary, args...)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	if s.guard == nil {
		if s.guard, err = watchdog.Start(""); err != nil {
			return err
		}
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.guard.Guard(s.cmd.Process.Pid)
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		_ = s.cmd.Wait() // its state says how it ended
		close(ended)
	}()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if resp, err := http.Get("http://" + s.http + "/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ended:
			return fmt.Errorf("%w: %v\n%s", errRefused, s.cmd.ProcessState, s.printed())
		case <-ctx.Done():
			s.kill()
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.kill()
			return fmt.Errorf("the server is not ready after two minutes")
		}
	}
}

func (s *server) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// kill ends the process at once, as a crash does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
}

// stop ends the process as an operator does.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.kill()
	}
}

// close ends the process and its watchdog, and reports faults of the run.
func (s *server) close(f *field) {
	if !s.alive() {
		f.fault("the server ended", "%v\n%s", s.cmd.ProcessState, s.printed())
	} else {
		for _, name := range []string{"evenkeel_cql_panics_total", "evenkeel_dynamodb_panics_total"} {
			if n, err := s.metric(name); err != nil || n > 0 {
				f.fault("panics", "%s is %v, %v\n%s", name, n, err, s.printed())
			}
		}
	}
	s.stop()
	s.guard.Close()
}

// printed returns the end of the process's output.
func (s *server) printed() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-3000):])
}

// metric returns one metric from /metrics, summed over its label sets.
func (s *server) metric(name string) (float64, error) { return metrics.Sum(s.http, name) }

// items returns the DynamoDB door as a target.
func (s *server) items() dynamodiff.Target {
	return dynamodiff.Target{Name: "dynamodb", URL: "http://" + s.dynamo}
}
