// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/observe"
)

// picky is a router that claims the tables whose names begin with "mine", and
// ids that begin with "mine".
type picky struct {
	serve    func(ctx context.Context, r *cqldoor.Request)
	standing cqldoor.Standing
	mu       sync.Mutex
	asked    []string

	prepared []string
}

func (p *picky) Claims(h syntax.Head, keyspace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	p.asked = append(p.asked, strings.Clone(keyspace+"."+h.Name.Name))
	return strings.HasPrefix(h.Name.Name, "mine")
}

func (p *picky) ClaimsID(id []byte) (bool, *observe.Series) {
	return bytes.HasPrefix(id, []byte("mine")), nil
}

func (p *picky) Spreads(string) bool { return false }

func (p *picky) Standing() cqldoor.Standing { return p.standing }

func (p *picky) Prepared(id []byte, keyspace, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prepared = append(p.prepared, fmt.Sprintf("%s %s: %s", id, keyspace, text))
}

func (p *picky) Serve(ctx context.Context, r *cqldoor.Request) { p.serve(ctx, r) }

func (p *picky) Events(bodies, out [][]byte) [][]byte {
	for _, body := range bodies {
		if body != nil {
			out = append(out, body, body)
		}
	}
	return out
}

func batch(v wire.Version, statements ...wire.BatchStatement) []byte {
	b := wire.Batch{Count: len(statements)}
	b.Params.Consistency = wire.One
	for i := range statements {
		b.Raw = wire.AppendBatchStatement(b.Raw, &statements[i])
	}
	return wire.AppendBatch(nil, v, &b)
}

func TestRouterClaims(t *testing.T) {
	answer := wire.Message{Op: wire.OpResult, Body: []byte("from the router")}
	p := &picky{serve: func(_ context.Context, r *cqldoor.Request) { r.Reply(answer) }}
	m := &memory{}
	_, addr := door(t, m, cqldoor.Options{Router: p})
	c := connect(t, addr, wire.V5)
	c.ask(wire.OpQuery, query(wire.V5, "USE ks"))
	in := func(keyspace, text string) []byte {
		q := wire.Query{Text: []byte(text)}
		q.Params.Consistency = wire.One
		q.Params.SetKeyspace([]byte(keyspace))
		return wire.AppendQuery(nil, wire.V5, &q)
	}
	prepare := func(keyspace []byte, text string) []byte {
		return wire.AppendPrepare(nil, wire.V5, &wire.Prepare{Text: []byte(text), Keyspace: keyspace})
	}
	for _, test := range []struct {
		name  string
		op    wire.Op
		body  []byte
		mine  bool
		asked string
	}{
		{"unqualified", wire.OpQuery, query(wire.V5, "SELECT * FROM mine"), true, "ks.mine"},
		{"qualified", wire.OpQuery, query(wire.V5, "INSERT INTO other.mine1 (a) VALUES (1)"), true, "other.mine1"},
		{"keyspace of the query", wire.OpQuery, in("third", "SELECT * FROM mine"), true, ".third third.mine"},
		{"refused keyspace of the query", wire.OpQuery, in("mine", "SELECT * FROM a.theirs"), true, ".mine"},
		{"another's", wire.OpQuery, query(wire.V5, "SELECT * FROM theirs"), false, "ks.theirs"},
		{"not CQL", wire.OpQuery, query(wire.V5, "mine mine"), false, "ks."},
		{"prepare", wire.OpPrepare, prepare(nil, "SELECT * FROM mine"), true, "ks.mine"},
		{"prepare in a keyspace", wire.OpPrepare, prepare([]byte("third"), "UPDATE mine SET a = 1"), true, ".third third.mine"},
		{"execute", wire.OpExecute, execute(wire.V5, "mine456789abcdef"), true, ""},
		{"execute another's", wire.OpExecute, execute(wire.V5, "0123456789abcdef"), false, ""},
		{"batch of text", wire.OpBatch, batch(wire.V5,
			wire.BatchStatement{Text: []byte("INSERT INTO theirs (a) VALUES (1)")},
			wire.BatchStatement{Text: []byte("INSERT INTO mine (a) VALUES (1)")}), true, "ks.theirs ks.mine"},
		{"batch of ids", wire.OpBatch, batch(wire.V5,
			wire.BatchStatement{Prepared: true, ID: []byte("0123456789abcdef")},
			wire.BatchStatement{Prepared: true, ID: []byte("mine456789abcdef")}), true, ""},
		{"batch of others'", wire.OpBatch, batch(wire.V5,
			wire.BatchStatement{Prepared: true, ID: []byte("0123456789abcdef")},
			wire.BatchStatement{Text: []byte("INSERT INTO theirs (a) VALUES (1)")}), false, "ks.theirs"},
		{"BEGIN BATCH", wire.OpQuery, query(wire.V5,
			"BEGIN BATCH INSERT INTO theirs (a) VALUES (1); DELETE FROM x.mine WHERE a = 1; APPLY BATCH"), true, "ks.theirs x.mine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p.asked = nil
			before := len(m.requests())
			_, body := c.ask(test.op, test.body)
			if got := string(body) == string(answer.Body); got != test.mine {
				t.Errorf("served by the router: %v", got)
			}
			if got := strings.Join(p.asked, " "); got != test.asked {
				t.Errorf("the router was asked about %q, want %q", got, test.asked)
			}
			if sent := len(m.requests()) - before; sent == 0 != test.mine {
				t.Errorf("%d requests were forwarded", sent)
			}
		})
	}
}

func TestRouterRequests(t *testing.T) {
	p := &picky{}
	m := &memory{}
	d, addr := door(t, m, cqldoor.Options{Router: p})
	c := connect(t, addr, wire.V4)
	mine := query(wire.V4, "SELECT * FROM mine")
	t.Run("Pass", func(t *testing.T) {
		p.serve = func(_ context.Context, r *cqldoor.Request) {
			r.Scratch = append(r.Scratch, query(wire.V4, "SELECT 1")...)
			r.Pass(wire.Message{Op: wire.OpQuery, Body: r.Scratch})
		}
		if h, body := c.ask(wire.OpQuery, mine); h.Op != wire.OpResult || !bytes.Equal(body, void.Body) {
			t.Errorf("got %s %q", h.Op, body)
		}
		sent := m.requests()
		if got := sent[len(sent)-1].Body; !bytes.Equal(got, query(wire.V4, "SELECT 1")) {
			t.Errorf("sent %q", got)
		}
	})
	t.Run("Send and reply later", func(t *testing.T) {
		p.serve = func(ctx context.Context, r *cqldoor.Request) {
			r.Link.Send(ctx, wire.Message{Op: wire.OpQuery, Body: query(wire.V4, "SELECT 2")}, func(resp wire.Message) {
				r.Reply(wire.Message{Op: resp.Op, Flags: wire.FlagWarning, Body: append(wire.AppendStringList(nil, []string{"hm"}), resp.Body...)})
			})
		}
		if h, body := c.ask(wire.OpQuery, mine); h.Flags != wire.FlagWarning || !bytes.HasSuffix(body, void.Body) {
			t.Errorf("got %+v %q", h, body)
		}
	})
	t.Run("Go keeps the body", func(t *testing.T) {
		// A door with one place: it is free a moment after the answer.
		_, addr := door(t, m, cqldoor.Options{Router: p, MaxTasks: 1})
		c := connect(t, addr, wire.V4)
		gate := make(chan struct{})
		p.serve = func(_ context.Context, r *cqldoor.Request) {
			r.Go(func(context.Context) {
				<-gate
				r.Reply(wire.Message{Op: wire.OpResult, Body: r.Body})
			})
		}
		c.send(5, wire.OpQuery, 0, mine)
		// What is read next must not overwrite it; and there is no place for a second.
		c.send(6, wire.OpQuery, 0, query(wire.V4, "SELECT * FROM mine_too_and_a_longer_text"))
		h, body := c.next()
		if h.Stream != 6 {
			t.Fatalf("stream %d", h.Stream)
		}
		asError(t, wire.V4, h, body, wire.CodeOverloaded)
		close(gate)
		if h, body := c.next(); h.Stream != 5 || !bytes.Equal(body, mine) {
			t.Errorf("got %+v %q", h, body)
		}
	})
	t.Run("panics", func(t *testing.T) {
		for name, serve := range map[string]func(context.Context, *cqldoor.Request){
			"at once":          func(context.Context, *cqldoor.Request) { panic("at once") },
			"in a goroutine":   func(_ context.Context, r *cqldoor.Request) { r.Go(func(context.Context) { panic("in a goroutine") }) },
			"after the answer": func(_ context.Context, r *cqldoor.Request) { r.Error(errPanic); panic("after the answer") },
			"after Go's answer": func(_ context.Context, r *cqldoor.Request) {
				r.Go(func(context.Context) { r.Error(errPanic); panic("after") })
			},
		} {
			t.Run(name, func(t *testing.T) {
				before := d.Stats().Panics
				p.serve = serve
				c.wantError(wire.OpQuery, mine, wire.CodeServer)
				eventually(t, "the panic is counted", func() bool { return d.Stats().Panics == before+1 })
				// One answer, and the connection goes on.
				if h, _ := c.ask(wire.OpQuery, query(wire.V4, "SELECT 1")); h.Op != wire.OpResult {
					t.Errorf("then: %s", h.Op)
				}
			})
		}
	})
	eventually(t, "nothing is in flight", func() bool { return d.Stats().InFlight == 0 })
}

var errPanic = wire.Errorf(wire.CodeServer, "first")

func TestRouterContextEndsWithTheClient(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	p := &picky{serve: func(conn context.Context, r *cqldoor.Request) {
		r.Go(func(ctx context.Context) {
			close(begun)
			<-conn.Done()
			<-ctx.Done()
			close(ended)
			r.Error(ctx.Err())
		})
	}}
	_, addr := door(t, &memory{}, cqldoor.Options{Router: p})
	c := connect(t, addr, wire.V5)
	c.send(1, wire.OpQuery, 0, query(wire.V5, "SELECT * FROM mine"))
	<-begun
	c.Close()
	<-ended
}

func TestRouterTranslatesEvents(t *testing.T) {
	m := &memory{}
	_, addr := door(t, m, cqldoor.Options{Router: &picky{}})
	eventually(t, "the door listens for events", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.events != nil
	})
	c := connect(t, addr, wire.V5)
	c.ask(wire.OpRegister, wire.AppendRegister(nil, []string{wire.EventSchema}))
	m.events(nil)
	m.events(wire.AppendEvent(nil, &wire.Event{Type: wire.EventSchema, Schema: wire.SchemaChange{
		Change: "CREATED", Target: wire.TargetKeyspace, Keyspace: "ks"}}))
	for range 2 {
		if h, _ := c.next(); h.Op != wire.OpEvent {
			t.Errorf("got %s", h.Op)
		}
	}
}

// The way of a forwarded request allocates nothing, whatever kind it is of.
func TestForwardingDoesNotAllocate(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		for _, kind := range []struct {
			name string
			op   wire.Op
			body []byte
		}{
			{"QUERY", wire.OpQuery, query(v, "SELECT a FROM ks.theirs WHERE b = 1")},
			{"EXECUTE", wire.OpExecute, execute(v, "0123456789abcdef")},
			{"BATCH", wire.OpBatch, batch(v, wire.BatchStatement{Text: []byte("INSERT INTO theirs (a) VALUES (1)")},
				wire.BatchStatement{Prepared: true, ID: []byte("0123456789abcdef")})},
		} {
			t.Run(fmt.Sprintf("v%d %s", v, kind.name), func(t *testing.T) {
				if n := cqldoor.AllocsPerForward(t, v, kind.op, kind.body); n > 0 {
					t.Errorf("%v allocations per request", n)
				}
			})
		}
	}
}
