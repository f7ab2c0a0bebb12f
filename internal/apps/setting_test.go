// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNoPanics(t *testing.T) {
	for metrics, want := range map[string]string{ // the error; "": none
		"# HELP x y\nevenkeel_cql_panics_total 0\nevenkeel_cql_requests_total{table=\"a b\"} 3\n": "",
		"evenkeel_cql_panics_total 0\nevenkeel_dynamodb_panics_total 2\n":                         "evenkeel_dynamodb_panics_total is 2",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, metrics) }))
		err := noPanics(server.Listener.Addr().String())
		server.Close()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", metrics, err, want)
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
