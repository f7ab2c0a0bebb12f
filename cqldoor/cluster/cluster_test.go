// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

func TestVersionIsTheNewestThatBothSpeak(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		t.Run(v.String(), func(t *testing.T) {
			s := newServer(t)
			s.maxVersion = v
			cl := connectTo(t, Options{}, s)
			if got, err := cl.MaxVersion(t.Context()); got != v || err != nil {
				t.Fatalf("got %v %v", got, err)
			}
			for _, ask4 := range []wire.Version{wire.V4, wire.V5} {
				_, err := cl.Open(t.Context(), store.LinkOptions{Version: ask4})
				if (err == nil) != (ask4 <= v) {
					t.Errorf("open with %s: %v", ask4, err)
				}
			}
			if resp := ask(t, open(t, cl, store.LinkOptions{}), wire.OpQuery, query(v, "SELECT 1")); resp.Op != wire.OpResult {
				t.Errorf("got %s", resp.Op)
			}
		})
	}
}

// TestPoolsAreKeyedByIdentity checks law 7: pooling gives no client another's rights.
func TestPoolsAreKeyedByIdentity(t *testing.T) {
	s := newServer(t)
	s.passwords = map[string]string{"door": "0", "ada": "1", "bob": "2"}
	cl := connectTo(t, Options{Username: "door", Password: "0", ConnsPerHost: 1}, s)
	if class, err := cl.Authenticator(t.Context()); class != "PasswordAuthenticator" || err != nil {
		t.Fatalf("%q %v", class, err)
	}
	whoAmI := func(l store.Link) string { return string(ask(t, l, wire.OpQuery, query(wire.V5, "WHO")).Body) }
	s.handle = func(ss *session, h wire.Header, _ []byte) { ss.reply(h, wire.OpResult, []byte(ss.user+"/"+ss.use)) }
	for _, o := range []store.LinkOptions{
		{Username: "ada", Password: "1"}, {Username: "ada", Password: "1", Keyspace: "ks"}, {Username: "bob", Password: "2"}, {Own: true},
	} {
		want := o.Username
		if o.Own {
			want = "door"
		}
		want += "/" + o.Keyspace
		for range 3 { // the same connection serves all three
			if got := whoAmI(open(t, cl, o)); got != want {
				t.Errorf("%+v speaks as %s", o, got)
			}
		}
	}
	eventually(t, "there is a connection for each, and one for control", func() bool {
		return strings.Join(s.dialed(), " ") == "ada/ ada/ks bob/ door/ door/"
	})
	t.Run("fresh", func(t *testing.T) {
		before := len(s.dialed())
		open(t, cl, store.LinkOptions{Username: "ada", Password: "1", Fresh: true})
		eventually(t, "a connection is made", func() bool { return len(s.dialed()) == before+1 })
		s.mu.Lock()
		s.passwords["ada"] = "changed"
		s.mu.Unlock()
		refused(t, cl, store.LinkOptions{Username: "ada", Password: "1", Fresh: true}, wire.CodeBadCredentials)
	})
	refused(t, cl, store.LinkOptions{Username: "bob", Password: "1"}, wire.CodeBadCredentials)
	refused(t, cl, store.LinkOptions{Username: "bob", Password: "2", Keyspace: "nope"}, wire.CodeInvalid)
	// A client without credentials does not get the door's.
	refused(t, cl, store.LinkOptions{}, wire.CodeBadCredentials)
}

func refused(t *testing.T, cl *Cluster, o store.LinkOptions, code wire.Code) {
	t.Helper()
	o.Version = cl.version
	_, err := cl.Open(t.Context(), o)
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("open %+v: %v, want %v", o, err, code)
	}
}

// TestLostConnection checks that a request lost with its connection gets the error that is true for
// it.
func TestLostConnection(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		t.Run(v.String(), func(t *testing.T) {
			s := newServer(t)
			s.maxVersion = v
			ids := map[string]string{"SELECT": "0123456789abcdef", "INSERT": "fedcba9876543210"}
			arrived := make(chan struct{}, 20)
			s.handle = func(ss *session, h wire.Header, body []byte) {
				if h.Op == wire.OpPrepare {
					text, _ := wire.QueryText(body)
					var none wire.Metadata
					none.Flags = wire.MetadataNone
					p := wire.Prepared{ID: []byte(ids[string(text[:6])]), MetadataID: []byte("0123456789abcdef"), Variables: none, Result: none}
					ss.reply(h, wire.OpResult, wire.AppendPrepared(nil, ss.version, &p))
					return
				}
				arrived <- struct{}{} // the server never answers
			}
			cl := connectTo(t, Options{ConnsPerHost: 1}, s)
			l := open(t, cl, store.LinkOptions{})
			for _, text := range []string{"SELECT a FROM b", "INSERT INTO a (b) VALUES (1)"} {
				if resp := ask(t, l, wire.OpPrepare, wire.AppendPrepare(nil, v, &wire.Prepare{Text: []byte(text)})); resp.Op != wire.OpResult {
					t.Fatalf("PREPARE: %s", resp.Op)
				}
			}
			b := wire.Batch{Count: 0}
			for _, test := range []struct {
				name string
				op   wire.Op
				body []byte
				code wire.Code
			}{
				{"a read", wire.OpQuery, query(v, "SELECT * FROM a"), wire.CodeOverloaded},
				{"a read after comments", wire.OpQuery, query(v, "-- x\n/* y */ // z\n select * FROM a"), wire.CodeOverloaded},
				{"a write", wire.OpQuery, query(v, "UPDATE a SET b = b + 1 WHERE c = 1"), wire.CodeWriteTimeout},
				{"a prepared read", wire.OpExecute, execute(v, ids["SELECT"]), wire.CodeOverloaded},
				{"a prepared write", wire.OpExecute, execute(v, ids["INSERT"]), wire.CodeWriteTimeout},
				{"an unknown statement", wire.OpExecute, execute(v, "an unknown id..."), wire.CodeWriteTimeout},
				{"a batch", wire.OpBatch, wire.AppendBatch(nil, v, &b), wire.CodeWriteTimeout},
			} {
				t.Run(test.name, func(t *testing.T) {
					// The pool may still take one of the closed connections for alive. The request
					// that gets an answer here used another.
					eventually(t, "there is a connection", func() bool {
						return ask(t, l, wire.OpOptions, nil).Op == wire.OpSupported
					})
					hungUp := make(chan struct{})
					go func() {
						<-arrived
						s.hangUp()
						close(hungUp)
					}()
					e := wantError(t, v, ask(t, l, test.op, test.body), test.code)
					if e.Code == wire.CodeWriteTimeout && (e.Received != 0 || e.WriteType == wire.WriteBatchLog || e.WriteType == wire.WriteCAS) {
						t.Errorf("a driver might repeat it: %+v", e)
					}
					<-hungUp
				})
			}
		})
	}
}

// TestPassedOver checks that the pool does not choose a connection that has ended or has too much
// to write, if there is another.
func TestPassedOver(t *testing.T) {
	a, b := newServer(t), newServer(t)
	a.peers, b.peers = []string{b.addr}, []string{a.addr}
	cl := connectTo(t, Options{ConnsPerHost: 2}, a)
	l := open(t, cl, store.LinkOptions{})
	p := l.(*link).p
	eventually(t, "all connections are there", func() bool {
		hosts := p.live.Load().hosts
		return len(hosts) == 2 && len(hosts[0]) == 2 && len(hosts[1]) == 2
	})
	hosts := p.live.Load().hosts
	left := []*conn{hosts[0][0], hosts[0][1], hosts[1][0], hosts[1][1]}
	for ; len(left) > 0; left = left[1:] {
		for range 20 {
			if resp := ask(t, l, wire.OpQuery, query(wire.V5, "SELECT 1")); resp.Op != wire.OpResult {
				t.Fatalf("%d connections are left: got %s %q", len(left), resp.Op, resp.Body)
			}
		}
		left[0].ended.Store(true)
	}
	if p.connected() {
		t.Error("connected by connections that have ended")
	}
	wantError(t, wire.V5, ask(t, l, wire.OpQuery, query(wire.V5, "SELECT 1")), wire.CodeOverloaded)
}

func TestNotSent(t *testing.T) {
	s := newServer(t)
	cl := connectTo(t, Options{}, s)
	l := open(t, cl, store.LinkOptions{})
	s.stop()
	eventually(t, "the connections are gone", func() bool { return !l.(*link).p.connected() })
	params := wire.Params{Consistency: wire.One}
	for op, body := range map[wire.Op][]byte{
		wire.OpQuery:   query(wire.V5, "INSERT INTO a (b) VALUES (1)"),
		wire.OpExecute: wire.AppendExecute(nil, wire.V5, &wire.Execute{ID: []byte("id"), Params: params}),
		wire.OpBatch:   wire.AppendBatch(nil, wire.V5, &wire.Batch{Params: params}),
	} {
		wantError(t, wire.V5, ask(t, l, op, body), wire.CodeOverloaded)
	}
	refused(t, cl, store.LinkOptions{Keyspace: "other"}, wire.CodeOverloaded)
	t.Run("and back", func(t *testing.T) {
		s.listen(s.addr)
		eventually(t, "the link works again", func() bool {
			return ask(t, l, wire.OpQuery, query(wire.V5, "SELECT 1")).Op == wire.OpResult
		})
	})
}

// TestUnpreparedIsCured checks that a statement prepared on one host is prepared on another when
// that host is asked to execute it.
func TestUnpreparedIsCured(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		t.Run(v.String(), func(t *testing.T) {
			s := newServer(t)
			s.maxVersion = v
			var executed, prepared atomic.Int32
			s.handle = func(ss *session, h wire.Header, body []byte) {
				var none wire.Metadata
				none.Flags = wire.MetadataNone
				ss.mu.Lock()
				defer ss.mu.Unlock()
				switch h.Op {
				case wire.OpPrepare:
					prepared.Add(1)
					p, _ := wire.ParsePrepare(ss.version, body)
					keyspace := ss.use
					if p.Keyspace != nil {
						keyspace = string(p.Keyspace)
					}
					id := md5.Sum([]byte(keyspace + string(p.Text)))
					ss.preparedTexts[string(id[:])] = string(p.Text)
					ss.reply(h, wire.OpResult, wire.AppendPrepared(nil, ss.version, &wire.Prepared{ID: id[:], MetadataID: id[:], Variables: none, Result: none}))
				case wire.OpExecute:
					e, _ := wire.ParseExecute(ss.version, body)
					if ss.preparedTexts[string(e.ID)] == "" {
						ss.fail(h, &wire.Error{Code: wire.CodeUnprepared, Message: "unknown", ID: e.ID})
						return
					}
					executed.Add(1)
					ss.reply(h, wire.OpResult, body)
				case wire.OpBatch:
					b, _ := wire.ParseBatch(ss.version, body)
					for it := b.Iter(); it.Next(); {
						if ss.preparedTexts[string(it.ID)] == "" {
							ss.fail(h, &wire.Error{Code: wire.CodeUnprepared, Message: "unknown", ID: it.ID})
							return
						}
					}
					executed.Add(1)
					ss.reply(h, wire.OpResult, body)
				}
			}
			cl := connectTo(t, Options{ConnsPerHost: 3}, s)
			l := open(t, cl, store.LinkOptions{Keyspace: "ks"})
			eventually(t, "all connections are there", func() bool { hosts := l.(*link).p.live.Load().hosts; return len(hosts) == 1 && len(hosts[0]) == 3 })
			prepare := func(text string) []byte {
				resp := ask(t, l, wire.OpPrepare, wire.AppendPrepare(nil, v, &wire.Prepare{Text: []byte(text)}))
				id, ok := preparedID(resp)
				if !ok {
					t.Fatalf("PREPARE: %s", resp.Op)
				}
				return id
			}
			id, second := prepare("SELECT 1"), prepare("SELECT 2")
			conns := (l.(*link).p.live.Load().hosts)[0]
			for i := range 12 { // on all connections
				busy := func(n int32) {
					for j, c := range conns {
						if j != i%3 {
							c.inFlight.Add(n)
						}
					}
				}
				busy(spill)
				body := execute(v, string(id))
				if resp := ask(t, l, wire.OpExecute, body); resp.Op != wire.OpResult || string(resp.Body) != string(body) {
					t.Fatalf("EXECUTE: %s %q", resp.Op, resp.Body)
				}
				busy(-spill)
			}
			if executed.Load() != 12 || prepared.Load() != 4 {
				t.Errorf("executed %d times, prepared %d times", executed.Load(), prepared.Load())
			}
			b := wire.Batch{Count: 2}
			for _, id := range [][]byte{id, second} {
				b.Raw = wire.AppendBatchStatement(b.Raw, &wire.BatchStatement{Prepared: true, ID: id})
			}
			for range 3 {
				if resp := ask(t, l, wire.OpBatch, wire.AppendBatch(nil, v, &b)); resp.Op != wire.OpResult {
					t.Fatalf("BATCH: %s %q", resp.Op, resp.Body)
				}
			}
			// On a link with another keyspace, only a v5 PREPARE can name the statement's keyspace.
			other := open(t, cl, store.LinkOptions{Keyspace: "other"})
			resp := ask(t, other, wire.OpExecute, execute(v, string(id)))
			if (resp.Op == wire.OpResult) != (v == wire.V5) {
				t.Errorf("in another keyspace: %s", resp.Op)
			}
			e := wantError(t, v, ask(t, l, wire.OpExecute, execute(v, "nobody knows it.")), wire.CodeUnprepared)
			if string(e.ID) != "nobody knows it." {
				t.Errorf("id %q", e.ID)
			}
		})
	}
}

func TestHostsAreFoundAndReplaced(t *testing.T) {
	// Two servers have their own addresses, and the first knows the second.
	a, b := newServer(t), newServer(t)
	name := func(n string) func(ss *session, h wire.Header, _ []byte) {
		return func(ss *session, h wire.Header, _ []byte) { ss.reply(h, wire.OpResult, []byte(n)) }
	}
	a.handle, b.handle = name("a"), name("b")
	a.peers, b.peers = []string{b.addr}, []string{a.addr}
	cl := connectTo(t, Options{ConnsPerHost: 1}, a)
	if got := cl.Hosts(); len(got) != 2 {
		t.Fatalf("hosts: %v", got)
	}
	l := open(t, cl, store.LinkOptions{})
	answers := func() map[string]int {
		m := make(map[string]int)
		for range 20 {
			if resp := ask(t, l, wire.OpQuery, query(wire.V5, "SELECT 1")); resp.Op == wire.OpResult {
				m[string(resp.Body)]++
			} else {
				m["error"]++
			}
		}
		return m
	}
	eventually(t, "both answer", func() bool { return len(answers()) == 2 })
	t.Run("one goes down", func(t *testing.T) {
		a.stop() // closes the control connection, too
		eventually(t, "the other does it all", func() bool { return answers()["b"] == 20 })
	})
	t.Run("and comes back", func(t *testing.T) {
		a.listen(a.addr)
		eventually(t, "both answer", func() bool { m := answers(); return m["a"] > 0 && m["b"] > 0 })
	})
	t.Run("one leaves", func(t *testing.T) {
		eventually(t, "the control connection is back", func() bool {
			a.mu.Lock()
			a.peers = nil
			a.mu.Unlock()
			b.mu.Lock()
			b.peers = nil
			b.mu.Unlock()
			a.event(wire.Event{Type: wire.EventTopology, Change: "REMOVED_NODE", Addr: netip.MustParseAddrPort("127.0.0.1:9042")})
			b.event(wire.Event{Type: wire.EventTopology, Change: "REMOVED_NODE", Addr: netip.MustParseAddrPort("127.0.0.1:9042")})
			return len(cl.Hosts()) == 1
		})
		eventually(t, "one answers", func() bool { return len(answers()) == 1 && answers()["error"] == 0 })
	})
}

// TestRequestsOfLeavingHost checks that a host which leaves the cluster still answers what it was
// sent, and gets nothing more.
func TestRequestsOfLeavingHost(t *testing.T) {
	a, b := newServer(t), newServer(t)
	a.peers, b.peers = []string{b.addr}, []string{a.addr}
	arrived, release := make(chan struct{}), make(chan struct{})
	b.handle = func(ss *session, h wire.Header, body []byte) {
		if strings.Contains(string(body), "UPDATE") {
			close(arrived)
			go func() {
				<-release
				ss.reply(h, wire.OpResult, []byte("b"))
			}()
			return
		}
		ss.reply(h, wire.OpResult, []byte("b"))
	}
	cl := connectTo(t, Options{ConnsPerHost: 1}, a)
	l := open(t, cl, store.LinkOptions{})
	p := l.(*link).p
	var c *conn
	eventually(t, "there is a connection to the second host", func() bool {
		h := p.live.Load().of[cl.hostAt(b.addr)]
		c = h.pick()
		return c != nil
	})
	got := make(chan wire.Message, 1)
	if !c.forward(wire.Message{Op: wire.OpQuery, Body: query(wire.V5, "UPDATE a SET b = 1 WHERE c = 1")}, &replier{func(m wire.Message) { got <- m }}, 0) {
		t.Fatal("the connection takes nothing")
	}
	c.t.Flush()
	<-arrived
	a.mu.Lock()
	a.peers = nil
	a.mu.Unlock()
	a.event(wire.Event{Type: wire.EventTopology, Change: "REMOVED_NODE", Addr: netip.MustParseAddrPort(b.addr)})
	eventually(t, "one host is left", func() bool { return len(cl.Hosts()) == 1 })
	for range 10 {
		cl.beat()
		if resp := ask(t, l, wire.OpQuery, query(wire.V5, "SELECT 1")); resp.Op != wire.OpResult || string(resp.Body) == "b" {
			t.Errorf("the host that has left gets requests: %s %q", resp.Op, resp.Body)
		}
	}
	close(release)
	if m := <-got; m.Op != wire.OpResult {
		t.Errorf("a write that the host carried out was answered with %s", m.Op)
	}
	eventually(t, "the connection is closed", func() bool { cl.beat(); return b.count() == 0 })
}

func TestEvents(t *testing.T) {
	s := newServer(t)
	cl := connectTo(t, Options{}, s)
	got := make(chan []byte, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- cl.Events(ctx, func(body []byte) { got <- append([]byte(nil), body...) }) }()
	eventually(t, "it is subscribed", func() bool {
		cl.eventMu.Lock()
		defer cl.eventMu.Unlock()
		return len(cl.subs) == 1
	})
	e := wire.Event{Type: wire.EventSchema, Schema: wire.SchemaChange{Change: "DROPPED", Target: wire.TargetKeyspace, Keyspace: "ks"}}
	s.event(e)
	if body := <-got; string(body) != string(wire.AppendEvent(nil, &e)) {
		t.Errorf("got %q", body)
	}
	s.hangUp()
	if body := <-got; len(body) != 0 {
		t.Errorf("events were missed, and %q says that", body)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func TestRequestTimeout(t *testing.T) {
	s := newServer(t)
	late := make(chan struct{}) // closed when the server answers the first request
	answer := sync.OnceFunc(func() { close(late) })
	t.Cleanup(answer) // ends the server's goroutine before the server
	var first, latest atomic.Int32
	first.Store(-1)
	s.handle = func(ss *session, h wire.Header, body []byte) {
		if first.CompareAndSwap(-1, int32(h.Stream)) {
			ss.srv.wg.Go(func() {
				<-late
				ss.reply(h, wire.OpResult, []byte("too late"))
			})
			return
		}
		latest.Store(int32(h.Stream))
		ss.reply(h, wire.OpResult, body)
	}
	cl := connectTo(t, Options{RequestTimeout: time.Second, ConnsPerHost: 1}, s)
	l := open(t, cl, store.LinkOptions{})
	got := make(chan wire.Message, 1)
	l.Send(t.Context(), wire.Message{Op: wire.OpQuery, Body: query(wire.V5, "DELETE FROM a WHERE b = 1")}, func(resp wire.Message) {
		resp.Body = slices.Clone(resp.Body)
		got <- resp
	})
	eventually(t, "the request has come", func() bool { return first.Load() >= 0 })
	if cl.beat(); len(got) > 0 {
		t.Error("the request was given up before its time")
	}
	cl.beat()
	e := wantError(t, wire.V5, <-got, wire.CodeWriteTimeout)
	if !strings.Contains(e.Message, "time") {
		t.Errorf("message %q", e.Message)
	}
	n := 0
	other := func() int32 {
		t.Helper()
		n++
		body := query(wire.V5, fmt.Sprintf("SELECT %d", n))
		if resp := ask(t, l, wire.OpQuery, body); string(resp.Body) != string(body) {
			t.Fatalf("another's response: %s %q", resp.Op, resp.Body)
		}
		return latest.Load()
	}
	// The connection does not use the stream again before the response has come.
	for range 200 {
		if stream := other(); stream == first.Load() {
			t.Fatalf("stream %d is used while it may still be answered", stream)
		}
	}
	answer()
	c := l.(*link).p.pick()
	eventually(t, "the stream is free again", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.orphans == 0 && slices.Contains(c.free, int16(first.Load()))
	})
	other()
}

func TestSilentHost(t *testing.T) {
	s := newServer(t)
	deaf := make(chan struct{})
	s.handle = func(_ *session, _ wire.Header, body []byte) {
		if strings.Contains(string(body), "deaf") {
			<-deaf // the server reads nothing more
		}
	}
	cl := connectTo(t, Options{ConnsPerHost: 1}, s)
	l := open(t, cl, store.LinkOptions{})
	t.Cleanup(func() { close(deaf) })
	c := l.(*link).p.pick()
	got := make(chan wire.Message, 2)
	send := func(text string) {
		l.Send(t.Context(), wire.Message{Op: wire.OpQuery, Body: query(wire.V5, text)}, func(resp wire.Message) { got <- resp })
	}
	// While the host answers OPTIONS, it is alive, although no response comes.
	const heartbeat, timeout = 1000, 1_000_000
	send("SELECT 1")
	for range 5 {
		for c.tick.Load()-c.heard.Load() < heartbeat {
			c.beat(timeout, heartbeat)
		}
		eventually(t, "there is a sign of life", func() bool { return c.tick.Load()-c.heard.Load() < heartbeat/2 })
	}
	if len(got) > 0 || c.ended.Load() {
		t.Fatal("the connection was given up")
	}
	send("SELECT deaf")
	for range 2*heartbeat + 2 {
		c.beat(timeout, heartbeat)
	}
	for range 2 {
		if resp := <-got; resp.Op != wire.OpError {
			t.Errorf("got %s", resp.Op)
		}
	}
}

func TestIdlePoolsAreClosed(t *testing.T) {
	s := newServer(t)
	cl := connectTo(t, Options{IdlePool: time.Second, ConnsPerHost: 1}, s)
	l := open(t, cl, store.LinkOptions{Keyspace: "ks"})
	if n := s.count(); n != 2 {
		t.Fatalf("%d connections", n)
	}
	l.Close()
	l.Close() // a second Close does nothing
	for range 2 {
		cl.beat()
	}
	eventually(t, "only the control connection is left", func() bool { return s.count() == 1 })
	if resp := ask(t, open(t, cl, store.LinkOptions{Keyspace: "ks"}), wire.OpQuery, query(wire.V5, "SELECT 1")); resp.Op != wire.OpResult {
		t.Errorf("then: %s", resp.Op)
	}
}

// TestSharedConnectionsKeepTheirKeyspace checks that the pool closes a shared connection on which a
// USE took effect.
func TestSharedConnectionsKeepTheirKeyspace(t *testing.T) {
	s := newServer(t)
	s.handle = func(ss *session, h wire.Header, body []byte) {
		ss.reply(h, wire.OpResult, wire.AppendString(wire.AppendInt(nil, int32(wire.ResultSetKeyspace)), "other"))
	}
	cl := connectTo(t, Options{ConnsPerHost: 1}, s)
	l := open(t, cl, store.LinkOptions{})
	c := l.(*link).p.pick()
	ask(t, l, wire.OpExecute, execute(wire.V5, "prepared USE...."))
	<-c.done
	eventually(t, "it is replaced", func() bool { d := l.(*link).p.pick(); return d != nil && d != c })
}

func TestForwardingDoesNotAllocate(t *testing.T) {
	s := newServer(t)
	cl := connectTo(t, Options{ConnsPerHost: 1}, s)
	l := open(t, cl, store.LinkOptions{})
	to := make(counter, 100)
	body := execute(wire.V5, "0123456789abcdef")
	round := func() {
		for i := range 50 {
			l.Forward(t.Context(), wire.Message{Op: wire.OpExecute, Body: body}, to, uint32(i))
		}
		l.Flush()
		for range 50 {
			<-to
		}
	}
	round()
	// The server of this test allocates, too: about 10 times for each response.
	if n := allocs.PerRun(200, round) / 50; n > 12 {
		t.Errorf("%.1f allocations per request", n)
	}
	// This measures only the link, up to the connection's buffer.
	c := l.(*link).p.pick()
	if n := allocs.PerRun(1000, func() {
		if !c.forward(wire.Message{Op: wire.OpExecute, Body: body}, to, 0) {
			t.Fatal("not forwarded")
		}
		c.t.Flush()
		<-to
	}); n > 12 {
		t.Errorf("%.1f allocations", n)
	}
}

type counter chan struct{}

func (c counter) Receive(uint32, wire.Message) { c <- struct{}{} }
func (c counter) Flush()                       {}

func TestConnectSaysWhatIsWrong(t *testing.T) {
	for _, o := range []Options{{}, {Contacts: []string{"a:b:c"}}, {Contacts: []string{"a:0"}}, {Contacts: []string{"a"}, Password: "x"}, {Contacts: []string{"a"}, ConnsPerHost: -1}} {
		if _, err := Connect(t.Context(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	s := newServer(t)
	s.passwords = map[string]string{"door": "0"}
	_, err := Connect(t.Context(), Options{Contacts: []string{s.addr}})
	if err == nil || !strings.Contains(err.Error(), "wants credentials") {
		t.Errorf("got %v", err)
	}
	_, err = Connect(t.Context(), Options{Contacts: []string{s.addr}, Username: "door", Password: "1"})
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != wire.CodeBadCredentials {
		t.Errorf("got %v", err)
	}
}

// TestHostThatDoesNotRead checks that a host that takes no more bytes gets no more requests. That
// limits memory, and the answer tells drivers to use another host.
func TestHostThatDoesNotRead(t *testing.T) {
	s := newServer(t)
	gate := make(chan struct{})
	s.handle = func(ss *session, h wire.Header, body []byte) {
		<-gate
		ss.reply(h, wire.OpResult, nil)
	}
	cl := connectTo(t, Options{ConnsPerHost: 1}, s)
	l := open(t, cl, store.LinkOptions{})
	body := query(wire.V5, "SELECT "+strings.Repeat("x", 1<<20))
	got := make(chan wire.Op, 1000)
	sent := 0
	for ; len(got) == 0; sent++ {
		if sent == 200 {
			t.Fatal("all were taken")
		}
		l.Send(t.Context(), wire.Message{Op: wire.OpQuery, Body: body}, func(resp wire.Message) { got <- resp.Op })
	}
	if op := <-got; op != wire.OpError {
		t.Errorf("got %s", op)
	}
	close(gate)
	for range sent - 1 {
		if op := <-got; op != wire.OpResult {
			t.Fatalf("got %s", op)
		}
	}
	if resp := ask(t, l, wire.OpQuery, query(wire.V5, "SELECT 1")); resp.Op != wire.OpResult {
		t.Errorf("then: %s", resp.Op)
	}
}

func TestPreparedIsBounded(t *testing.T) {
	p := newPrepared(10_000)
	id := func(i int) []byte { return []byte(fmt.Sprintf("%016d", i)) }
	for i := range 1000 {
		p.put(id(i), statement{text: strings.Repeat("x", 100)})
		p.get(id(0)) // keeps the statement in use
	}
	if p.bytes > 10_000 || len(p.byID) != p.order.Len() || len(p.byID) < 20 {
		t.Errorf("%d bytes, %d statements", p.bytes, len(p.byID))
	}
	for _, i := range []int{0, 999} {
		if _, ok := p.get(id(i)); !ok {
			t.Errorf("%d was forgotten", i)
		}
	}
}
