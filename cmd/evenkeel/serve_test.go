// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// start runs serve on the embedded engine and returns the address of its CQL door,
// its signals, and what it will return.
func start(t *testing.T) (addr string, signals chan<- os.Signal, ended <-chan error) {
	t.Helper()
	s := &serveCmd{
		ListenCQL: loopback.FreeAddr(t), ListenHTTP: loopback.FreeAddr(t), ListenDynamoDB: "off", Data: t.TempDir(), Drain: patience, LogLevel: "error",
	}
	signals, ended = s.start(t)
	return s.ListenCQL, signals, ended
}

// start runs serve until it is ready.
func (s *serveCmd) start(t *testing.T) (signals chan<- os.Signal, ended <-chan error) {
	t.Helper()
	to, end := make(chan os.Signal, 2), make(chan error, 1)
	go func() { end <- s.serve(t.Context(), &stdio{io.Discard, io.Discard}, to) }()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get("http://" + s.ListenHTTP + "/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return to, end
			}
		}
		select {
		case err := <-end:
			t.Fatalf("it ends before it is ready: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not become ready")
		}
	}
}

// patience is for what never comes. What does may take long on a loaded machine.
const patience = 2 * time.Minute

func wait(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("it does not end")
		return nil
	}
}

func TestSignalEndsInOrder(t *testing.T) {
	_, signals, ended := start(t)
	signals <- syscall.SIGTERM
	if err := wait(t, ended); err != nil {
		t.Error(err)
	}
}

// A client that does not read its answers delays the end of the server, until a second signal.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	s := &serveCmd{
		ListenCQL: loopback.FreeAddr(t), ListenHTTP: loopback.FreeAddr(t), ListenDynamoDB: "off", Data: t.TempDir(), Drain: patience, LogLevel: "error",
	}
	signals, ended := s.start(t)
	nc, err := net.Dial("tcp", s.ListenCQL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	var e wire.Encoder
	e.Frame(wire.Header{Version: wire.V4, Op: wire.OpStartup}, wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.0.0"}))
	if _, err := nc.Write(e.Take(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(nc, make([]byte, wire.HeaderSize)); err != nil {
		t.Fatal(err)
	}
	q := wire.Query{Text: []byte("SELECT * FROM system_virtual_schema.columns")}
	q.Params.Consistency = wire.One
	send := func(requests int) {
		for i := range int16(requests) {
			e.Frame(wire.Header{Version: wire.V4, Op: wire.OpQuery, Stream: i}, wire.AppendQuery(nil, wire.V4, &q))
		}
		if _, err := nc.Write(e.Take(nil)); err != nil {
			t.Fatal(err)
		}
	}
	send(1)
	header := make([]byte, wire.HeaderSize)
	if _, err := io.ReadFull(nc, header); err != nil {
		t.Fatal(err)
	}
	// More than sockets take of their own accord, and less than ends the connection.
	send(56 << 20 / int(binary.BigEndian.Uint32(header[5:])))
	// It goes on until its answers are not taken any more: nothing changes then, as often
	// as it is looked at.
	last, same := "", 0
	for deadline := time.Now().Add(patience); same < 30; time.Sleep(20 * time.Millisecond) {
		all := metrics(t, s.ListenHTTP)
		if now := all["evenkeel_cql_requests_total"] + " " + all["evenkeel_cql_requests_in_flight"]; now != last {
			last, same = now, 0
		} else {
			same++
		}
		if time.Now().After(deadline) {
			t.Fatal("it goes on: " + last)
		}
	}
	signals <- syscall.SIGINT
	select {
	case err := <-ended:
		t.Fatalf("it ended with responses unread: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	signals <- syscall.SIGINT
	if err := wait(t, ended); err == nil || !strings.Contains(err.Error(), "in flight") {
		t.Errorf("got %v", err)
	}
}

func TestRunDoesNotExit(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"--help"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "serve") {
		t.Errorf("%d %q %q", code, &out, &errs)
	}
	if code := run([]string{"nonsense"}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "nonsense") {
		t.Errorf("%d %q", code, &errs)
	}
}
