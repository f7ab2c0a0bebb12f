// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// absent is a store that answers nothing that it is asked to execute, while it is away.
type absentStore struct {
	store.Store
	away  atomic.Bool
	asked atomic.Int32
}

type absentLink struct {
	store.Forwarder
	a *absentStore
}

func (a *absentStore) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := a.Store.Open(ctx, o)
	if err != nil || o.Own {
		return l, err
	}
	return &absentLink{l.(store.Forwarder), a}, nil
}

func (l *absentLink) Forward(ctx context.Context, m wire.Message, to store.Receiver, tag uint32) {
	if (m.Op == wire.OpExecute || m.Op == wire.OpBatch) && l.a.away.Load() {
		l.a.asked.Add(1)
		context.AfterFunc(ctx, func() { // when nobody waits any more
			to.Receive(tag, wire.Message{Op: wire.OpError, Body: wire.Errorf(wire.CodeOverloaded, "late").Append(nil, wire.V4)})
			to.Flush()
		})
		return
	}
	l.Forwarder.Forward(ctx, m, to, tag)
}

func (l *absentLink) Send(ctx context.Context, m wire.Message, reply func(wire.Message)) {
	l.Forward(ctx, m, &told{reply}, 0)
	l.Flush()
}

type told struct{ reply func(wire.Message) }

func (r *told) Receive(_ uint32, m wire.Message) { r.reply(m) }

func (r *told) Flush() {}

// TestRequestsEndInTime has a store answer nothing: requests on sharded tables end with
// the timeouts that Cassandra has, and ask for nothing more.
func TestRequestsEndInTime(t *testing.T) {
	a := &absentStore{Store: embedded(t)}
	s := newScene(t, a)
	_, addr := serveOptions(t, cqldoor.Options{Store: a, Router: s.router})
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '100'}")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".h (p int, c timestamp, PRIMARY KEY (p, c)) WITH write_sharding = {'strategy': 'time', 'by': 'c', 'bucket': '1h'}")
	for _, where := range []string{"p = 1", "p IN (1, 2)"} { // what a timeout would say is found for every layout
		s.must(s.v5, "SELECT c FROM "+s.keyspace+".h WHERE "+where+" LIMIT 2")
	}
	c := plainClient(t, addr)
	ask := func(text string) (wire.Op, []byte) {
		t.Helper()
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.LocalQuorum}}
		c.send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &q))
		h, body, err := c.dec.Next()
		if err != nil {
			t.Fatal(err)
		}
		return h.Op, body
	}
	for _, test := range []struct {
		text      string
		code      wire.Code
		writeType string
	}{
		{"SELECT * FROM KS.t WHERE p = 1", wire.CodeReadTimeout, ""},
		{"SELECT count(*) FROM KS.t WHERE p IN (1, 2)", wire.CodeReadTimeout, ""},
		{"SELECT p, max(v) FROM KS.t GROUP BY p", wire.CodeReadTimeout, ""},
		{"DELETE FROM KS.t WHERE p = 1", wire.CodeWriteTimeout, wire.WriteSimple},
		{"UPDATE KS.t SET v = 1 WHERE p = 1 AND c IN (1, 2, 3)", wire.CodeWriteTimeout, wire.WriteSimple},
		{"UPDATE KS.t SET v = 1 WHERE p = 1 AND c = 2 IF v = 3", wire.CodeWriteTimeout, wire.WriteSimple},
	} {
		text := strings.ReplaceAll(test.text, "KS", s.keyspace)
		if op, _ := ask(text); op != wire.OpResult { // prepared
			t.Fatalf("%s: %s", text, op)
		}
		a.asked.Store(0)
		a.away.Store(true)
		s.router.attempts.Timeout = 30 * time.Millisecond
		op, body := ask(text)
		e, err := wire.ParseError(wire.V4, body)
		if op != wire.OpError || err != nil || e.Code != test.code || e.WriteType != test.writeType || e.Consistency != wire.LocalQuorum {
			t.Errorf("%s: %s %v %v", text, op, e, err)
		}
		if named := strings.Contains(e.Message, "2 partition keys; with 100 shards each, these are 200 partitions"); named != strings.Contains(text, "p IN") {
			t.Errorf("%s: %s", text, e.Message)
		}
		asked := a.asked.Load()
		if asked == 0 || asked > 32 {
			t.Errorf("%s: the store was asked %d times", text, asked)
		}
		a.away.Store(false)
		s.router.attempts.Timeout = 0
		if op, _ := ask(text); op != wire.OpResult {
			t.Errorf("%s, then: %s", text, op)
		}
		if n := a.asked.Load(); n != asked {
			t.Errorf("%s: the store was asked %d times more after the end", text, n-asked)
		}
	}
}
