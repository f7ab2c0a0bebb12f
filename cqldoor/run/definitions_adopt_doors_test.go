// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/reshard"
)

// heldStore holds back a client's statements with a mark until the test lets them go, and calls a
// function when the door has read a page of rows for itself.
type heldStore struct {
	store.Store
	mark string
	hold chan struct{} // closed: statements with the mark go on
	held atomic.Int64
	read func()
}

func (s *heldStore) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *heldStore) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil || o.Own && s.read == nil {
		return l, err
	}
	if o.Own {
		return readerLink{l, s}, nil
	}
	return heldLink{l.(store.Forwarder), s}, nil
}

type readerLink struct {
	store.Link
	of *heldStore
}

func (l readerLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if req.Op != wire.OpExecute { // the mover's backend alone executes prepared statements
		l.Link.Send(ctx, req, reply)
		return
	}
	l.Link.Send(ctx, req, func(resp wire.Message) {
		resp.Body, resp.Arrival = slices.Clone(resp.Body), nil
		go func() {
			l.of.read()
			reply(resp)
		}()
	})
}

type heldLink struct {
	store.Forwarder
	of *heldStore
}

func (l heldLink) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	if !strings.Contains(string(req.Body), l.of.mark) {
		l.Forwarder.Forward(ctx, req, to, tag)
		return
	}
	l.of.held.Add(1)
	req.Body = slices.Clone(req.Body)
	go func() {
		<-l.of.hold
		l.Forwarder.Forward(ctx, req, to, tag)
	}()
}

// TestAdoptionSeesEarlierWrites has an application write a row into a wrong shard while the table is
// being adopted: after the door has read it, or by a statement that a door has forwarded already.
func TestAdoptionSeesEarlierWrites(t *testing.T) { onStores(t, adoptionSeesEarlierWrites) }

func adoptionSeesEarlierWrites(t *testing.T, st store.Store) {
	const n = 5
	at := func(title string) int { return byHand(title, n) }
	wrong := func(h *handmade) string {
		return fmt.Sprintf("INSERT INTO %s (publish_date, shard, title, words) VALUES ('2020-07-09', %d, 'late', 4)", h.table, at("late")%n+1)
	}
	const declaration = ", 'hash': 'code_points', 'shards': '5'"
	refused := func(h *handmade, a *difftest.Answer) {
		t.Helper()
		if want := fmt.Sprintf("title = 'late' is in shard %d, where code_points", at("late")%n+1); a.Kind != difftest.Error || !strings.Contains(a.Text, want) {
			t.Errorf("the adoption ends with %s, want an error with %q", show(a), want)
		}
		h.must(h.v5, "SELECT shard FROM "+h.table)
		h.must(h.direct, "DELETE FROM "+h.table+" WHERE publish_date = '2020-07-09' AND shard IN (1, 2, 3, 4, 5) AND title = 'late'")
		h.must(h.v5, h.adopt(declaration))
		h.logical()
	}

	t.Run("after the reading", func(t *testing.T) {
		slow := &heldStore{Store: st, mark: "nothing has this"}
		var once sync.Once
		var h *handmade
		slow.read = func() {
			if h != nil {
				once.Do(func() { h.must(h.direct, wrong(h)) })
			}
		}
		s := newSceneOf(t, slow, startRouter(t, slow))
		h = newHandmade(s, "read", 40, at)
		refused(h, h.query(h.v5, h.adopt(declaration)))
	})

	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprintf("forwarded by the same door %t", same), func(t *testing.T) {
			slow := &heldStore{Store: st, mark: "'late'", hold: make(chan struct{})}
			// A door whose lease ends on a busy machine does not know the outcome of its write.
			long := func(o *Options) { o.Lease = 4 * time.Second }
			forgetLease(t, st)
			s := newSceneOf(t, st, startDoorWith(t, st, "a:1", long))
			h := newHandmade(s, "forwarded", 40, at)
			b := serveDoor(t, deaf{slow}, startDoorWith(t, deaf{slow}, "b:1", long))
			other, by := dial(t, b, primitive.ProtocolVersion4), h.v5
			if same {
				by = dial(t, b, primitive.ProtocolVersion5)
			}
			written := make(chan *difftest.Answer, 1)
			go func() { written <- s.query(other, wrong(h)) }()
			for slow.held.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			adopted := make(chan *difftest.Answer, 1)
			go func() { adopted <- s.query(by, h.adopt(declaration)) }()
			select {
			case a := <-adopted:
				t.Errorf("it is answered while an earlier write is under way: %s", show(a))
				adopted <- a
			case <-time.After(time.Duration(500+mathrand.IntN(2000)) * time.Millisecond):
			}
			close(slow.hold)
			if a := <-written; a.Kind == difftest.Error {
				t.Errorf("the write: %s", show(a))
			}
			refused(h, <-adopted)
		})
	}
}

// forgetLease deletes the length of leases from the store, now and after the test. The first door of a store
// writes this length, and all later doors use it. Without forgetLease, the doors of later tests would use the
// leases of this test, and wait as long for each DDL.
func forgetLease(t *testing.T, st store.Store) {
	t.Helper()
	forget := func() {
		s := catalog.NewSession(st)
		defer s.Close()
		rows, err := s.Query(context.Background(), wire.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'evenkeel' AND table_name = 'settings'")
		if err == nil && len(rows) > 0 {
			_, err = s.Query(context.Background(), wire.One, "DELETE FROM evenkeel.settings WHERE name = 'lease'")
		}
		if err != nil {
			t.Error(err)
		}
	}
	forget()
	t.Cleanup(forget)
}

// TestAdoptionAtSeveralDoors adopts a table at one door, and gives it back at another one. When the
// statement is answered, no door serves the table as it was.
func TestAdoptionAtSeveralDoors(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const n = 7
		s := newSceneOf(t, st, startDoor(t, st, "a:1"))
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".first (d date, title text, PRIMARY KEY (d, title)) WITH write_sharding = {'shards': '4'}")
		h := newHandmade(s, "several", 60, func(title string) int { return byHand(title, n) })
		other := dial(t, serveDoor(t, deaf{st}, startDoor(t, deaf{st}, "b:1")), primitive.ProtocolVersion5)
		insert := "INSERT INTO " + h.table + " (publish_date, shard, title) VALUES ('2020-07-10', ?, 'x')"
		logical := "INSERT INTO " + h.table + " (publish_date, title, words) VALUES ('2020-07-10', 'x', 1)"
		for range 3 {
			prepared, err := other.Prepare(insert)
			if err != nil || prepared.Kind != difftest.Prepared {
				t.Fatalf("%v %s", err, show(prepared))
			}
			s.must(s.v5, h.adopt(", 'hash': 'code_points', 'shards': '7'"))
			if a, err := other.Execute(prepared, difftest.Request{Values: int32s(1)}); err != nil || a.Code != primitive.ErrorCodeUnprepared {
				t.Errorf("the other door executes %s: %v %s", insert, err, show(a))
			}
			if a := s.query(other, "SELECT * FROM "+h.table+" WHERE publish_date = '2020-07-09'"); len(a.Rows) != len(h.titles) || len(a.Columns) != 3 {
				t.Errorf("the other door shows %d rows of %d columns: %s", len(a.Rows), len(a.Columns), a.Text)
			}
			if a := s.query(other, "SELECT shard FROM "+h.table); a.Kind != difftest.Error || !strings.Contains(a.Text, "is adopted") {
				t.Errorf("the other door shows the shard: %s", show(a))
			}
			of, err := s.v5.Prepare(logical)
			if err != nil || of.Kind != difftest.Prepared {
				t.Fatalf("%v %s", err, show(of))
			}
			if a := s.query(other, "ALTER TABLE "+h.table+" WITH write_sharding = {'adopt': ''}"); a.Kind == difftest.Error {
				t.Fatalf("giving it back: %s", show(a))
			}
			if a, err := s.v5.Execute(of, difftest.Request{}); err != nil || a.Code != primitive.ErrorCodeUnprepared {
				t.Errorf("the first door executes %s: %v %s", logical, err, show(a))
			}
			s.must(s.v5, "SELECT shard FROM "+h.table)
		}

		own := catalog.NewSession(st)
		defer own.Close()
		old := fleet.New(fleet.Options{Session: own, Now: time.Now, UUID: random, Self: fleet.Door{CQL: "old:1", Release: "0.1", Steps: reshard.Steps()}})
		if _, err := old.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.refusedWith(h.adopt(", 'hash': 'code_points', 'shards': '7'"), "door old:1, of release 0.1, does not know")
		if err := old.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAdoptionUnderWay looks at an adoption that takes long, sends it again, and stops it.
func TestAdoptionUnderWay(t *testing.T) {
	st := embedded(t)
	slow := &heldStore{Store: st, mark: "nothing has this"}
	hold := make(chan struct{})
	slow.read = func() { <-hold }
	s := newSceneOf(t, slow, startRouter(t, slow))
	h := newHandmade(s, "long", 600, func(title string) int { return byHand(title, 3) })
	another := dial(t, serveDoor(t, slow, s.router), primitive.ProtocolVersion5)
	const declaration = ", 'hash': 'code_points', 'shards': '3'"
	answers := make(chan *difftest.Answer, 2)
	go func() { answers <- s.query(s.v4, h.adopt(declaration)) }()
	for h.status().Phase != "adopting" {
		time.Sleep(time.Millisecond)
	}
	go func() { answers <- s.query(another, h.adopt(declaration)) }()
	s.refusedWith(h.adopt(", 'shards': '3'"), "is being adopted already")
	hold <- struct{}{}
	for h.status().RowsVerified != 500 {
		time.Sleep(time.Millisecond)
	}
	s.must(s.v5, "ALTER TABLE "+h.table+" WITH write_sharding = {'change': 'rollback'}")
	close(hold)
	for range 2 {
		if a := <-answers; a.Kind != difftest.Error || !strings.Contains(a.Text, "the table is as it was") {
			t.Errorf("it was stopped, and is answered %s", show(a))
		}
	}
	s.must(s.v5, "SELECT shard FROM "+h.table)
	s.must(s.v5, h.adopt(declaration))
	h.logical()
}

// TestAlterOfUnknownTable changes the layout of a table that its door does not know yet.
func TestAlterOfUnknownTable(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		door := dial(t, serveDoor(t, deaf{st}, startRouter(t, deaf{st})), primitive.ProtocolVersion5)
		s.must(s.direct, "CREATE TABLE "+s.keyspace+".fresh (d date, shard int, title text, PRIMARY KEY ((d, shard), title))")
		if a := s.query(door, "ALTER TABLE "+s.keyspace+".fresh WITH write_sharding = {'adopt': 'shard', 'shards': '4'}"); a.Kind == difftest.Error {
			t.Errorf("%s", show(a))
		}
	})
}
