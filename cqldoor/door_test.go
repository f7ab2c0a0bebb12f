// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

func TestHandshake(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		for _, compression := range []string{"", "lz4"} {
			t.Run(fmt.Sprintf("v%d %s", v, compression), func(t *testing.T) {
				m := &memory{}
				_, addr := door(t, m, cqldoor.Options{})
				c := dial(t, addr, v)
				h, body := c.ask(wire.OpOptions, nil)
				if h.Op != wire.OpSupported || h.Version != v {
					t.Fatalf("OPTIONS: %+v", h)
				}
				s, err := wire.ParseSupported(body)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(s[wire.OptionCQLVersion], s[wire.OptionCompression], s[wire.OptionProtocolVersions]); got != "[3.4.5] [lz4] [4/v4 5/v5]" {
					t.Errorf("SUPPORTED: %s", got)
				}
				if h, _ := c.ask(wire.OpStartup, startup(compression)); h.Op != wire.OpReady {
					t.Fatalf("STARTUP: %s", h.Op)
				}
				z, _ := wire.ParseCompression(compression)
				c.Established(v, z)
				long := strings.Repeat("a long statement ", 20_000) // more than a segment
				body = query(v, long)
				if h, got := c.ask(wire.OpQuery, body); h.Op != wire.OpResult || h.Version != v || !bytes.Equal(got, void.Body) {
					t.Fatalf("QUERY: %+v", h)
				}
				if sent := m.requests(); len(sent) != 1 || !bytes.Equal(sent[0].Body, body) {
					t.Error("the body did not arrive unchanged")
				}
			})
		}
	}
}

func TestHandshakeRefusals(t *testing.T) {
	_, addr := door(t, &memory{}, cqldoor.Options{})
	t.Run("requests before STARTUP", func(t *testing.T) {
		c := dial(t, addr, wire.V5)
		c.wantError(wire.OpQuery, query(wire.V5, "SELECT 1"), wire.CodeProtocol)
		c.wantClosed()
	})
	t.Run("no CQL_VERSION", func(t *testing.T) {
		dial(t, addr, wire.V4).wantError(wire.OpStartup, wire.AppendStartup(nil, nil), wire.CodeProtocol)
	})
	t.Run("snappy", func(t *testing.T) {
		dial(t, addr, wire.V4).wantError(wire.OpStartup, startup("snappy"), wire.CodeProtocol)
	})
	t.Run("STARTUP twice", func(t *testing.T) {
		c := connect(t, addr, wire.V5)
		c.wantError(wire.OpStartup, startup(""), wire.CodeProtocol)
		if h, _ := c.ask(wire.OpQuery, query(wire.V5, "SELECT 1")); h.Op != wire.OpResult {
			t.Errorf("the connection does not go on: %s", h.Op)
		}
	})
}

// Drivers find the newest version that both sides speak by the error to one that
// is not spoken.
func TestVersionNegotiation(t *testing.T) {
	for _, newest := range []wire.Version{wire.V4, wire.V5} {
		_, addr := door(t, &memory{maxVersion: newest}, cqldoor.Options{})
		for _, v := range []byte{0x01, 0x02, 0x03, 0x06, 0x41, 0x42} {
			t.Run(fmt.Sprintf("%d for %d", v, newest), func(t *testing.T) {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(patience))
				body := startup("")
				frame := binary.BigEndian.AppendUint32([]byte{v, 0, 0, 7, 1}, uint32(len(body)))
				nc.Write(append(frame, body...))
				var buf bytes.Buffer
				if _, err := buf.ReadFrom(nc); err != nil && buf.Len() == 0 {
					t.Fatal(err)
				}
				got := buf.Bytes()
				want := byte(newest) | 0x80
				if v < 3 {
					want = v | 0x80
				}
				if len(got) < 9 || got[0] != want || !bytes.Contains(got, []byte("unsupported protocol version")) {
					t.Errorf("got % x", got)
				}
			})
		}
	}
	t.Run("v5 to a v4 backend", func(t *testing.T) {
		_, addr := door(t, &memory{maxVersion: wire.V4}, cqldoor.Options{})
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(patience))
		nc.Write(wire.AppendFrame(nil, wire.Header{Version: wire.V5, Op: wire.OpStartup, Stream: 3}, startup("")))
		var buf bytes.Buffer
		buf.ReadFrom(nc)
		if got := buf.Bytes(); len(got) < 9 || got[0] != 0x84 || got[3] != 3 || !bytes.Contains(got, []byte("supported versions are (4/v4)")) {
			t.Errorf("got %q", got)
		}
	})
}

// Law 2: untouched when unsharded.
func TestForwardedUnchanged(t *testing.T) {
	m := &memory{}
	var response wire.Message
	m.answer = func(*memoryLink, wire.Message) (wire.Message, bool) { return response, false }
	_, addr := door(t, m, cqldoor.Options{})
	conns := map[wire.Version]*client{wire.V4: connect(t, addr, wire.V4), wire.V5: connect(t, addr, wire.V5)}
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SampledFrom([]wire.Version{wire.V4, wire.V5}).Draw(rt, "version")
		c := conns[v]
		op := rapid.SampledFrom([]wire.Op{wire.OpQuery, wire.OpPrepare, wire.OpExecute, wire.OpBatch}).Draw(rt, "op")
		var body []byte
		rest := rapid.SliceOfN(rapid.Byte(), 10, 300).Draw(rt, "rest")
		switch op {
		case wire.OpExecute:
			body = append(wire.AppendShortBytes(nil, rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "id")), rest...)
		case wire.OpBatch:
			body = rest
		default:
			body = append(wire.AppendLongString(nil, "INSERT INTO a.b (c) VALUES (1)"), rest...)
		}
		flags := wire.Flags(0)
		if rapid.Bool().Draw(rt, "tracing") {
			flags |= wire.FlagTracing
		}
		if rapid.Bool().Draw(rt, "payload") {
			flags |= wire.FlagCustomPayload
			body = append(wire.AppendBytesMap(nil, map[string][]byte{"k": rest[:5]}), body...)
		}
		response = wire.Message{
			Op:    rapid.SampledFrom([]wire.Op{wire.OpResult, wire.OpError}).Draw(rt, "response"),
			Flags: wire.Flags(rapid.SampledFrom([]byte{0, 2, 4, 8, 14}).Draw(rt, "response flags")),
			Body:  rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "response body"),
		}
		stream := rapid.Int16Min(0).Draw(rt, "stream")
		m.mu.Lock()
		m.sent = nil
		m.mu.Unlock()
		c.send(stream, op, flags, body)
		h, got := c.next()
		if h.Stream != stream || h.Op != response.Op || h.Flags != response.Flags || !bytes.Equal(got, response.Body) {
			rt.Fatalf("response %+v %x, want %+v", h, got, response)
		}
		sent := m.requests()
		if len(sent) != 1 || sent[0].Op != op || sent[0].Flags != flags || !bytes.Equal(sent[0].Body, body) {
			rt.Fatalf("sent %+v, want %s %x", sent, op, body)
		}
	})
}

// Law 7: no privilege by pooling.
func TestAuthenticationPassesThrough(t *testing.T) {
	const class = "org.apache.cassandra.auth.PasswordAuthenticator"
	m := &memory{authenticator: class, passwords: map[string]string{"ada": "1", "bob": "2"}}
	_, addr := door(t, m, cqldoor.Options{})
	login := func(t *testing.T, token string) (*client, wire.Header, []byte) {
		c := dial(t, addr, wire.V5)
		h, body := c.ask(wire.OpStartup, startup(""))
		if got, _ := wire.ParseAuthenticate(body); h.Op != wire.OpAuthenticate || got != class {
			t.Fatalf("STARTUP: %s %q", h.Op, body)
		}
		c.Established(wire.V5, wire.NoCompression)
		h, body = c.ask(wire.OpAuthResponse, wire.AppendAuthResponse(nil, []byte(token)))
		return c, h, body
	}
	t.Run("right", func(t *testing.T) {
		for i := range 2 {
			c, h, _ := login(t, "\x00ada\x001")
			if h.Op != wire.OpAuthSuccess {
				t.Fatalf("got %s", h.Op)
			}
			links := m.links()
			last := links[len(links)-1]
			if last.Username != "ada" || last.Password != "1" || !last.Fresh || last.Own {
				t.Errorf("link %d: %+v", i, last)
			}
			// USE is a new link of the same identity, which need not be fresh.
			if h, _ := c.ask(wire.OpQuery, query(wire.V5, "USE ks")); h.Op != wire.OpResult {
				t.Fatalf("USE: %s", h.Op)
			}
			links = m.links()
			if last = links[len(links)-1]; last.Username != "ada" || last.Password != "1" || last.Keyspace != "ks" || last.Own {
				t.Errorf("link %d: %+v", i, last)
			}
		}
	})
	t.Run("wrong", func(t *testing.T) {
		c, h, body := login(t, "\x00ada\x002")
		e := asError(t, wire.V5, h, body, wire.CodeBadCredentials)
		if e.Message != "Provided username ada and/or password are incorrect" {
			t.Errorf("not the store's own words: %q", e.Message)
		}
		c.wantClosed()
	})
	for _, token := range []string{"", "ada", "\x00\x00", "SigV4\x00\x00", "\x00ada\x001\x00x", "\x60\x82\x01\x02"} {
		t.Run(fmt.Sprintf("not PLAIN %q", token), func(t *testing.T) {
			before := len(m.links())
			c, h, body := login(t, token)
			asError(t, wire.V5, h, body, wire.CodeBadCredentials)
			c.wantClosed()
			if len(m.links()) != before {
				t.Error("a link was opened")
			}
		})
	}
	t.Run("requests before authentication", func(t *testing.T) {
		c := dial(t, addr, wire.V5)
		c.ask(wire.OpStartup, startup(""))
		c.Established(wire.V5, wire.NoCompression)
		c.wantError(wire.OpQuery, query(wire.V5, "SELECT 1"), wire.CodeProtocol)
		c.wantClosed()
		if sent := m.requests(); len(sent) != 0 {
			t.Errorf("it was sent: %v", sent)
		}
	})
	t.Run("not replayable", func(t *testing.T) {
		m := &memory{authenticator: "com.datastax.bdp.cassandra.auth.KerberosAuthenticator"}
		_, addr := door(t, m, cqldoor.Options{})
		dial(t, addr, wire.V5).wantError(wire.OpStartup, startup(""), wire.CodeBadCredentials)
	})
}

func TestFramesAreBounded(t *testing.T) {
	m := &memory{authenticator: "PasswordAuthenticator", passwords: map[string]string{"ada": "1"}}
	_, addr := door(t, m, cqldoor.Options{MaxFrame: 1 << 20})
	other := dial(t, addr, wire.V4)
	other.ask(wire.OpStartup, startup(""))
	t.Run("before authentication", func(t *testing.T) {
		c := dial(t, addr, wire.V4)
		c.ask(wire.OpStartup, startup(""))
		c.send(1, wire.OpAuthResponse, 0, make([]byte, 128<<10+1))
		c.wantClosed()
	})
	t.Run("after", func(t *testing.T) {
		c := dial(t, addr, wire.V4)
		c.ask(wire.OpStartup, startup(""))
		c.ask(wire.OpAuthResponse, wire.AppendAuthResponse(nil, []byte("\x00ada\x001")))
		if h, _ := c.ask(wire.OpQuery, query(wire.V4, strings.Repeat("x", 1<<20-100))); h.Op != wire.OpResult {
			t.Errorf("within the limit: %s", h.Op)
		}
		c.send(1, wire.OpQuery, 0, query(wire.V4, strings.Repeat("x", 1<<20)))
		c.wantClosed()
	})
	// Nothing happened to the other connection.
	if h, _ := other.ask(wire.OpAuthResponse, wire.AppendAuthResponse(nil, []byte("\x00ada\x001"))); h.Op != wire.OpAuthSuccess {
		t.Errorf("the other connection: %s", h.Op)
	}
}

func TestMalformed(t *testing.T) {
	d, addr := door(t, &memory{}, cqldoor.Options{})
	other := connect(t, addr, wire.V5)
	for name, frame := range map[string][]byte{
		"negative length":  {4, 0, 0, 1, 7, 0xff, 0xff, 0xff, 0xff},
		"unknown opcode":   {4, 0, 0, 1, 0x77, 0, 0, 0, 0},
		"a response":       {0x84, 0, 0, 1, 8, 0, 0, 0, 4, 0, 0, 0, 1},
		"startup not read": {4, 0, 0, 1, 1, 0, 0, 0, 2, 0xff, 0xff},
		"huge":             {4, 0, 0, 1, 1, 0x7f, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, addr, wire.V4)
			c.NetConn().Write(frame)
			c.wantClosed()
		})
	}
	t.Run("bad CRC", func(t *testing.T) {
		c := connect(t, addr, wire.V5)
		c.NetConn().Write([]byte{9, 0, 2, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4})
		c.wantClosed()
	})
	t.Run("bodies", func(t *testing.T) {
		c := connect(t, addr, wire.V5)
		for _, op := range []wire.Op{wire.OpQuery, wire.OpPrepare, wire.OpExecute, wire.OpRegister} {
			c.wantError(op, []byte{0x7f, 0xff, 0xff, 0xff, 1}, wire.CodeProtocol)
		}
		c.send(1, wire.OpQuery, wire.FlagCustomPayload, []byte{0xff, 0xff, 0, 1})
		h, body := c.next()
		asError(t, wire.V5, h, body, wire.CodeProtocol)
	})
	if h, _ := other.ask(wire.OpQuery, query(wire.V5, "SELECT 1")); h.Op != wire.OpResult {
		t.Errorf("the other connection: %s", h.Op)
	}
	if s := d.Stats(); s.Malformed < 8 || s.Panics != 0 {
		t.Errorf("%+v", s)
	}
}

func TestInFlightLimit(t *testing.T) {
	m := &memory{answer: hold}
	d, addr := door(t, m, cqldoor.Options{MaxInFlight: 10})
	c := connect(t, addr, wire.V5)
	for i := range int16(11) {
		c.send(i, wire.OpQuery, 0, query(wire.V5, "SELECT 1"))
	}
	h, body := c.next()
	asError(t, wire.V5, h, body, wire.CodeOverloaded)
	if h.Stream != 10 {
		t.Errorf("stream %d was refused", h.Stream)
	}
	m.release(void)
	for range 10 {
		if h, _ := c.next(); h.Op != wire.OpResult {
			t.Errorf("got %s", h.Op)
		}
	}
	if s := d.Stats(); s.Overloaded != 1 || s.Requests != 11 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
}

// A client that does not read its responses is not read from in turn.
func TestSlowReaderIsBounded(t *testing.T) {
	big := wire.Message{Op: wire.OpResult, Body: make([]byte, 64<<10)}
	m := &memory{answer: func(*memoryLink, wire.Message) (wire.Message, bool) { return big, false }}
	_, addr := door(t, m, cqldoor.Options{MaxUnread: 256 << 10})
	c := connect(t, addr, wire.V5)
	const n = 2000
	go func() {
		for i := range int16(n) {
			c.send(i, wire.OpQuery, 0, query(wire.V5, "SELECT "+strings.Repeat("x", 1000)))
		}
	}()
	last, same := 0, 0
	for same < 20 {
		time.Sleep(10 * time.Millisecond)
		if now := len(m.requests()); now == last && now > 0 {
			same++
		} else {
			last, same = now, 0
		}
	}
	if last > n/2 {
		t.Errorf("%d requests of %d bytes of response each were taken from a client that reads none", last, len(big.Body))
	}
	for range n {
		c.next()
	}
}

func TestDrain(t *testing.T) {
	m := &memory{answer: hold}
	d, addr := door(t, m, cqldoor.Options{})
	c := connect(t, addr, wire.V5)
	c.send(1, wire.OpQuery, 0, query(wire.V5, "SELECT 1"))
	eventually(t, "the request arrives", func() bool { return m.waiting() == 1 })
	stopped := make(chan error, 1)
	go func() { stopped <- d.Shutdown(context.Background()) }()
	// A request that comes before the door has begun to stop is served. When it has,
	// it lets nobody in.
	eventually(t, "the door has begun to stop", func() bool {
		dial(t, addr, wire.V5)
		return d.Stats().Refused > 0
	})
	c.send(2, wire.OpQuery, 0, query(wire.V5, "SELECT 2"))
	h, body := c.next()
	if h.Stream != 2 {
		t.Fatalf("stream %d", h.Stream)
	}
	asError(t, wire.V5, h, body, wire.CodeIsBootstrapping)
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a request in flight: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	m.release(void)
	if h, _ := c.next(); h.Stream != 1 || h.Op != wire.OpResult {
		t.Errorf("the request in flight: %+v", h)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	c.wantClosed()
}

func TestDrainDeadline(t *testing.T) {
	m := &memory{answer: hold}
	d, addr := door(t, m, cqldoor.Options{})
	c := connect(t, addr, wire.V4)
	c.send(1, wire.OpQuery, 0, query(wire.V4, "SELECT 1"))
	eventually(t, "the request arrives", func() bool { return m.waiting() == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := d.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "in flight") {
		t.Errorf("got %v", err)
	}
	c.wantClosed()
}

func TestUse(t *testing.T) {
	m := &memory{}
	var on []string
	m.answer = func(l *memoryLink, _ wire.Message) (wire.Message, bool) {
		on = append(on, l.o.Keyspace)
		return void, false
	}
	_, addr := door(t, m, cqldoor.Options{})
	c := connect(t, addr, wire.V4)
	c.ask(wire.OpQuery, query(wire.V4, "SELECT 1"))
	for _, use := range []string{"USE one", `use "One";`, "/* hm */ USE\ntwo"} {
		h, body := c.ask(wire.OpQuery, query(wire.V4, use))
		if h.Op != wire.OpResult || wire.KindOf(body) != wire.ResultSetKeyspace {
			t.Fatalf("%s: %s %q", use, h.Op, body)
		}
		c.ask(wire.OpQuery, query(wire.V4, "SELECT 1"))
	}
	// What is no statement is the store's to refuse.
	for _, text := range []string{"USE ?", "USE one two", "USE"} {
		if h, body := c.ask(wire.OpQuery, query(wire.V4, text)); h.Op != wire.OpResult || wire.KindOf(body) != wire.ResultVoid {
			t.Errorf("%s did not reach the store: %s %q", text, h.Op, body)
		}
	}
	c.wantError(wire.OpQuery, query(wire.V4, "USE nope"), wire.CodeInvalid)
	c.wantError(wire.OpPrepare, wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte("USE one")}), wire.CodeInvalid)
	c.ask(wire.OpQuery, query(wire.V4, "SELECT 1"))
	if got := fmt.Sprintf("%q", on); got != `["" "one" "One" "two" "two" "two" "two" "two"]` {
		t.Errorf("requests went to %s", got)
	}
}

func TestStartupOptionsArePartOfTheLink(t *testing.T) {
	m := &memory{}
	_, addr := door(t, m, cqldoor.Options{})
	c := dial(t, addr, wire.V4)
	c.ask(wire.OpStartup, wire.AppendStartup(nil, map[string]string{
		wire.OptionCQLVersion: "3.0.0", wire.OptionThrowOnOverload: "1", wire.OptionDriverName: "x",
	}))
	links := m.links()
	if got := store.DecodeStartup(links[len(links)-1].Startup); len(got) != 1 || got[wire.OptionThrowOnOverload] != "1" {
		t.Errorf("got %v", got)
	}
}

func TestEvents(t *testing.T) {
	m := &memory{}
	_, addr := door(t, m, cqldoor.Options{})
	eventually(t, "the door listens for events", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.events != nil
	})
	c, deaf := connect(t, addr, wire.V5), connect(t, addr, wire.V5)
	all := wire.AppendRegister(nil, []string{wire.EventTopology, wire.EventStatus, wire.EventSchema})
	if h, _ := c.ask(wire.OpRegister, all); h.Op != wire.OpReady {
		t.Fatalf("REGISTER: %s", h.Op)
	}
	c.wantError(wire.OpRegister, wire.AppendRegister(nil, []string{"NEWS"}), wire.CodeProtocol)
	schema := wire.AppendEvent(nil, &wire.Event{Type: wire.EventSchema, Schema: wire.SchemaChange{
		Change: "CREATED", Target: wire.TargetKeyspace, Keyspace: "ks"}})
	// The nodes behind the door are not the client's business.
	m.events(wire.AppendEvent(nil, &wire.Event{Type: wire.EventStatus, Change: "UP", Addr: netip.MustParseAddrPort("10.0.0.1:9042")}))
	m.events([]byte("not an event"))
	m.events(nil)
	m.events(schema)
	h, body := c.next()
	if h.Op != wire.OpEvent || h.Stream != -1 || !bytes.Equal(body, schema) {
		t.Errorf("got %+v %q", h, body)
	}
	if h, _ := deaf.ask(wire.OpQuery, query(wire.V5, "SELECT 1")); h.Op != wire.OpResult {
		t.Errorf("a client that did not register got %s", h.Op)
	}
}

func TestConnectionLimit(t *testing.T) {
	d, addr := door(t, &memory{}, cqldoor.Options{MaxConns: 1})
	c := connect(t, addr, wire.V5)
	dial(t, addr, wire.V5).wantClosed()
	c.ask(wire.OpQuery, query(wire.V5, "SELECT 1"))
	if s := d.Stats(); s.Connections != 1 || s.Refused != 1 {
		t.Errorf("%+v", s)
	}
}

func TestHandshakeTimeout(t *testing.T) {
	_, addr := door(t, &memory{}, cqldoor.Options{HandshakeTimeout: 50 * time.Millisecond})
	dial(t, addr, wire.V5).wantClosed()
}

func TestOptionsSayAllThatIsWrong(t *testing.T) {
	_, err := cqldoor.New(t.Context(), cqldoor.Options{MaxConns: -1, MaxUnread: -1, MaxFrame: 1 << 30})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"no store", "connections", "unread", "256 MiB"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}
