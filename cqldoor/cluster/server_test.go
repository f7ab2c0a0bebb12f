// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

func TestMain(m *testing.M) { leak.Main(m) }

// server is a node for tests. It does the handshake, answers the control connection's queries, and
// passes other requests to handle.
type server struct {
	t          testing.TB
	addr       string
	maxVersion wire.Version
	passwords  map[string]string // nil: no authentication
	dc         string
	peers      []string         // addresses
	tokens     map[string]int64 // tokens of nodes, by address; nil: the cluster announces none
	replicas   int              // replicas of keyspace ks
	mute       bool             // it answers no QUERY
	places     map[string]place // places of nodes, by address; absent: data centre dc1, or dc for the server itself

	mu       sync.Mutex
	ln       net.Listener
	sessions map[*session]struct{}
	stopped  bool
	dials    []string // "user/keyspace" of each connection after its handshake
	handle   func(s *session, h wire.Header, body []byte)
	came     func(op wire.Op) // is told of each message; nil: nobody is
	wg       sync.WaitGroup
}

type place struct{ dc, rack string }

func (s *server) placeOf(addr, dc string) place {
	if p, ok := s.places[addr]; ok {
		return p
	}
	return place{dc, ""}
}

// session is one connection to a server.
type session struct {
	*transport.Conn
	srv           *server
	version       wire.Version
	user, use     string
	mu            sync.Mutex
	preparedTexts map[string]string // id → text
}

func (s *session) reply(h wire.Header, op wire.Op, body []byte) {
	s.Append(wire.Header{Version: h.Version, Response: true, Stream: h.Stream, Op: op}, body)
	s.Flush()
}

func (s *session) fail(h wire.Header, e *wire.Error) {
	s.reply(h, wire.OpError, e.Append(nil, h.Version))
}

func newServer(t testing.TB) *server {
	s := &server{t: t, maxVersion: wire.V5, dc: "dc1", sessions: make(map[*session]struct{})}
	s.handle = func(s *session, h wire.Header, body []byte) {
		s.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
	}
	s.listen(loopback.FreeAddr(t)) // an address on which the server can listen again
	t.Cleanup(s.stop)
	return s
}

func (s *server) listen(addr string) {
	s.t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.ln, s.addr, s.stopped = ln, ln.Addr().String(), false
	s.mu.Unlock()
	s.wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			ss := &session{Conn: transport.New(nc, transport.Options{Server: true}), srv: s, preparedTexts: make(map[string]string)}
			s.mu.Lock()
			if s.stopped { // stop has closed the sessions that it knew
				s.mu.Unlock()
				ss.Close()
				return
			}
			s.sessions[ss] = struct{}{}
			s.mu.Unlock()
			s.wg.Go(func() {
				ss.serve()
				ss.Close()
				s.mu.Lock()
				delete(s.sessions, ss)
				s.mu.Unlock()
			})
		}
	})
}

// stop ends the server as a crash does.
func (s *server) stop() {
	s.mu.Lock()
	s.ln.Close()
	s.stopped = true
	s.mu.Unlock()
	s.hangUp()
	s.wg.Wait()
}

// hangUp ends the server's connections.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss := range s.sessions {
		ss.Close()
	}
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

func (s *server) dialed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.dials))
}

func (s *server) event(e wire.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss := range s.sessions {
		ss.Append(wire.Header{Version: ss.version, Response: true, Stream: -1, Op: wire.OpEvent}, wire.AppendEvent(nil, &e))
		ss.Flush()
	}
}

func (ss *session) serve() {
	established := false
	for {
		h, body, err := ss.Next()
		if err != nil {
			return
		}
		if ss.srv.came != nil {
			ss.srv.came(h.Op)
		}
		switch h.Op {
		case wire.OpStartup:
			if h.Version > ss.srv.maxVersion {
				ss.Append(wire.Header{Version: ss.srv.maxVersion, Response: true, Stream: h.Stream, Op: wire.OpError},
					wire.VersionError(uint8(h.Version)).Append(nil, ss.srv.maxVersion))
				ss.Flush()
				return
			}
			ss.version = h.Version
			if ss.srv.passwords != nil {
				ss.reply(h, wire.OpAuthenticate, wire.AppendAuthenticate(nil, "PasswordAuthenticator"))
			} else {
				ss.reply(h, wire.OpReady, nil)
				established = true
			}
			ss.Established(h.Version, wire.NoCompression)
		case wire.OpAuthResponse:
			token, _ := wire.ParseAuthResponse(body)
			p := strings.Split(string(token), "\x00")
			ss.srv.mu.Lock()
			want, ok := ss.srv.passwords[p[1]]
			ss.srv.mu.Unlock()
			if !ok || want != p[2] {
				ss.fail(h, wire.Errorf(wire.CodeBadCredentials, "Provided username %s and/or password are incorrect", p[1]))
				return
			}
			ss.user = p[1]
			ss.reply(h, wire.OpAuthSuccess, wire.AppendNull(nil))
			established = true
		case wire.OpOptions:
			ss.reply(h, wire.OpSupported, wire.AppendSupported(nil, nil))
		case wire.OpRegister:
			ss.reply(h, wire.OpReady, nil)
		case wire.OpQuery:
			q, _ := wire.ParseQuery(h.Version, body)
			if ss.srv.mute {
				break
			}
			if ss.builtIn(h, string(q.Text)) {
				break
			}
			ss.srv.handle(ss, h, body)
		default:
			ss.srv.handle(ss, h, body)
		}
		if established {
			established = false
			if ss.use == "" {
				ss.srv.mu.Lock()
				ss.srv.dials = append(ss.srv.dials, ss.user+"/")
				ss.srv.mu.Unlock()
			}
		}
	}
}

func (ss *session) builtIn(h wire.Header, text string) bool {
	switch {
	case strings.HasPrefix(text, "USE "):
		ss.use = strings.Trim(text[4:], `"`)
		if ss.use == "nope" {
			ss.fail(h, wire.Invalidf("Keyspace 'nope' does not exist"))
			return true
		}
		ss.srv.mu.Lock()
		ss.srv.dials[slices.Index(ss.srv.dials, ss.user+"/")] = ss.user + "/" + ss.use
		ss.srv.mu.Unlock()
		ss.reply(h, wire.OpResult, wire.AppendString(wire.AppendInt(nil, int32(wire.ResultSetKeyspace)), ss.use))
	case strings.Contains(text, "system.local"):
		at := ss.srv.placeOf(ss.srv.addr, ss.srv.dc)
		ss.rows(h, "local", []string{"data_center", "rack", "partitioner", "tokens"},
			[][]byte{[]byte(at.dc), []byte(at.rack), []byte(murmur3), tokenCell(ss.srv.tokens[ss.srv.addr])})
	case strings.Contains(text, "system_schema.keyspaces"):
		replication := textMaps.Build(nil, [][]byte{[]byte("class"), []byte("SimpleStrategy"), []byte("replication_factor"), strconv.AppendInt(nil, int64(ss.srv.replicas), 10)})
		ss.rows(h, "keyspaces", []string{"keyspace_name", "replication"}, [][]byte{[]byte("ks"), replication})
	case strings.Contains(text, "system.peers_v2"):
		ss.srv.mu.Lock()
		peers := ss.srv.peers
		ss.srv.mu.Unlock()
		var rows [][][]byte
		for _, p := range peers {
			tcp, _ := net.ResolveTCPAddr("tcp", p)
			at := ss.srv.placeOf(p, "dc1")
			rows = append(rows, [][]byte{tcp.IP.To4(), {0, 0, byte(tcp.Port >> 8), byte(tcp.Port)}, []byte(at.dc), []byte(at.rack), []byte("0123456789abcdef"), tokenCell(ss.srv.tokens[p])})
		}
		ss.rows(h, "peers_v2", []string{"native_address", "native_port", "data_center", "rack", "host_id", "tokens"}, rows...)
	default:
		return false
	}
	return true
}

func (ss *session) rows(h wire.Header, table string, names []string, rows ...[][]byte) {
	var columns []wire.Column
	for _, n := range names {
		columns = append(columns, wire.Column{Keyspace: "system", Table: table, Name: n, Type: value.Native(value.Blob)})
	}
	var w wire.RowsWriter
	w.Begin(nil, wire.EncodeColumns(h.Version, columns))
	for _, r := range rows {
		for _, c := range r {
			w.Cell(c)
		}
		w.EndRow()
	}
	ss.reply(h, wire.OpResult, w.Finish())
}

func tokenCell(token int64) []byte {
	return texts.Build(nil, [][]byte{strconv.AppendInt(nil, token, 10)})
}

// connectTo connects a cluster whose seconds pass only when the test calls beat. Those of the real
// clock would make hosts silent on a slow machine.
func connectTo(t testing.TB, o Options, servers ...*server) *Cluster {
	t.Helper()
	for _, s := range servers {
		o.Contacts = append(o.Contacts, s.addr)
	}
	o.ConnectTimeout, o.beatEvery = patience, 24*time.Hour
	cl, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

func open(t testing.TB, cl *Cluster, o store.LinkOptions) store.Forwarder {
	t.Helper()
	if o.Version == 0 {
		o.Version = cl.version
	}
	l, err := cl.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l.(store.Forwarder)
}

// ask sends one request and waits for the response.
func ask(t testing.TB, l store.Link, op wire.Op, body []byte) wire.Message {
	t.Helper()
	got := make(chan wire.Message, 2)
	l.Send(t.Context(), wire.Message{Op: op, Body: body}, func(resp wire.Message) {
		resp.Body = slices.Clone(resp.Body)
		got <- resp
	})
	select {
	case resp := <-got:
		return resp
	case <-time.After(patience):
		t.Fatal("no response")
		return wire.Message{}
	}
}

func wantError(t testing.TB, v wire.Version, resp wire.Message, code wire.Code) *wire.Error {
	t.Helper()
	if resp.Op != wire.OpError {
		t.Fatalf("got %s, want an error", resp.Op)
	}
	e, err := wire.ParseError(v, resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if e.Code != code {
		t.Fatalf("got %v, want %v", e, code)
	}
	return e
}

func query(v wire.Version, text string) []byte {
	q := wire.Query{Text: []byte(text)}
	q.Params.Consistency = wire.One
	return wire.AppendQuery(nil, v, &q)
}

func execute(v wire.Version, id string) []byte {
	e := wire.Execute{ID: []byte(id), MetadataID: []byte(id)}
	return wire.AppendExecute(nil, v, &e)
}

// patience is the longest wait for an event. An event that does happen may take long on a loaded
// machine.
const patience = 2 * time.Minute

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
