// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestNoPanics(t *testing.T) {
	for _, c := range []struct {
		api     api
		status  int
		metrics string
		want    string // the error; "": none
	}{
		{cql, 200, "evenkeel_cql_panics_total 0\nevenkeel_cql_requests_total{table=\"a b\"} 3\n", ""},
		{cql, 200, "evenkeel_cql_panics_total 2\n", "evenkeel_cql_panics_total is 2"},
		{dynamodb, 200, "evenkeel_cql_panics_total 0\nevenkeel_dynamodb_panics_total 2\n", "evenkeel_dynamodb_panics_total is 2"},
		{dynamodb, 200, "evenkeel_cql_panics_total 0\n", "no metric evenkeel_dynamodb_panics_total"},
		{cql, 200, "", "no metric evenkeel_cql_panics_total"},
		{cql, 500, "evenkeel_cql_panics_total 0\n", "500"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.metrics)
		}))
		err := noPanics(server.Listener.Addr().String(), c.api)
		server.Close()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d %q: %v, want %q", c.status, c.metrics, err, c.want)
		}
	}
}

// TestForwardEndsLate checks a connection that is made while stop is called: both of its ends are
// closed.
func TestForwardEndsLate(t *testing.T) {
	var open pairs
	open.endAll()
	client, a := net.Pipe()
	server, b := net.Pipe()
	if open.keep(&pair{client, server}) {
		t.Error("the pair is kept")
	}
	for name, c := range map[string]net.Conn{"client": a, "server": b} {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the connection to the %s is open: %v", name, err)
		}
	}
}

func TestForward(t *testing.T) {
	store, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	go func() {
		for {
			c, err := store.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	if _, err := forward(at, store.Addr().String()); err == nil || !strings.Contains(err.Error(), at) {
		t.Errorf("where something listens: %v", err)
	}
	free.Close()
	stop, err := forward(at, store.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	echo := make([]byte, 5)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, echo); err != nil || string(echo) != "hello" {
		t.Errorf("%q came back, %v", echo, err)
	}
	stop() // closes open connections, and does not wait for their clients
	if _, err := c.Read(echo); err == nil {
		t.Error("the connection is open still")
	}
}
