// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func long(size int) wire.Message {
	return wire.Message{Op: wire.OpResult, Body: append(wire.AppendInt(nil, int32(wire.ResultVoid)), make([]byte, size)...)}
}

// TestLongAnswer has a client read an answer that is longer than all that may wait for
// it before its next request is read.
func TestLongAnswer(t *testing.T) {
	const size = 200 << 20
	log := &logged{}
	m := &memory{answer: func(*memoryLink, wire.Message) (wire.Message, bool) { return long(size), false }}
	d, addr := door(t, m, cqldoor.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	c := connect(t, addr, wire.V4)
	for range 2 {
		c.send(1, wire.OpQuery, 0, query(wire.V4, "SELECT * FROM t"))
		if h, body, err := c.Next(); err != nil || h.Op != wire.OpResult || len(body) != size+4 {
			t.Fatalf("%s with %d bytes, %v\n%s", h.Op, len(body), err, log)
		}
	}
	if s := d.Stats(); s.Slow != 0 || log.String() != "" {
		t.Errorf("%d connections closed\n%s", s.Slow, log)
	}
}

// TestClientThatStopsReading is closed after a while, and the operator is told why.
func TestClientThatStopsReading(t *testing.T) {
	log := &logged{}
	m := &memory{answer: func(*memoryLink, wire.Message) (wire.Message, bool) { return long(50 << 20), false }}
	d, addr := door(t, m, cqldoor.Options{UnreadTimeout: 50 * time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))})
	c := connect(t, addr, wire.V4)
	c.send(1, wire.OpQuery, 0, query(wire.V4, "SELECT * FROM t"))
	eventually(t, "the connection is closed", func() bool { s := d.Stats(); return s.Slow == 1 && s.Connections == 0 })
	if text := log.String(); !strings.Contains(text, "has stopped reading its answers") || !strings.Contains(text, "client=127.0.0.1") {
		t.Errorf("logged: %s", text)
	}
}

// TestStoreIsPaced has a client leave much unread: the store is told to begin none of
// its requests, and told again when the client has read.
func TestStoreIsPaced(t *testing.T) {
	m := &memory{answer: func(*memoryLink, wire.Message) (wire.Message, bool) { return long(50 << 20), false }}
	_, addr := door(t, m, cqldoor.Options{})
	c := connect(t, addr, wire.V4)
	if paces := m.paced(); len(paces) == 0 || !paces[len(paces)-1] {
		t.Errorf("at first: %v", paces)
	}
	c.send(1, wire.OpQuery, 0, query(wire.V4, "SELECT * FROM t"))
	eventually(t, "the store is held back", func() bool { p := m.paced(); return !p[len(p)-1] })
	if _, _, err := c.Next(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the store goes on", func() bool { p := m.paced(); return p[len(p)-1] })
}
