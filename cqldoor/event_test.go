// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// slowEvents is a router that takes its time for the first events.
type slowEvents struct {
	picky
	begun, goOn chan struct{}

	mu    sync.Mutex
	calls [][][]byte
}

func (s *slowEvents) Events(bodies, out [][]byte) [][]byte {
	s.mu.Lock()
	first := len(s.calls) == 0
	s.calls = append(s.calls, bodies)
	s.mu.Unlock()
	if first {
		close(s.begun)
		<-s.goOn
	}
	return append(out, bodies...)
}

// TestEventsHoldUpNobody has a router that is slow to take in changes of the
// schema: the store, whose goroutine it is, goes on, and what has come meanwhile is
// taken in at once.
func TestEventsHoldUpNobody(t *testing.T) {
	s := &slowEvents{begun: make(chan struct{}), goOn: make(chan struct{})}
	m := &memory{}
	_, addr := door(t, m, cqldoor.Options{Router: s})
	c := connect(t, addr, wire.V5)
	if h, _ := c.ask(wire.OpRegister, wire.AppendRegister(nil, []string{wire.EventSchema})); h.Op != wire.OpReady {
		t.Fatal(h.Op)
	}
	eventually(t, "the door listens", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.events != nil
	})
	event := func(table string) []byte {
		return wire.AppendEvent(nil, &wire.Event{Type: wire.EventSchema,
			Schema: wire.SchemaChange{Change: "CREATED", Target: "TABLE", Keyspace: "ks", Name: table}})
	}
	m.events(event("first"))
	<-s.begun
	told := make(chan struct{})
	go func() {
		for i := range 100 {
			m.events(event(fmt.Sprint("t", i)))
		}
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(patience):
		t.Fatal("the store waits for the router")
	}
	close(s.goOn)
	for i := range 101 {
		h, body := c.next()
		want := "first"
		if i > 0 {
			want = fmt.Sprint("t", i-1)
		}
		if e, err := wire.ParseEvent(body); err != nil || h.Op != wire.OpEvent || e.Schema.Name != want {
			t.Fatalf("event %d: %v %+v, %v; want %s", i, h.Op, e, err, want)
		}
	}
	s.mu.Lock()
	if n := len(s.calls); n != 2 {
		t.Errorf("the router took the events in %d times, not in 2", n)
	}
	s.mu.Unlock()

	// Where more come than are kept, the router is told that it missed some.
	s.mu.Lock()
	s.calls, s.begun, s.goOn = nil, make(chan struct{}), make(chan struct{})
	s.mu.Unlock()
	m.events(event("first"))
	<-s.begun
	for i := range 3000 {
		m.events(event(fmt.Sprint("u", i)))
	}
	close(s.goOn)
	eventually(t, "the rest is taken in", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.calls) == 2
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest := s.calls[1]; len(rest) > 1100 || rest[0] != nil {
		t.Errorf("%d events, of which the first is %q", len(rest), rest[0])
	}
}
