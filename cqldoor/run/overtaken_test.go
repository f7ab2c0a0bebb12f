// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// stalling is a store whose responses to clients can be held back, once it has carried out
// what was asked.
type stalling struct {
	store.Store
	mu      sync.Mutex
	release chan struct{} // nil: nothing is held back
	held    chan struct{} // takes a value for each response that is
}

func (s *stalling) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *stalling) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil || o.Own {
		return l, err
	}
	return stallingLink{l, s}, nil
}

// stall holds responses back until what it returns is called.
func (s *stalling) stall() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan struct{})
	s.release, s.held = ch, make(chan struct{}, 1000)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release = nil
		close(ch)
	}
}

type stallingLink struct {
	store.Link
	of *stalling
}

func (l stallingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	l.of.mu.Lock()
	release, held := l.of.release, l.of.held
	l.of.mu.Unlock()
	if release == nil || req.Op == wire.OpPrepare {
		l.Link.Send(ctx, req, reply)
		return
	}
	l.Link.Send(ctx, req, func(resp wire.Message) {
		resp.Body = slices.Clone(resp.Body)
		go func() {
			held <- struct{}{}
			<-release
			reply(resp)
		}()
	})
}

// stalledDoor is a door whose requests stall, and another that changes tables meanwhile.
type stalledDoor struct {
	*scene // the other door
	router *Router
	stall  *stalling
	heard  *overheard
	mute   *mute
	clock  *passingTime
	conn   *difftest.Conn
	n      int
}

func newStalledDoor(t *testing.T, version primitive.ProtocolVersion) *stalledDoor {
	p := &stalledDoor{mute: &mute{Store: embedded(t)}, clock: new(passingTime)}
	p.heard = &overheard{Store: p.mute}
	p.stall = &stalling{Store: p.heard}
	other := startDoorAt(t, p.mute.Store, "other:1")
	t.Cleanup(other.Close)
	p.scene = newSceneOf(t, p.mute.Store, other)
	begun := time.Now() // the clock stands still between steps, however slow the machine
	p.router = New(Options{
		Lease: 50 * time.Millisecond, Self: fleet.Door{CQL: "stalls:1"}, Store: p.stall, Now: func() time.Time { return begun.Add(time.Duration(p.clock.on.Load())) },
		Timeuuid: timeuuid, UUID: random, IntN: mathrand.IntN, Log: slog.New(slog.DiscardHandler),
	})
	if err := p.router.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.router.Close)
	p.conn = dial(t, serveDoor(t, deaf{p.stall}, p.router), version)
	return p
}

// timeuuid is a random one that says what it is.
func timeuuid() [16]byte {
	u := random()
	u[6], u[8] = u[6]&0x0f|0x10, u[8]&0x3f|0x80
	return u
}

// way is a way for a request to go through the door.
type way struct {
	name, table string // the options of the table's write_sharding
	text        string
	prepared    bool
	batch       bool // as a BATCH message
	read        bool
	unprepared  bool // a read that is done anew by the driver
	repeats     bool // a write with the door's stamp
}

const byFour, drawnFrom4, rolled1000 = "'shards': '4'", "'shards': '4', 'strategy': 'random'", "'strategy': 'rollover', 'rows': '1000'"

var ways = []way{
	{name: "insert", table: byFour, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", prepared: true},
	{name: "insert as text", table: byFour, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)"},
	{name: "point read", table: byFour, text: "SELECT v FROM TABLE WHERE k = 1 AND c = 1", prepared: true, read: true, unprepared: true},
	{name: "point read as text", table: byFour, text: "SELECT v FROM TABLE WHERE k = 1 AND c = 1", read: true},
	{name: "read of all shards", table: byFour, text: "SELECT v FROM TABLE WHERE k = 1", prepared: true, read: true},
	{name: "read of all shards as text", table: byFour, text: "SELECT v FROM TABLE WHERE k = 1", read: true},
	{name: "scan", table: byFour, text: "SELECT v FROM TABLE", prepared: true, read: true, unprepared: true},
	{name: "condition", table: byFour, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1) IF NOT EXISTS", prepared: true},
	{name: "condition as text", table: byFour, text: "UPDATE TABLE SET v = 2 WHERE k = 1 AND c = 1 IF EXISTS"},
	{name: "deletion of a partition", table: byFour, text: "DELETE FROM TABLE WHERE k = 1", prepared: true},
	{name: "batch message", table: byFour, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", batch: true},
	{name: "batch message of ids", table: byFour, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", batch: true, prepared: true},
	{name: "written batch", table: byFour, text: "BEGIN BATCH INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1); INSERT INTO TABLE (k, c, v) VALUES (1, 2, 1); APPLY BATCH", prepared: true},
	{name: "drawn insert", table: drawnFrom4, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", prepared: true, repeats: true},
	{name: "drawn insert as text", table: drawnFrom4, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", repeats: true},
	{name: "drawn null", table: drawnFrom4, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, null)", prepared: true, repeats: true},
	{name: "drawn batch message", table: drawnFrom4, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", batch: true, repeats: true},
	{name: "rolled insert", table: rolled1000, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", prepared: true, repeats: true},
	{name: "rolled insert as text", table: rolled1000, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)", repeats: true},
	{name: "rolled deletion", table: rolled1000, text: "DELETE FROM TABLE WHERE k = 1", prepared: true, repeats: true},
	{name: "rolled read", table: rolled1000, text: "SELECT v FROM TABLE WHERE k = 1", prepared: true, read: true},
	{name: "drawn of another value each time", table: drawnFrom4, text: "INSERT INTO TABLE (k, c, u) VALUES (1, 1, now())", prepared: true},
}

// ask sends the request of a way.
func (p *stalledDoor) ask(w way, text string, id *difftest.Answer) *difftest.Answer {
	var a *difftest.Answer
	var err error
	switch {
	case w.batch && w.prepared:
		a, err = p.conn.Batch(&message.Batch{Children: []*message.BatchChild{{Id: id.ID}}})
	case w.batch:
		a, err = p.conn.Batch(&message.Batch{Children: []*message.BatchChild{{Query: text}}})
	case w.prepared:
		a, err = p.conn.Execute(id, difftest.Request{})
	default:
		a, err = p.conn.Query(difftest.Request{Query: text})
	}
	if err != nil {
		p.t.Fatalf("%s: %v", w.name, err)
	}
	return a
}

// table makes a table and prepares the request on it.
func (p *stalledDoor) table(w way) (table, text string, id *difftest.Answer) {
	p.n++
	table = fmt.Sprintf("%s.t%d", p.keyspace, p.n)
	text = strings.ReplaceAll(w.text, "TABLE", table)
	p.must(p.v5, "CREATE TABLE "+table+" (k int, c int, v int, u timeuuid, PRIMARY KEY (k, c)) WITH write_sharding = {"+w.table+"}")
	id, err := p.conn.Prepare(text)
	if err != nil || id.Kind != difftest.Prepared {
		p.t.Fatalf("%s: %v %s", text, err, show(id))
	}
	if a := p.ask(w, text, id); a.Kind == difftest.Error {
		p.t.Fatalf("%s: %s", text, show(a))
	}
	return table, text, id
}

// stalled sends the request of a way. When the store has carried out some of it and answered
// nothing, stalled calls meanwhile.
func (p *stalledDoor) stalled(w way, text string, id *difftest.Answer, meanwhile func()) *difftest.Answer {
	release := p.stall.stall()
	answer := make(chan *difftest.Answer, 1)
	go func() { answer <- p.ask(w, text, id) }()
	<-p.stall.held
	meanwhile()
	release()
	return <-answer
}

// relayout gives a table's layout another generation, as a change of a table in use does,
// and publishes it.
func (p *stalledDoor) relayout(table string) (fleet.Table, int64) {
	p.t.Helper()
	keyspace, name, _ := strings.Cut(table, ".")
	session := catalog.NewSession(p.mute.Store)
	defer session.Close()
	rows, err := session.Query(p.t.Context(), wire.LocalQuorum, "SELECT table_id, generation FROM evenkeel.layouts WHERE keyspace_name = ? AND table_name = ?", []byte(keyspace), []byte(name))
	if err != nil || len(rows) != 1 {
		p.t.Fatalf("%v, %v", rows, err)
	}
	of := fleet.Table{Keyspace: keyspace, Name: name, ID: [16]byte(rows[0]["table_id"])}
	generation := rows[0].Int("generation") + 1
	if _, err := session.Query(p.t.Context(), wire.LocalQuorum, "UPDATE evenkeel.layouts SET generation = ? WHERE keyspace_name = ? AND table_name = ?",
		binary.BigEndian.AppendUint64(nil, uint64(generation)), []byte(keyspace), []byte(name)); err != nil {
		p.t.Fatal(err)
	}
	mover := fleet.New(fleet.Options{Session: session, Now: time.Now, UUID: random})
	if err := mover.Publish(p.t.Context(), fleet.Publication{Table: of, Generation: generation}); err != nil {
		p.t.Fatal(err)
	}
	return of, generation
}

// TestAnswerCounts delays the store's answer. Meanwhile the door's lease ends, or another door changes the
// table. The door has planned the request on a state. It may report success to the client only if this
// state is still valid when the store answers.
func TestAnswerCounts(t *testing.T) {
	for _, version := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
		p := newStalledDoor(t, version)
		lapse := func() { p.clock.on.Add(int64(time.Hour)) }
		fails := func(a *difftest.Answer, code primitive.ErrorCode) bool {
			return a.Kind == difftest.Error && a.Code == code
		}
		for i, w := range ways {
			if version == primitive.ProtocolVersion4 && i > 4 {
				break // they differ in the messages that are passed on
			}
			t.Run(fmt.Sprintf("v%d/%s", version, w.name), func(t *testing.T) {
				p.t = t
				table, text, id := p.table(w)
				settle := func(a *difftest.Answer) { // to the same answer as before
					t.Helper()
					if a.Kind == difftest.Error {
						t.Errorf("%s", show(a))
					}
				}
				settle(p.stalled(w, text, id, func() {}))
				// The lease ends, and nothing has changed.
				settle(p.stalled(w, text, id, lapse))
				// Another table is changed.
				settle(p.stalled(w, text, id, func() {
					p.must(p.v5, "CREATE TABLE "+table+"x (k int, c int, PRIMARY KEY (k, c))"+shardedByFour)
					lapse()
				}))
				// The store cannot be asked.
				a := p.stalled(w, text, id, func() {
					p.mute.on.Store(true)
					lapse()
				})
				p.mute.on.Store(false)
				if w.read && !fails(a, primitive.ErrorCodeOverloaded) || !w.read && !fails(a, primitive.ErrorCodeWriteTimeout) {
					t.Errorf("nobody can be asked: %s", show(a))
				}
				settle(p.ask(w, text, id))
				// The table has another layout: this door knows, or does not yet.
				for _, knows := range []bool{true, false} {
					p.heard.take()
					a := p.stalled(w, text, id, func() {
						p.relayout(table)
						if knows {
							if err := p.router.schema.Doors.Renew(t.Context()); err != nil {
								t.Error(err)
							}
						} else {
							lapse()
						}
					})
					switch {
					case w.unprepared:
						if !fails(a, primitive.ErrorCodeUnprepared) {
							t.Errorf("another layout: %s", show(a))
						}
					case w.read, w.repeats:
						settle(a)
						if n := len(p.heard.take()); n < 2 {
							t.Errorf("it was not carried out anew: %d requests", n)
						}
					default:
						if !fails(a, primitive.ErrorCodeWriteTimeout) {
							t.Errorf("another layout: %s", show(a))
						}
					}
					settle(p.ask(w, text, id))
				}
				// The table is another.
				a = p.stalled(w, text, id, func() {
					p.must(p.v5, "DROP TABLE "+table)
					p.must(p.v5, "CREATE TABLE "+table+" (k int, c int, v int, u timeuuid, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '50'}")
					lapse()
				})
				switch {
				case w.read && w.prepared:
					if !fails(a, primitive.ErrorCodeUnprepared) {
						t.Errorf("another table: %s", show(a))
					}
				case w.read:
					if a.Kind == difftest.Error || len(a.Rows) > 0 {
						t.Errorf("another table: %s", show(a))
					}
				case !fails(a, primitive.ErrorCodeWriteTimeout):
					t.Errorf("another table: %s", show(a))
				}
			})
		}
		p.t = t
	}
}

// TestAcknowledgesWhenNothingIsUnderWay publishes a generation while a request is under way
// that was planned before: the door acknowledges it when the store has answered that.
func TestAcknowledgesWhenNothingIsUnderWay(t *testing.T) {
	p := newStalledDoor(t, primitive.ProtocolVersion5)
	renew := func() {
		t.Helper()
		for range 2 { // one reads what is published, the next tells what was acknowledged
			if err := p.router.schema.Doors.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			p.t = t
			table, text, id := p.table(w)
			var of fleet.Table
			var generation int64
			p.stalled(w, text, id, func() {
				of, generation = p.relayout(table)
				renew()
				seen, err := p.router.schema.Doors.Beat(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range seen.Doors {
					if d.CQL == "stalls:1" && d.Acknowledged[of.ID] >= generation {
						t.Errorf("it has acknowledged generation %d with a request of before under way", generation)
					}
				}
			})
			// The answer has gone to the client, or goes.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			session := catalog.NewSession(p.mute.Store)
			defer session.Close()
			mover := fleet.New(fleet.Options{Session: session, Now: time.Now, UUID: random, Poll: time.Millisecond, Longest: time.Hour})
			if err := mover.Barrier(ctx, of, generation); err != nil {
				t.Error(err)
			}
			if err := mover.Withdraw(ctx, of, generation); err != nil {
				t.Error(err)
			}
		})
	}
	p.t = t
}

// TestForwardedPartsAreNotRepeated sends a BATCH with a write that the door may repeat and one on a plain table that
// appends to a list. Another door changes the sharded table meanwhile. The value is appended once.
func TestForwardedPartsAreNotRepeated(t *testing.T) {
	p := newStalledDoor(t, primitive.ProtocolVersion5)
	table, _, _ := p.table(way{table: drawnFrom4, text: "INSERT INTO TABLE (k, c, v) VALUES (1, 1, 1)"})
	plain := p.keyspace + ".plain"
	p.must(p.v5, "CREATE TABLE "+plain+" (k int PRIMARY KEY, l list<int>)")
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // until the door knows the table
		if a, err := p.conn.Query(difftest.Request{Query: "SELECT l FROM " + plain}); err == nil && a.Kind != difftest.Error {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err, show(a))
		}
	}
	release := p.stall.stall()
	answer := make(chan *difftest.Answer, 1)
	go func() {
		a, err := p.conn.Batch(&message.Batch{Children: []*message.BatchChild{
			{Query: "INSERT INTO " + table + " (k, c, v) VALUES (1, 2, 1)"}, {Query: "UPDATE " + plain + " SET l = l + [7] WHERE k = 1"}}})
		if err != nil {
			t.Error(err)
		}
		answer <- a
	}()
	<-p.stall.held
	p.relayout(table)
	p.clock.on.Add(int64(time.Hour))
	release()
	if a := <-answer; a.Kind != difftest.Error || a.Code != primitive.ErrorCodeWriteTimeout {
		t.Errorf("the batch ends with %s", show(a))
	}
	if a := p.must(p.v5, "SELECT l FROM "+plain+" WHERE k = 1"); len(a.Rows) != 1 || len(a.Rows[0][0]) != 4+4+4 {
		t.Errorf("the list is %s", show(a))
	}
}
