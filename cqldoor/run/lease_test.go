// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// mute is a store that can be made to answer nothing but errors to the door's own account.
type mute struct {
	store.Store
	on  atomic.Bool
	one atomic.Bool // while on: it answers what is asked at ONE
}

func (m *mute) MaxVersion(ctx context.Context) (wire.Version, error) {
	return m.Store.(store.Versioned).MaxVersion(ctx)
}

func (m *mute) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := m.Store.Open(ctx, o)
	if err != nil || !o.Own {
		return l, err
	}
	return muteLink{l, m, o.Version}, nil
}

type muteLink struct {
	store.Link
	of      *mute
	version wire.Version
}

func (l muteLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if q, err := wire.ParseQuery(l.version, req.Body); l.of.on.Load() && !(l.of.one.Load() && err == nil && q.Params.Consistency == wire.One) {
		reply(wire.Message{Op: wire.OpError, Body: wire.Errorf(wire.CodeUnavailable, "nobody is there").Append(nil, wire.V5)})
		return
	}
	l.Link.Send(ctx, req, reply)
}

// passingTime is a clock that can be moved on.
type passingTime struct{ on atomic.Int64 }

func (p *passingTime) now() time.Time { return time.Now().Add(time.Duration(p.on.Load())) }

// startRouterAt starts a router with a lease that an hour of its clock ends for certain.
func startRouterAt(t *testing.T, st store.Store, clock *passingTime) *Router {
	t.Helper()
	r := New(Options{
		Lease: 30 * time.Minute, Store: st, Now: clock.now, Timeuuid: random, UUID: random, IntN: mathrand.IntN, Log: slog.New(slog.DiscardHandler),
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestLapsedLease ends a door's lease while the door cannot ask the store whether tables have
// changed. The door must refuse requests on sharded tables, and send none of them. It goes on with
// plain ones while one replica of the catalogue answers, and with all once it can.
func TestLapsedLease(t *testing.T) {
	m := &mute{Store: embedded(t)}
	heard := &overheard{Store: m}
	clock := new(passingTime)
	s := newScene(t, m.Store) // another door, which makes the tables
	at := serveDoor(t, heard, startRouterAt(t, heard, clock))
	table, plain := s.keyspace+".t", s.keyspace+".p"
	s.must(s.v5, "CREATE TABLE "+table+" (k int, c int, PRIMARY KEY (k, c))"+shardedByFour)
	s.must(s.v5, "CREATE TABLE "+plain+" (k int, c int, PRIMARY KEY (k, c))")
	for _, version := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
		conn := dial(t, at, version)
		texts := []string{
			"INSERT INTO TABLE (k, c) VALUES (1, 1)", "SELECT * FROM TABLE WHERE k = 1", "SELECT * FROM TABLE WHERE k = 1 AND c = 1",
			"SELECT * FROM TABLE", "DELETE FROM TABLE WHERE k = 9", "INSERT INTO TABLE (k, c) VALUES (2, 2) IF NOT EXISTS",
		}
		prepared := map[string]*difftest.Answer{}
		for _, of := range []string{table, plain} {
			for _, text := range texts {
				text = strings.ReplaceAll(text, "TABLE", of)
				p, err := conn.Prepare(text)
				if err != nil || p.Kind != difftest.Prepared {
					t.Fatalf("%s: %v %s", text, err, show(p))
				}
				prepared[text] = p
				if a, err := conn.Execute(p, difftest.Request{}); err != nil || a.Kind == difftest.Error {
					t.Fatalf("EXECUTE %s: %v %s", text, err, show(a))
				}
			}
		}
		ask := func(text string) map[string]*difftest.Answer {
			answers := map[string]*difftest.Answer{"QUERY": s.query(conn, text)}
			var err error
			if answers["EXECUTE"], err = conn.Execute(prepared[text], difftest.Request{}); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(text, "INSERT") && !strings.Contains(text, "IF") {
				if answers["BATCH"], err = conn.Batch(&message.Batch{Children: []*message.BatchChild{{Query: text}}}); err != nil {
					t.Fatal(err)
				}
				if answers["BATCH of ids"], err = conn.Batch(&message.Batch{Children: []*message.BatchChild{{Id: prepared[text].ID}}}); err != nil {
					t.Fatal(err)
				}
			}
			return answers
		}
		for _, text := range texts {
			sharded, ofPlain := strings.ReplaceAll(text, "TABLE", table), strings.ReplaceAll(text, "TABLE", plain)
			m.on.Store(true)
			clock.on.Add(int64(time.Hour))
			heard.take()
			for way, a := range ask(sharded) {
				if a.Kind != difftest.Error || a.Code != primitive.ErrorCodeOverloaded || !strings.Contains(a.Text, "cannot ask the store") {
					t.Errorf("v%d %s %s: %s", version, way, sharded, show(a))
				}
			}
			for _, sent := range heard.take() {
				if strings.Contains(sent, table) || strings.HasPrefix(sent, "EXECUTE") || strings.HasPrefix(sent, "BATCH") {
					t.Errorf("v%d %s: sent %s", version, sharded, sent)
				}
			}
			for way, a := range ask(ofPlain) {
				if a.Kind != difftest.Error || a.Code == primitive.ErrorCodeInvalid {
					t.Errorf("v%d %s %s: %s", version, way, ofPlain, show(a))
				}
			}
			m.one.Store(true)
			for way, a := range ask(ofPlain) {
				if a.Kind == difftest.Error {
					t.Errorf("v%d %s %s: %s", version, way, ofPlain, show(a))
				}
			}
			m.on.Store(false)
			m.one.Store(false)
			for way, a := range ask(sharded) {
				if a.Kind == difftest.Error {
					t.Errorf("v%d, when the store answers again, %s %s: %s", version, way, sharded, show(a))
				}
			}
		}
	}
}

// still is a store one of whose nodes can be made to stand still: the next request of the door's own
// account is never answered.
type still struct {
	store.Store
	next atomic.Bool
}

func (s *still) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *still) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil || !o.Own {
		return l, err
	}
	return stillLink{l, s}, nil
}

type stillLink struct {
	store.Link
	of *still
}

func (l stillLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if !l.of.next.CompareAndSwap(true, false) {
		l.Link.Send(ctx, req, reply)
	}
}

// TestNodeStandsStill checks that a door which renews its lease at a node that answers nothing asks
// again, before its clients have waited for long.
func TestNodeStandsStill(t *testing.T) {
	st := &still{Store: embedded(t)}
	r := New(Options{Lease: 2 * time.Second, Store: st, Now: time.Now, Timeuuid: random, UUID: random, IntN: mathrand.IntN, Log: slog.New(slog.DiscardHandler)})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	s := newScene(t, st.Store)
	conn := dial(t, serveDoor(t, st, r), primitive.ProtocolVersion5)
	table := s.keyspace + ".t"
	s.must(conn, "CREATE TABLE "+table+" (k int, c int, PRIMARY KEY (k, c))"+shardedByFour)
	for range 3 {
		st.next.Store(true)
		for asked := time.Now(); time.Since(asked) < 4*time.Second; time.Sleep(10 * time.Millisecond) {
			begun := time.Now()
			if a := s.query(conn, "SELECT * FROM "+table+" WHERE k = 1"); a.Kind == difftest.Error {
				t.Fatal(show(a))
			}
			if took := time.Since(begun); took > tables.RefreshLimit/2 {
				t.Fatalf("a read waited for %v while the door renewed its lease", took)
			}
		}
		if st.next.Load() {
			t.Fatal("the door has asked nothing")
		}
	}
}
