// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// founding starts a door that makes the catalogue where there is none.
func founding(t *testing.T, st store.Store, at string) *Router {
	t.Helper()
	r := newDoorAt(st, at)
	r.opts.Found = true
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// addresses shows those of a test.
var addresses = strings.NewReplacer("0x7f000001", "127.0.0.1", "0x7f000002", "127.0.0.2")

// TestNodes reads the tables of nodes at one of three doors: they are the doors.
func TestNodes(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		a, b, c := founding(t, st, "127.0.0.1:9042"), founding(t, st, "127.0.0.2:9042"), founding(t, st, "127.0.0.2:9043")
		closed := false
		defer func() {
			a.Close()
			if !closed {
				b.Close()
			}
			c.Close()
		}()
		if err := a.schema.RenewLease(t.Context()); err != nil { // c told which schema it goes by after a had read
			t.Fatal(err)
		}
		s := newSceneOf(t, st, a)
		mine := func(got []string) (own []string) { // of this test: others may use the same store
			for _, line := range got {
				if strings.Contains(line, "127.0.0.2") || strings.Contains(line, "127.0.0.1") {
					own = append(own, line)
				}
			}
			slices.Sort(own)
			return own
		}
		rows := func(text string) []string {
			t.Helper()
			var all []string
			for _, conn := range []*difftest.Conn{s.v4, s.v5} {
				x := s.must(conn, text)
				p, err := conn.Prepare(text)
				if err != nil {
					t.Fatal(err)
				}
				y, err := conn.Execute(p, difftest.Request{})
				if err != nil || show(y) != show(x) {
					t.Errorf("%s: prepared it is %s, not %s", text, show(y), show(x))
				}
				all = strings.Split(strings.TrimSpace(addresses.Replace(show(x))), "\n")
			}
			return all
		}
		for text, want := range map[string][]string{
			"SELECT rpc_address, rpc_port, partitioner FROM system.local":                                         {"127.0.0.1 | 9042 | " + tables.NoPartitioner},
			"SELECT rpc_address FROM system.local WHERE key = 'local'":                                            {"127.0.0.1"},
			"SELECT peer, peer_port, native_address, native_port, data_center, rack FROM system.peers_v2":         {"127.0.0.2 | 9042 | 127.0.0.2 | 9042 | datacenter1 | rack1", "127.0.0.2 | 9043 | 127.0.0.2 | 9043 | datacenter1 | rack1"},
			"SELECT peer, native_port AS port FROM system.peers_v2 WHERE peer = '127.0.0.2' AND peer_port = 9043": {"127.0.0.2 | 9043"},
			"SELECT peer, rpc_address FROM system.peers":                                                          {"127.0.0.2 | 127.0.0.2"},
			"SELECT peer FROM system.peers WHERE peer = '127.0.0.9'":                                              nil,
			"SELECT peer FROM system.peers_v2 WHERE peer = '127.0.0.2' LIMIT 1":                                   {"127.0.0.2"},
			"SELECT peer, count(*) FROM system.peers_v2 WHERE peer = '127.0.0.2'":                                 {"127.0.0.2 | 2"},
		} {
			if got := mine(rows(text)); !slices.Equal(got, want) {
				t.Errorf("%s: %q, not %q", text, got, want)
			}
		}
		// What one creates, the others know of before a client is told that all do.
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".other (k int PRIMARY KEY)")
		for deadline := time.Now().Add(patience); ; {
			local := fmt.Sprintf("%x", s.must(s.v5, "SELECT schema_version FROM system.local").Rows[0][0])
			agreed := 0
			for _, row := range s.must(s.v5, "SELECT schema_version FROM system.peers_v2 WHERE peer = '127.0.0.2'").Rows {
				if fmt.Sprintf("%x", row[0]) == local {
					agreed++
				}
			}
			if agreed == 2 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the doors do not agree")
			}
		}
		s.must(s.v5, "DESCRIBE TABLE "+s.keyspace+".other")
		for _, r := range []*Router{b, c} {
			if !r.schema.View.Load().Names.Has(s.keyspace, "other") {
				t.Error("a door does not know of a table although all agree")
			}
		}
		b.Close()
		closed = true
		if err := a.schema.RenewLease(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := mine(rows("SELECT peer, peer_port FROM system.peers_v2")); !slices.Equal(got, []string{"127.0.0.2 | 9043"}) {
			t.Errorf("after one has left: %q", got)
		}
	})
}

// TestEventsOfNodes has a client hear of a door that comes and goes.
func TestEventsOfNodes(t *testing.T) {
	st := embedded(t)
	a := founding(t, st, "127.0.0.1:9042")
	defer a.Close()
	var mu sync.Mutex
	var heard []string
	a.Announce(func(body []byte) {
		e, err := wire.ParseEvent(body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, e.Change+" "+e.Addr.String())
	})
	b := founding(t, st, "127.0.0.2:9042")
	// On a busy machine a's first look at the row of b may come after b's lease, so it looks again.
	look := func(renewed *Router, want ...string) {
		t.Helper()
		var got []string
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			for _, r := range []*Router{renewed, a} {
				if err := r.schema.RenewLease(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			mu.Lock()
			got = append(got, heard...)
			heard = nil
			mu.Unlock()
			if len(got) >= len(want) || time.Now().After(end) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	}
	look(b, "NEW_NODE 127.0.0.2:9042", "UP 127.0.0.2:9042")
	b.Close()
	look(a, "DOWN 127.0.0.2:9042", "REMOVED_NODE 127.0.0.2:9042")
	look(a)
}

// TestNodesDuringAReading reads the tables of nodes while the door reads a new version of the schema, which a
// large schema makes long. The answer does not wait for it, and shows the store's version.
func TestNodesDuringAReading(t *testing.T) {
	reading, goOn := make(chan struct{}), make(chan struct{})
	var waits atomic.Bool
	st := &picky{Store: embedded(t), refuse: func(m wire.Message) *wire.Error {
		if strings.Contains(string(m.Body), "system_schema.columns") && waits.CompareAndSwap(true, false) {
			close(reading)
			<-goOn
		}
		return nil
	}}
	s := newScene(t, st)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
	const version = "SELECT schema_version FROM system.local WHERE key = 'local'"
	before := show(s.must(s.v5, version))
	waits.Store(true)
	altered := make(chan error, 1)
	go func() {
		_, err := s.v4.Query(difftest.Request{Query: "ALTER TABLE " + s.keyspace + ".t ADD w int"})
		altered <- err
	}()
	<-reading
	during := show(s.must(s.v5, version))
	if stored := show(s.must(s.direct, version)); during == before || during != stored {
		t.Errorf("after ALTER the door shows version %s, the store %s; before it was %s", during, stored, before)
	}
	s.must(s.v5, "SELECT * FROM system.peers_v2")
	close(goOn)
	if err := <-altered; err != nil {
		t.Fatal(err)
	}
}
