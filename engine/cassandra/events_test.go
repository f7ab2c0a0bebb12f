// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestEvents hears of schema changes in their order, of none where nothing
// changed, and ends with its context and with the engine.
func TestEvents(t *testing.T) {
	e := openOn(t, vfs.NewMem())
	got := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		close(ready)
		ended <- e.Events(ctx, func(body []byte) {
			ev, err := wire.ParseEvent(body)
			got <- fmt.Sprintf("%s %s %s %s %v", ev.Schema.Change, ev.Schema.Target, ev.Schema.Keyspace, ev.Schema.Name, err)
		})
	}()
	<-ready
	for e.listeners() == 0 {
		time.Sleep(time.Millisecond)
	}
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY)", "CREATE TABLE IF NOT EXISTS k.t (p int PRIMARY KEY)",
		"CREATE TYPE k.u (a int)", "ALTER TABLE k.t ADD v u", "DROP TABLE k.t", "DROP KEYSPACE k")
	for _, want := range []string{"CREATED KEYSPACE k  <nil>", "CREATED TABLE k t <nil>", "CREATED TYPE k u <nil>",
		"UPDATED TABLE k t <nil>", "DROPPED TABLE k t <nil>", "DROPPED KEYSPACE k  <nil>"} {
		if have := <-got; have != want {
			t.Errorf("got %q, want %q", have, want)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	go func() { ended <- e.Events(t.Context(), func([]byte) {}) }()
	for e.listeners() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errClosed) {
		t.Errorf("ended with %v", err)
	}
	resp := c.do(wire.Message{Op: wire.OpOptions})
	if we, err := wire.ParseError(wire.V4, resp.Body); resp.Op != wire.OpError || err != nil || we.Code != wire.CodeOverloaded {
		t.Errorf("after Close: %v %v", resp, err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func (e *Engine) listeners() int {
	e.events.mu.Lock()
	defer e.events.mu.Unlock()
	return len(e.events.queues)
}

// TestMissedEvents floods a listener that does not keep up: it is told, once it
// does, that it missed some.
func TestMissedEvents(t *testing.T) {
	var ev events
	q, err := ev.listen()
	if err != nil {
		t.Fatal(err)
	}
	for range eventQueue + 1 {
		ev.publish(&wire.SchemaChange{Change: wire.ChangeCreated, Target: wire.TargetKeyspace, Keyspace: "k"})
	}
	if len(q) != eventQueue || !ev.missed(q) || ev.missed(q) {
		t.Errorf("%d queued", len(q))
	}
}
