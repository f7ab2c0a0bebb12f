// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// memory is a store for tests: it keeps what it was sent, and answers as answer
// says, by default with a void result.
type memory struct {
	authenticator string
	passwords     map[string]string
	maxVersion    wire.Version
	answer        func(l *memoryLink, req wire.Message) (resp wire.Message, later bool)

	mu     sync.Mutex
	opened []store.LinkOptions
	sent   []wire.Message
	asked  []context.Context // of what was sent
	paces  []bool            // what links were told by Pace
	held   []func(wire.Message)
	events func([]byte)
}

func (m *memory) Authenticator(context.Context) (string, error) { return m.authenticator, nil }

func (m *memory) MaxVersion(context.Context) (wire.Version, error) {
	return max(m.maxVersion, wire.V4), nil
}

func (m *memory) Open(_ context.Context, o store.LinkOptions) (store.Link, error) {
	if o.Version > m.maxVersion {
		return nil, wire.VersionError(uint8(o.Version))
	}
	if m.authenticator != "" && !o.Own && (o.Username == "" || m.passwords[o.Username] != o.Password) {
		return nil, wire.Errorf(wire.CodeBadCredentials, "Provided username %s and/or password are incorrect", o.Username)
	}
	if o.Keyspace == "nope" {
		return nil, wire.Invalidf("Keyspace 'nope' does not exist")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened = append(m.opened, o)
	return &memoryLink{m, o}, nil
}

func (m *memory) Events(ctx context.Context, f func([]byte)) error {
	m.mu.Lock()
	m.events = f
	m.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

func (m *memory) Close() error { return nil }

func (m *memory) requests() []wire.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent)
}

func (m *memory) links() []store.LinkOptions {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.opened)
}

// release answers what was held.
func (m *memory) release(resp wire.Message) {
	m.mu.Lock()
	held := m.held
	m.held = nil
	m.mu.Unlock()
	for _, reply := range held {
		reply(resp)
	}
}

func (m *memory) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.held)
}

type memoryLink struct {
	m *memory
	o store.LinkOptions
}

func (l *memoryLink) Close() {}

func (l *memoryLink) Pace(begin bool) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.m.paces = append(l.m.paces, begin)
}

func (m *memory) paced() []bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.paces)
}

func (l *memoryLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if req.Op == wire.OpOptions {
		reply(wire.Message{Op: wire.OpSupported, Body: wire.AppendSupported(nil, map[string][]string{wire.OptionCQLVersion: {"3.4.5"}})})
		return
	}
	req.Body = slices.Clone(req.Body)
	l.m.mu.Lock()
	l.m.sent, l.m.asked = append(l.m.sent, req), append(l.m.asked, ctx)
	l.m.mu.Unlock()
	resp, later := void, false
	if l.m.answer != nil {
		resp, later = l.m.answer(l, req)
	}
	if later {
		l.m.mu.Lock()
		l.m.held = append(l.m.held, reply)
		l.m.mu.Unlock()
		return
	}
	reply(resp)
}

var void = wire.Message{Op: wire.OpResult, Body: wire.AppendInt(nil, int32(wire.ResultVoid))}

func hold(*memoryLink, wire.Message) (wire.Message, bool) { return wire.Message{}, true }

// door starts a door in front of m and returns its address.
func door(t testing.TB, m *memory, o cqldoor.Options) (*cqldoor.Door, string) {
	t.Helper()
	if m.maxVersion == 0 {
		m.maxVersion = wire.V5
	}
	o.Store = m
	return doorOf(t, o)
}

func doorOf(t testing.TB, o cqldoor.Options) (*cqldoor.Door, string) {
	t.Helper()
	d, err := cqldoor.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	go func() { done <- d.Serve(ln) }()
	go func() {
		_ = d.Run() // ends with the door
		done <- nil
	}()
	t.Cleanup(func() {
		ln.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_ = d.Shutdown(ctx) // what a test has left in flight
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("serve: %v", err)
			}
		}
	})
	return d, ln.Addr().String()
}

// client is a client that does nothing of its own accord.
type client struct {
	t testing.TB
	*transport.Conn
	version wire.Version
}

func dial(t testing.TB, addr string, v wire.Version) *client {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(patience))
	c := &client{t, transport.New(nc, transport.Options{}), v}
	t.Cleanup(c.Close)
	return c
}

// connect is dial with a STARTUP that succeeds.
func connect(t testing.TB, addr string, v wire.Version) *client {
	t.Helper()
	c := dial(t, addr, v)
	if h, body := c.ask(wire.OpStartup, startup("")); h.Op != wire.OpReady {
		t.Fatalf("STARTUP: %s %q", h.Op, body)
	}
	c.Established(v, wire.NoCompression)
	return c
}

func startup(compression string) []byte {
	m := map[string]string{wire.OptionCQLVersion: "3.0.0"}
	if compression != "" {
		m[wire.OptionCompression] = compression
	}
	return wire.AppendStartup(nil, m)
}

func (c *client) send(stream int16, op wire.Op, flags wire.Flags, body []byte) {
	c.Append(wire.Header{Version: c.version, Op: op, Stream: stream, Flags: flags}, body)
	c.Flush()
}

func (c *client) next() (wire.Header, []byte) {
	c.t.Helper()
	h, body, err := c.Next()
	if err != nil {
		c.t.Fatalf("read a response: %v", err)
	}
	return h, slices.Clone(body)
}

func (c *client) ask(op wire.Op, body []byte) (wire.Header, []byte) {
	c.t.Helper()
	c.send(1, op, 0, body)
	return c.next()
}

// wantError asks and wants an ERROR with a code.
func (c *client) wantError(op wire.Op, body []byte, code wire.Code) *wire.Error {
	c.t.Helper()
	h, resp := c.ask(op, body)
	return asError(c.t, c.version, h, resp, code)
}

func asError(t testing.TB, v wire.Version, h wire.Header, resp []byte, code wire.Code) *wire.Error {
	t.Helper()
	if h.Op != wire.OpError {
		t.Fatalf("got %s, want an error", h.Op)
	}
	e, err := wire.ParseError(v, resp)
	if err != nil {
		t.Fatal(err)
	}
	if e.Code != code {
		t.Fatalf("got %v, want %v", e, code)
	}
	return e
}

// wantClosed wants the door to close the connection.
func (c *client) wantClosed() {
	c.t.Helper()
	for {
		h, _, err := c.Next()
		if err == nil {
			if h.Op != wire.OpError {
				c.t.Fatalf("got %s, want the end of the connection", h.Op)
			}
			continue
		}
		if n, ok := err.(net.Error); ok && n.Timeout() {
			c.t.Fatal("the connection was not closed")
		}
		return
	}
}

func query(v wire.Version, text string) []byte {
	q := wire.Query{Text: []byte(text)}
	q.Params.Consistency = wire.One
	return wire.AppendQuery(nil, v, &q)
}

func execute(v wire.Version, id string) []byte {
	e := wire.Execute{ID: []byte(id), MetadataID: []byte("0123456789abcdef")}
	e.Params.Consistency = wire.One
	return wire.AppendExecute(nil, v, &e)
}

// patience is for what never comes. What does may take long on a loaded machine, and
// some tests send hundreds of megabytes.
const patience = 5 * time.Minute

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
