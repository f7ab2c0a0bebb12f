// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// panicking is a router whose requests panic while they are carried out.
type panicking struct{ *Router }

func (p panicking) Serve(ctx context.Context, req *cqldoor.Request) {
	p.attempts.Carry(ctx, req, func(context.Context, bool) error { panic("it is carried out") })
}

// TestAPanicLeavesNoRequestUnderWay checks that a request that panics does not count any more among
// those that were planned on a state. A change of layout waits for these.
func TestAPanicLeavesNoRequestUnderWay(t *testing.T) {
	e := embedded(t)
	s := newScene(t, e)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '16'}")
	c := dial(t, serveDoor(t, e, panicking{s.router}), primitive.ProtocolVersion5)
	if a := s.query(c, "SELECT c FROM "+s.keyspace+".t WHERE p = 1"); !strings.Contains(a.Text, "internal error") {
		t.Fatalf("the request is answered by %+v", a)
	}
	if !s.router.state.Load().Under.None() {
		t.Error("a request that has panicked is still under way")
	}
}

// TestStatementsGivenUp runs prepared statements of every way to the shards on a
// store that keeps hardly any: each is carried out, perhaps after an UNPREPARED that
// names the client's id, as drivers expect of a store.
func TestStatementsGivenUp(t *testing.T) {
	e, err := cassandra.Open(t.TempDir(), cassandra.Options{Prepared: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s := newScene(t, e)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, l list<int>, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '16'}")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".n (p int PRIMARY KEY, n counter) WITH write_sharding = {'shards': '16', 'strategy': 'random'}")
	for c := range 40 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (1, %d, %d)", s.keyspace, c, c))
	}
	texts := []string{
		"SELECT v FROM TABLE WHERE p = 1 AND c = 7",
		"SELECT c FROM TABLE WHERE p = 1",
		"SELECT c FROM TABLE WHERE p = 1 AND c > 20 ORDER BY c DESC",
		"SELECT count(*), sum(v) FROM TABLE WHERE p = 1",
		"SELECT v FROM TABLE",
		"SELECT DISTINCT p FROM TABLE",
		"INSERT INTO TABLE (p, c, v) VALUES (2, 1, 1)",
		"INSERT INTO TABLE (p, c, v) VALUES (3, 1, 1) IF NOT EXISTS",
		"UPDATE TABLE SET v = 1 WHERE p = 2 AND c IN (5, 6, 7, 8)",
		"DELETE FROM TABLE WHERE p = 2",
		"BEGIN BATCH INSERT INTO TABLE (p, c, v) VALUES (4, 1, 1); INSERT INTO TABLE (p, c, v) VALUES (4, 2, 1); APPLY BATCH",
		"UPDATE COUNTERS SET n = n + 1 WHERE p = 1",
		"SELECT n FROM COUNTERS WHERE p = 1",
	}
	for i, c := range []*difftest.Conn{s.v4, s.v5} {
		known := map[string]*difftest.Answer{}
		prepare := func(text string) {
			a, err := c.Prepare(strings.NewReplacer("TABLE", s.keyspace+".t", "COUNTERS", s.keyspace+".n").Replace(text))
			if err != nil || a.Kind != difftest.Prepared {
				t.Fatalf("%s: %v %+v", text, err, a)
			}
			known[text] = a
		}
		for _, text := range texts {
			prepare(text)
		}
		told := 0
		for round := range 300 {
			text := texts[rand.IntN(len(texts))]
			for attempt := 0; ; attempt++ {
				p := known[text]
				a, err := c.Execute(p, difftest.Request{})
				if err != nil {
					t.Fatal(err)
				}
				if a.Kind != difftest.Error {
					break
				}
				if a.Code != primitive.ErrorCodeUnprepared || !strings.Contains(a.Text, fmt.Sprintf("%x", p.ID)) || attempt == 3 {
					t.Fatalf("round %d, attempt %d: %s (%x): %v %s", round, attempt, text, p.ID, a.Code, a.Text)
				}
				told++
				prepare(text)
			}
		}
		if told == 0 {
			t.Errorf("connection %d was never told that a statement is gone: nothing was tested", i)
		}
		// A BATCH of prepared statements is the door's to mend.
		for range 20 {
			p := known["INSERT INTO TABLE (p, c, v) VALUES (2, 1, 1)"]
			q := known["UPDATE TABLE SET v = 1 WHERE p = 2 AND c IN (5, 6, 7, 8)"]
			prepare(texts[rand.IntN(6)])
			prepare(texts[rand.IntN(6)])
			a, err := c.Batch(&message.Batch{Children: []*message.BatchChild{{Id: p.ID}, {Id: q.ID}}})
			if err != nil || a.Kind != difftest.Void {
				t.Fatalf("batch: %v %+v", err, a)
			}
		}
		// Each of its statements is another one of the door's: the store never has all of them.
		many := strings.ReplaceAll(`BEGIN BATCH INSERT INTO TABLE (p, c, v) VALUES (4, 1, 1); INSERT INTO TABLE (p, c) VALUES (4, 2);
			UPDATE TABLE SET v = 1 WHERE p = 4 AND c = 3; UPDATE TABLE SET l = [1] WHERE p = 4 AND c = 4; UPDATE TABLE SET l = l + [2], v = 2 WHERE p = 4 AND c = 5;
			DELETE v FROM TABLE WHERE p = 4 AND c = 6; DELETE FROM TABLE WHERE p = 4 AND c = 7; APPLY BATCH`, "TABLE", s.keyspace+".t")
		for range 20 {
			if a := s.query(c, many); a.Kind != difftest.Void {
				t.Fatalf("batch of many statements: %+v", a)
			}
		}
	}
	if a := s.must(s.v5, "SELECT c, v, l FROM "+s.keyspace+".t WHERE p = 4"); len(a.Rows) != 5 {
		t.Errorf("the batches wrote %d rows, not 5", len(a.Rows))
	}
	for _, text := range []string{"SELECT c FROM TABLE WHERE p = 1", "SELECT c FROM TABLE WHERE p = 3"} {
		want := 40
		if strings.HasSuffix(text, "3") {
			want = 1
		}
		if a := s.must(s.v5, strings.ReplaceAll(text, "TABLE", s.keyspace+".t")); len(a.Rows) != want {
			t.Errorf("%s: %d rows", text, len(a.Rows))
		}
	}
}

// chatty is a store that says something beside each answer.
type chatty struct{ store.Store }

func (c chatty) MaxVersion(ctx context.Context) (wire.Version, error) {
	return c.Store.(store.Versioned).MaxVersion(ctx)
}

func (c chatty) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := c.Store.Open(ctx, o)
	if err != nil || o.Own {
		return l, err
	}
	return chattyLink{l}, nil
}

type chattyLink struct{ store.Link }

func (l chattyLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	l.Link.Send(ctx, req, func(resp wire.Message) {
		if req.Op != wire.OpPrepare {
			p, body, _ := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
			p.Warnings = wire.AppendStringList(nil, []string{"too much in k = 1 AND shard = some", "Aggregation query used on multiple partition keys (IN restriction)"})
			if req.Flags&wire.FlagTracing != 0 {
				p.TracingID = []byte("the id of a trace")[:16]
			}
			resp.Flags, resp.Body = p.Flags(), append(p.Append(nil), body...)
		}
		reply(resp)
	})
}

// traces is told of the id of a trace.
type traces struct{ ids []string }

func (t *traces) Trace(id []byte) { t.ids = append(t.ids, string(id)) }

// TestWarningsAndTracing checks that the client gets the store's warnings and traces of a fan-out:
// each warning once, without the hidden column, and the id of a trace if the client asked for one.
func TestWarningsAndTracing(t *testing.T) {
	st := chatty{embedded(t)}
	at := serveDoor(t, st, startRouter(t, st))
	for _, version := range []int{4, 5} {
		c := session(t, at, version)
		ks := fmt.Sprint("w", version)
		exec(t, c, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		exec(t, c, "CREATE TABLE "+ks+".t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '16'}")
		for _, text := range []string{
			"SELECT c FROM T WHERE k = 1", "SELECT sum(v) FROM T WHERE k = 1", "SELECT DISTINCT k FROM T", "DELETE FROM T WHERE k = 1",
			"UPDATE T SET v = 1 WHERE k = 1 AND c IN (1, 2, 3, 4)", "INSERT INTO T (k, c) VALUES (2, 2) IF NOT EXISTS",
		} {
			var seen traces
			it := c.Query(strings.NewReplacer("FROM T", "FROM "+ks+".t", "UPDATE T", "UPDATE "+ks+".t", "INTO T", "INTO "+ks+".t").Replace(text)).Trace(&seen).Iter()
			warnings := it.Warnings()
			if err := it.Close(); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if fmt.Sprint(warnings) != "[too much in k = 1 AND write_sharding = some]" {
				t.Errorf("v%d %s: warnings %q", version, text, warnings)
			}
			if fmt.Sprint(seen.ids) != "[the id of a trac]" {
				t.Errorf("v%d %s: traces %q", version, text, seen.ids)
			}
		}
	}
}

// amnesiac is a store that gives up each prepared statement at once, as Cassandra does when its cache is
// full of statements that are used more often.
type amnesiac struct {
	store.Store
	gaveUp atomic.Int64
}

type amnesiacLink struct {
	store.Forwarder
	of      *amnesiac
	version wire.Version
}

func (a *amnesiac) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := a.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &amnesiacLink{l.(store.Forwarder), a, o.Version}, nil
}

// unprepared returns the answer to an EXECUTE, and to a BATCH that names a statement by its id.
func (l *amnesiacLink) unprepared(m wire.Message) (wire.Message, bool) {
	_, body, err := wire.SplitPrefix(m.Op, m.Flags, m.Body)
	if err != nil {
		return wire.Message{}, false
	}
	e := &wire.Error{Code: wire.CodeUnprepared, Message: "it is forgotten"}
	switch m.Op {
	case wire.OpExecute:
		e.ID, err = wire.ExecuteID(body)
	case wire.OpBatch:
		var b wire.Batch
		if b, err = wire.ParseBatch(l.version, body); err == nil {
			for it := b.Iter(); it.Next() && e.ID == nil; {
				e.ID = it.ID
			}
		}
	}
	if err != nil || e.ID == nil {
		return wire.Message{}, false
	}
	l.of.gaveUp.Add(1)
	return wire.Message{Op: wire.OpError, Body: e.Append(nil, l.version)}, true
}

func (l *amnesiacLink) Send(ctx context.Context, m wire.Message, reply func(wire.Message)) {
	if answer, forgotten := l.unprepared(m); forgotten {
		reply(answer)
		return
	}
	l.Forwarder.Send(ctx, m, reply)
}

func (l *amnesiacLink) Forward(ctx context.Context, m wire.Message, to store.Receiver, tag uint32) {
	if answer, forgotten := l.unprepared(m); forgotten {
		to.Receive(tag, answer)
		to.Flush()
		return
	}
	l.Forwarder.Forward(ctx, m, to, tag)
}

// TestStatementsGivenUpAtOnce sends statements of each way to the shards through a door whose store keeps no
// prepared statement. Their answers are those of a door whose store keeps all.
func TestStatementsGivenUpAtOnce(t *testing.T) {
	e := embedded(t)
	forgets := &amnesiac{Store: e}
	answers := map[store.Store][]string{}
	for _, st := range []store.Store{e, forgets} {
		s := newScene(t, st)
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, l list<int>, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '16'}")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".s (p int, c int, v int, st int static, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".n (p int PRIMARY KEY, n counter) WITH write_sharding = {'shards': '16', 'strategy': 'random'}")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".e (p int, at timestamp, v int, PRIMARY KEY (p, at)) WITH write_sharding = {'strategy': 'time', 'by': 'at', 'bucket': '1h'}")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".r (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'strategy': 'rollover', 'rows': '10'}")
		for _, way := range []func(c *difftest.Conn, text string) *difftest.Answer{s.query, func(c *difftest.Conn, text string) *difftest.Answer { return s.prepared(c, text, 0) }} {
			for _, text := range []string{
				"INSERT INTO KS.t (p, c, v) VALUES (1, 1, 1)",
				"INSERT INTO KS.t (p, c, v, l) VALUES (1, 2, 2, [1])",
				"INSERT INTO KS.t (p, c, v) VALUES (1, 3, 3) IF NOT EXISTS",
				"UPDATE KS.t SET v = 7 WHERE p = 1 AND c IN (5, 6, 7, 8)",
				"UPDATE KS.t SET v = 8 WHERE p = 1 AND c = 5 IF v = 7",
				"SELECT * FROM KS.t WHERE p = 1 AND c = 5",
				"SELECT c, v, l FROM KS.t WHERE p = 1",
				"SELECT v FROM KS.t WHERE p = 1 AND c > 2 ORDER BY c DESC",
				"SELECT count(*), sum(v) FROM KS.t WHERE p = 1",
				"SELECT v FROM KS.t WHERE v > 0 ALLOW FILTERING",
				"SELECT DISTINCT p FROM KS.t",
				"BEGIN BATCH INSERT INTO KS.t (p, c, v) VALUES (4, 1, 1); DELETE v FROM KS.t WHERE p = 4 AND c = 2; APPLY BATCH",
				"DELETE FROM KS.t WHERE p = 4",
				"SELECT c FROM KS.t WHERE p = 4",
				"UPDATE KS.s SET st = 1 WHERE p = 1 IF st = null",
				"INSERT INTO KS.s (p, c, v, st) VALUES (1, 1, 1, 2)",
				"UPDATE KS.s SET st = 3 WHERE p = 1 IF st = 2",
				"SELECT * FROM KS.s WHERE p = 1",
				"UPDATE KS.n SET n = n + 1 WHERE p = 1",
				"SELECT n FROM KS.n WHERE p = 1",
				"INSERT INTO KS.e (p, at, v) VALUES (1, '2026-01-01 00:30:00+0000', 1)",
				"INSERT INTO KS.e (p, at, v) VALUES (1, '2026-01-01 02:30:00+0000', 2)",
				"SELECT v FROM KS.e WHERE p = 1 ORDER BY at DESC LIMIT 2",
				"SELECT v FROM KS.e WHERE p = 1 AND at >= '2026-01-01' AND at < '2026-01-02'",
				"INSERT INTO KS.r (p, c, v) VALUES (1, 1, 1)",
				"INSERT INTO KS.r (p, c, v) VALUES (1, 2, 2)",
				"SELECT c, v FROM KS.r WHERE p = 1",
			} {
				text = strings.ReplaceAll(text, "KS", s.keyspace)
				for _, c := range []*difftest.Conn{s.v4, s.v5} {
					a := way(c, text)
					for a.Kind == difftest.Error && a.Code == primitive.ErrorCodeUnprepared {
						a = s.query(c, text) // the client's own statement, which is passed on, is given up too
					}
					answers[st] = append(answers[st], strings.ReplaceAll(text+": "+show(a), s.keyspace, "KS"))
				}
			}
		}
	}
	for i, want := range answers[e] {
		if got := answers[forgets][i]; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
	if forgets.gaveUp.Load() == 0 {
		t.Error("the store has given up no statement: nothing was tested")
	}
}

// TestPagesOfStatementsGivenUpAtOnce reads page by page, writes and compares with the parameters that a request can
// have, through a door whose store keeps no prepared statement.
func TestPagesOfStatementsGivenUpAtOnce(t *testing.T) {
	e := embedded(t)
	forgets := &amnesiac{Store: e}
	answers := map[store.Store][]string{}
	stamp, now := int64(5_000_000), int32(1_000)
	for _, st := range []store.Store{e, forgets} {
		s := newScene(t, st)
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".o (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '1'}")
		for i := range 20 {
			for _, table := range []string{"t", "o"} {
				s.must(s.v5, fmt.Sprintf("INSERT INTO %s.%s (p, c, v) VALUES (1, %d, %d)", s.keyspace, table, i, i))
			}
		}
		for _, c := range []*difftest.Conn{s.v4, s.v5} {
			for _, text := range []string{"SELECT * FROM KS.t WHERE p = 1", "SELECT c, v FROM KS.t WHERE p = 1 AND c > 3 ORDER BY c DESC", "SELECT v FROM KS.t", "SELECT * FROM KS.o WHERE p = 1", "SELECT v FROM KS.o WHERE p = 1 AND c > 2", "SELECT * FROM KS.o"} {
				text = strings.ReplaceAll(text, "KS", s.keyspace)
				for _, size := range []int32{1, 3, 7} {
					got := s.pages(func(state []byte) (*difftest.Answer, error) {
						return c.Query(difftest.Request{Query: text, PageSize: size, State: state})
					})
					a := s.prepared(c, text, size)
					if a.Kind == difftest.Error && a.Code == primitive.ErrorCodeUnprepared {
						a = got
					}
					answers[st] = append(answers[st], strings.ReplaceAll(text+": "+show(got)+show(a), s.keyspace, "KS"))
				}
			}
			for _, r := range []difftest.Request{
				{Query: "INSERT INTO KS.t (p, c, v) VALUES (2, 1, 1)", Timestamp: &stamp},
				{Query: "INSERT INTO KS.t (p, c, v) VALUES (3, 1, 1) IF NOT EXISTS", Serial: primitive.ConsistencyLevelLocalSerial},
				{Query: "UPDATE KS.t SET v = 2 WHERE p = 3 AND c = 1 IF v = 9", Serial: primitive.ConsistencyLevelLocalSerial},
				{Query: "UPDATE KS.t SET v = 2 WHERE p = 3 AND c IN (1, 2, 3)", Timestamp: &stamp},
				{Query: "SELECT c, v, writetime(v) FROM KS.t WHERE p = 2"},
				{Query: "SELECT c, v FROM KS.t WHERE p = 3", Consistency: primitive.ConsistencyLevelSerial},
			} {
				r.Query = strings.ReplaceAll(r.Query, "KS", s.keyspace)
				if c == s.v5 {
					r.Keyspace, r.Now = s.keyspace, &now
					r.Query = strings.ReplaceAll(r.Query, s.keyspace+".", "")
				}
				a, err := c.Query(r)
				if err != nil {
					t.Fatal(err)
				}
				answers[st] = append(answers[st], strings.ReplaceAll(r.Query+": "+show(a), s.keyspace, "KS"))
			}
		}
	}
	for i, want := range answers[e] {
		if got := answers[forgets][i]; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
	if forgets.gaveUp.Load() == 0 {
		t.Error("the store has given up no statement: nothing was tested")
	}
}
