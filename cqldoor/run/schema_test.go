// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	cassandraengine "github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/shard"
	"go.uber.org/goleak"
)

// onStores runs a test on a real Cassandra and on the embedded engine.
func onStores(t *testing.T, test func(t *testing.T, st store.Store)) {
	t.Run("cassandra", func(t *testing.T) {
		st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		test(t, st)
	})
	t.Run("engine", func(t *testing.T) { test(t, embedded(t)) })
}

func embedded(t *testing.T) store.Store {
	t.Helper()
	e, err := cassandraengine.Open(t.TempDir(), cassandraengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func random() (u [16]byte) {
	_, _ = rand.Read(u[:])
	return u
}

func startRouter(t *testing.T, st store.Store) *Router { return startRouterOf(t, st, 0) }

// startRouterOf starts one that knows of other doors where it has a lease.
func startRouterOf(t *testing.T, st store.Store, lease time.Duration) *Router {
	t.Helper()
	return startRouterBy(t, st, lease, time.Now)
}

// startRouterBy starts one that goes by a clock.
func startRouterBy(t *testing.T, st store.Store, lease time.Duration, now func() time.Time) *Router {
	t.Helper()
	r := New(Options{
		Lease: lease, Store: st, Now: now, Timeuuid: random, UUID: random, IntN: mathrand.IntN, Eras: new(cqldoor.Eras),
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// serveDoor serves a door until the test ends, and returns its address.
func serveDoor(t *testing.T, st store.Store, r cqldoor.Router) string {
	t.Helper()
	o := cqldoor.Options{Store: st, Router: r, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if r, ok := r.(*Router); ok {
		o.Eras = r.opts.Eras
	}
	_, addr := serveOptions(t, o)
	return addr
}

func serveOptions(t *testing.T, o cqldoor.Options) (*cqldoor.Door, string) {
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
	go func() { done <- d.Run() }()
	go func() { done <- d.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := d.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	return d, ln.Addr().String()
}

// patience is how long a test waits for what a loaded machine does late.
const patience = 3 * time.Minute

func dial(t *testing.T, addr string, v primitive.ProtocolVersion) *difftest.Conn {
	t.Helper()
	c, err := difftest.Dial(addr, v, "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// scene is a store with a door to sharded tables and one that passes everything
// on, and clients of both.
type scene struct {
	t        *testing.T
	store    store.Store
	router   *Router
	keyspace string
	v4, v5   *difftest.Conn
	direct   *difftest.Conn
}

func newScene(t *testing.T, st store.Store) *scene { return newSceneOf(t, st, startRouter(t, st)) }

func newSceneOf(t *testing.T, st store.Store, r *Router) *scene {
	t.Helper()
	s := &scene{t: t, store: st, router: r, keyspace: cassandra.Keyspace(t, "sch")}
	at := serveDoor(t, st, s.router)
	s.v4, s.v5 = dial(t, at, primitive.ProtocolVersion4), dial(t, at, primitive.ProtocolVersion5)
	s.direct = dial(t, serveDoor(t, st, nil), primitive.ProtocolVersion5)
	s.must(s.v5, "CREATE KEYSPACE "+s.keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() { s.must(s.v5, "DROP KEYSPACE IF EXISTS "+s.keyspace) })
	return s
}

func (s *scene) query(c *difftest.Conn, text string) *difftest.Answer {
	s.t.Helper()
	a, err := c.Query(difftest.Request{Query: text})
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return a
}

func (s *scene) must(c *difftest.Conn, text string) *difftest.Answer {
	s.t.Helper()
	a := s.query(c, text)
	if a.Kind == difftest.Error {
		s.t.Fatalf("%s: %v %s", text, a.Code, a.Text)
	}
	return a
}

// TestSchemaScripts runs the scripts in testdata/schema:
//
//	exec      a statement through the door, as QUERY of v5
//	prepared  the same as PREPARE and EXECUTE
//	direct    a statement past the door
//	read      a read through the door in all ways: v4 and v5, prepared or not, in
//	          one page and in pages of 2; all give the same
//
// In statements and answers ks stands for the test's keyspace.
func TestSchemaScripts(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		datadriven.Walk(t, "testdata/schema", func(t *testing.T, path string) {
			s := newScene(t, st)
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				var out []string
				for line := range strings.Lines(d.Input) {
					if line = strings.TrimSpace(line); line == "" {
						continue
					}
					text := keyspaceWord.ReplaceAllString(line, s.keyspace)
					answer := s.run(t, d.Cmd, text)
					if strings.Count(d.Input, "\n") > 0 {
						answer = "> " + line + "\n" + answer
					}
					out = append(out, answer)
				}
				return strings.ReplaceAll(strings.Join(out, ""), s.keyspace, "ks")
			})
		})
	})
}

var keyspaceWord = regexp.MustCompile(`\bks\b`)

func (s *scene) run(t *testing.T, cmd, text string) string {
	t.Helper()
	switch cmd {
	case "exec":
		return show(s.query(s.v5, text))
	case "direct":
		return show(s.query(s.direct, text))
	case "prepared":
		return show(s.prepared(s.v5, text, 0))
	case "read":
		want := show(s.query(s.v5, text))
		for _, c := range []*difftest.Conn{s.v4, s.v5} {
			for _, size := range []int32{0, 2} {
				for name, got := range map[string]*difftest.Answer{"QUERY": s.paged(c, text, size), "EXECUTE": s.prepared(c, text, size)} {
					if show(got) != want {
						t.Errorf("%s: %s with page size %d gives\n%sand not\n%s", text, name, size, show(got), want)
					}
				}
			}
		}
		return want
	}
	t.Fatalf("unknown command %s", cmd)
	return ""
}

// paged reads all pages.
func (s *scene) paged(c *difftest.Conn, text string, size int32) *difftest.Answer {
	s.t.Helper()
	return s.pages(func(state []byte) (*difftest.Answer, error) {
		return c.Query(difftest.Request{Query: text, PageSize: size, State: state})
	})
}

func (s *scene) prepared(c *difftest.Conn, text string, size int32) *difftest.Answer {
	s.t.Helper()
	p, err := c.Prepare(text)
	if err != nil {
		s.t.Fatal(err)
	}
	if p.Kind == difftest.Error {
		return p
	}
	if strings.Contains(fmt.Sprint(p.Columns, p.Bind), "shard") {
		s.t.Errorf("%s: PREPARED tells of %v, %v", text, p.Columns, p.Bind)
	}
	return s.pages(func(state []byte) (*difftest.Answer, error) {
		return c.Execute(p, difftest.Request{PageSize: size, State: state, SkipMeta: len(p.Columns) > 0})
	})
}

func (s *scene) pages(page func(state []byte) (*difftest.Answer, error)) *difftest.Answer {
	s.t.Helper()
again:
	all, err := page(nil)
	for last := all; err == nil && last.State != nil; {
		if last, err = page(last.State); err != nil {
			break
		}
		if last.Kind == difftest.Error {
			if strings.Contains(last.Text, "The schema has changed since the previous page") {
				goto again // by another test, at the same Cassandra
			}
			return last
		}
		all.Rows = append(all.Rows, last.Rows...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// show prints an answer.
func show(a *difftest.Answer) string {
	var b strings.Builder
	switch a.Kind {
	case difftest.Error:
		fmt.Fprintf(&b, "error 0x%04x %s\n", int(a.Code), a.Text)
	case difftest.Rows:
		for _, r := range a.Rows {
			for i, cell := range r {
				if i > 0 {
					b.WriteString(" | ")
				}
				b.WriteString(showCell(a.Columns[i], cell))
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d rows\n", len(a.Rows))
	default:
		b.WriteString(strings.TrimSpace(string(a.Kind)+" "+a.Text) + "\n")
	}
	for _, w := range a.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	return anyID.ReplaceAllString(b.String(), "UUID")
}

func showCell(c difftest.Column, cell []byte) string {
	if cell == nil {
		return "null"
	}
	switch c.Type.Code() {
	case primitive.DataTypeCodeVarchar, primitive.DataTypeCodeAscii:
		return string(cell)
	case primitive.DataTypeCodeInt:
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(cell))))
	case primitive.DataTypeCodeBigint:
		return strconv.FormatInt(int64(binary.BigEndian.Uint64(cell)), 10)
	}
	if s := string(cell); strings.Contains(s, "write_sharding") { // the extensions of a table
		return strconv.QuoteToASCII(s)
	}
	return "0x" + hex.EncodeToString(cell)
}

// TestOthersUnchanged says that what is not about sharded tables is read through
// the door as it is without.
func TestOthersUnchanged(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
		for _, text := range []string{
			"SELECT * FROM system_schema.keyspaces WHERE keyspace_name = 'system'",
			"SELECT * FROM system_schema.tables WHERE keyspace_name = 'system'",
			"SELECT * FROM system_schema.columns WHERE keyspace_name = 'system_schema'",
			"SELECT DISTINCT keyspace_name FROM system_schema.columns WHERE keyspace_name IN ('system_auth', 'system')",
			"SELECT keyspace_name, table_name FROM system_schema.tables WHERE keyspace_name IN ('system', 'system_auth') ORDER BY table_name DESC",
			"SELECT table_name, min(column_name), count(position) FROM system_schema.columns WHERE keyspace_name = 'system' GROUP BY table_name LIMIT 3",
			"SELECT keyspace_name, count(*) FROM system_schema.columns WHERE keyspace_name IN ('system_auth', 'system') GROUP BY keyspace_name",
			"SELECT max(gc_grace_seconds), avg(bloom_filter_fp_chance) FROM system_schema.tables WHERE keyspace_name = 'system'",
			"SELECT JSON * FROM system_schema.keyspaces WHERE keyspace_name = 'system'",
			"SELECT caching['keys'], map_keys(extensions), writetime(comment) FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'local'",
			"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'system' AND table_name > 'local' AND table_name < 'peers' PER PARTITION LIMIT 4",
			"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'system' AND table_name IN ('local', 'nope') AND column_name IN ('rack', 'key')",
			"SELECT keyspace_name FROM system_schema.keyspaces WHERE token(keyspace_name) = token('system')",
			"SELECT keyspace_name FROM system_schema.tables WHERE table_name = 'local'",
			"SELECT keyspace_name FROM system_schema.tables WHERE table_name = 'roles' ALLOW FILTERING",
			"SELECT * FROM system_schema.types",
			"DESCRIBE TABLE system_schema.tables",
			"DESCRIBE KEYSPACE system_auth",
			"DESCRIBE CLUSTER",
			"DESCRIBE INDEX nope.i",
		} {
			for _, size := range []int32{0, 3} {
				want, got := s.paged(s.direct, text, size), s.paged(s.v5, text, size)
				if show(got) != show(want) || fmt.Sprint(got.Columns) != fmt.Sprint(want.Columns) {
					t.Errorf("%s\nthrough the door %v\n%s\ndirect %v\n%s", text, got.Columns, show(got), want.Columns, show(want))
				}
			}
		}
	})
}

// TestHiddenStatement says that what DESCRIBE shows makes the same table again.
func TestHiddenStatement(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		s.must(s.v5, "CREATE TYPE "+s.keyspace+`.point ("X" int, y int)`)
		s.must(s.v5, "CREATE TABLE "+s.keyspace+`."Tabl" (k int, "K 2" text, c text, "D""d" timeuuid, v map<int, frozen<point>>, w list<text>, `+
			`PRIMARY KEY ((k, "K 2"), c, "D""d")) WITH CLUSTERING ORDER BY (c DESC, "D""d" ASC) AND comment = 'it''s; ok' `+
			`AND write_sharding = {'shards': '16', 'by': '"D""d", c', 'column': '"My ; col"'} AND gc_grace_seconds = 77`)
		describe := "DESCRIBE TABLE " + s.keyspace + `."Tabl"`
		text := string(s.must(s.v5, describe).Rows[0][3])
		if strings.Contains(strings.Split(text, "write_sharding")[0], "My ; col") {
			t.Errorf("the hidden column is shown:\n%s", text)
		}
		s.must(s.v5, "DROP TABLE "+s.keyspace+`."Tabl"`)
		s.must(s.v5, text)
		if again := string(s.must(s.v5, describe).Rows[0][3]); again != text {
			t.Errorf("made again it is\n%s\nand was\n%s", again, text)
		}
		internals := string(s.must(s.v5, describe+" WITH INTERNALS").Rows[0][3])
		if head, _, _ := strings.Cut(internals, "write_sharding"); !strings.Contains(head, " WITH ID = ") || strings.Contains(head, "My ; col") {
			t.Errorf("with internals:\n%s", internals)
		}
	})
}

// TestNowhere says that nothing that shows the whole schema shows the catalogue or
// the hidden column.
func TestNowhere(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	hidden := regexp.MustCompile(`\bshard\b|evenkeel|layouts`)
	for _, text := range []string{
		"DESCRIBE SCHEMA", "DESCRIBE FULL SCHEMA", "DESCRIBE FULL SCHEMA WITH INTERNALS", "DESCRIBE KEYSPACES", "DESCRIBE TABLES", "DESCRIBE TYPES",
		"SELECT * FROM system_schema.keyspaces", "SELECT * FROM system_schema.tables", "SELECT * FROM system_schema.columns",
		"SELECT * FROM system_schema.types", "SELECT * FROM system_schema.indexes", "SELECT * FROM system_schema.views",
		"SELECT * FROM system_schema.dropped_columns", "SELECT * FROM system_schema.triggers", "SELECT * FROM system_schema.column_masks",
	} {
		for _, c := range []*difftest.Conn{s.v4, s.v5} {
			for _, a := range []*difftest.Answer{s.query(c, text), s.paged(c, text, 7), s.prepared(c, text, 7)} {
				if got := show(a); a.Kind != difftest.Rows || hidden.MatchString(got) {
					t.Errorf("%s shows %q in\n%s", text, hidden.FindString(got), got)
				}
			}
		}
	}
}

// TestOtherDoor says that a door learns by an event what another has done, before
// its clients do, and that they hear nothing of the catalogue.
func TestOtherDoor(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		a := newScene(t, st)
		at := serveDoor(t, st, startRouter(t, st))
		b, listener := dial(t, at, primitive.ProtocolVersion5), dial(t, at, primitive.ProtocolVersion4)
		if _, err := listener.Call(&message.Register{EventTypes: []primitive.EventType{primitive.EventTypeSchemaChange}}); err != nil {
			t.Fatal(err)
		}
		a.must(a.v5, "CREATE TABLE "+a.keyspace+".t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
		a.must(a.v5, "INSERT INTO "+a.keyspace+".t (k, c, v) VALUES (1, 2, 3)")
		known := func(want string) {
			t.Helper()
			got := ""
			for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
				if got = show(a.query(b, "SELECT * FROM "+a.keyspace+".t WHERE k = 1")); got == want {
					return
				}
			}
			t.Fatalf("the other door gives\n%s", got)
		}
		known("1 | 2 | 3\n1 rows\n")
		a.must(a.v5, "ALTER TABLE "+a.keyspace+".t ADD w text")
		known("1 | 2 | 3 | null\n1 rows\n")
		// Behind the doors: dropped, and made again as a plain table of that name.
		a.must(a.direct, "DROP TABLE "+a.keyspace+".t")
		a.must(a.direct, "CREATE TABLE "+a.keyspace+".t (k int, shard int, c int, PRIMARY KEY ((k, shard), c))")
		a.must(a.direct, "INSERT INTO "+a.keyspace+".t (k, shard, c) VALUES (1, 7, 2)")
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if show(a.query(b, "SELECT * FROM "+a.keyspace+".t WHERE k = 1 AND shard = 7")) == "1 | 7 | 2\n1 rows\n" {
				return
			}
		}
		t.Error("a table that was made behind the doors is not served as it is")
	})
}

// TestEvents says what events become of the backend's.
func TestEvents(t *testing.T) {
	s := newScene(t, embedded(t))
	event := func(keyspace string) []byte {
		return wire.AppendEvent(nil, &wire.Event{Type: wire.EventSchema, Schema: wire.SchemaChange{
			Change: wire.ChangeCreated, Target: wire.TargetTable, Keyspace: keyspace, Name: "layouts"}})
	}
	if out := s.router.Events([][]byte{event("evenkeel")}, nil); len(out) != 0 {
		t.Errorf("an event of the catalogue is shown: %q", out)
	}
	if out := s.router.Events([][]byte{event("other")}, nil); len(out) != 1 || string(out[0]) != string(event("other")) {
		t.Errorf("another event: %q", out)
	}
	if out := s.router.Events([][]byte{nil}, nil); len(out) != 0 {
		t.Errorf("missed events: %q", out)
	}
	// The state is up to date when an event is shown, whoever made the change.
	other := startRouter(t, s.store)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	other.Events([][]byte{event("evenkeel")}, nil)
	if other.state.Load().Table(s.keyspace, "t") == nil {
		t.Error("an event does not bring the state up to date")
	}
}

// TestSameState says that a refresh that finds nothing new leaves the state, on
// which statements are planned, as it is.
func TestSameState(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TYPE "+s.keyspace+".u (a int)")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c frozen<u>, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	before := s.router.state.Load()
	if err := s.router.schema.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.router.state.Load() != before {
		t.Error("the state is another")
	}
	s.must(s.v5, "ALTER TYPE "+s.keyspace+".u ADD b int")
	if s.router.state.Load() == before {
		t.Error("the state is the same after a change")
	}
}

// TestPlainBeside says that a plain table in a keyspace with sharded ones is known
// at once: one batch may name both.
func TestPlainBeside(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	for _, text := range []string{
		"CREATE TABLE %s.plain (k int PRIMARY KEY, v int)", "ALTER TABLE %s.plain ADD w int", "ALTER TABLE %s.plain DROP v", "DROP TABLE %s.plain",
	} {
		s.must(s.v5, fmt.Sprintf(text, s.keyspace))
		want, err := s.router.schema.Catalog.Schema(t.Context(), s.keyspace)
		if err != nil {
			t.Fatal(err)
		}
		got, beside := s.router.state.Load().Schema.Table(s.keyspace, "plain"), want.Table(s.keyspace, "plain")
		if !reflect.DeepEqual(got, beside) {
			t.Errorf("after %s the state has %+v", text, got)
		}
	}
	if a := s.query(s.v5, "CREATE TABLE "+s.keyspace+".t (k int PRIMARY KEY)"); int(a.Code) != int(wire.CodeAlreadyExists) {
		t.Errorf("a plain table over a sharded one: %s", show(a))
	}
	if a := s.query(s.v5, "CREATE TABLE "+s.keyspace+".bad (p int PRIMARY KEY, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '5'}"); int(a.Code) != int(wire.CodeInvalid) {
		t.Errorf("two primary keys: %s", show(a))
	}
}

// TestClaims says what is the router's, at no cost.
func TestClaims(t *testing.T) {
	s := newScene(t, embedded(t))
	claims := func(want bool, keyspace, text string) {
		t.Helper()
		h := syntax.Target(text)
		if got := s.router.Claims(h, keyspace); got != want {
			t.Errorf("%q in keyspace %q: claimed %v", text, keyspace, got)
		}
		if n := allocs.PerRun(100, func() { s.router.Claims(h, keyspace) }); n != 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
	claims(true, "", "SELECT * FROM system_schema.tables") // there is no catalogue yet, but there may be when it is executed
	claims(true, "", "DESCRIBE SCHEMA")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".plain (k int, c int, PRIMARY KEY (k, c))")
	for _, format := range []string{
		"SELECT * FROM %s", "INSERT INTO %s (k, c) VALUES (1, 2)", "UPDATE %s SET v = 1 WHERE k = 1", "DELETE FROM %s WHERE k = 1",
		"TRUNCATE %s", "ALTER TABLE %s ADD x int", "DROP TABLE %s", "CREATE INDEX ON %s (v)",
		"CREATE MATERIALIZED VIEW v AS SELECT * FROM %s WHERE k IS NOT NULL PRIMARY KEY (k)",
	} {
		claims(true, "", fmt.Sprintf(format, s.keyspace+".t"))
		claims(true, s.keyspace, fmt.Sprintf(format, "t"))
		claims(true, "other", fmt.Sprintf(format, "t")) // nobody knows that table: another door may
		// All but reads and writes is looked at, and passed on.
		schemas := !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"}, strings.Fields(format)[0])
		claims(schemas, s.keyspace, fmt.Sprintf(format, "plain"))
		claims(true, "", fmt.Sprintf(format, "evenkeel.layouts"))
		claims(true, "evenkeel", fmt.Sprintf(format, "layouts"))
	}
	for _, text := range []string{
		"CREATE TABLE x (a int PRIMARY KEY)", "DESCRIBE KEYSPACES", "SELECT * FROM system_schema.tables", "SELECT * FROM system_schema.columns",
		"SELECT * FROM system_schema.keyspaces", "SELECT * FROM system.local", "SELECT * FROM system.peers_v2", "DROP KEYSPACE " + s.keyspace, "ALTER TYPE " + s.keyspace + ".u ADD b int",
		"CREATE KEYSPACE evenkeel WITH x = 1", "USE evenkeel", "CREATE TYPE evenkeel.u (a int)", "DROP INDEX evenkeel.i",
		"GRANT SELECT ON KEYSPACE other TO r", "CREATE KEYSPACE other WITH x = 1", "nonsense", "", "SELECT", "INSERT INTO é.t (a) VALUES (1)",
	} {
		claims(true, "", text)
	}
	for _, text := range []string{
		"SELECT * FROM system_schema.types", "USE other", "SELECT * FROM " + s.keyspace + ".plain",
		"INSERT INTO system.local (key) VALUES ('x')",
	} {
		claims(false, "", text)
	}
	if !s.router.Claims(syntax.Head{Kind: syntax.StatementBatch, Name: syntax.Name{Name: "t"}}, s.keyspace) {
		t.Error("a batch with a sharded table is not claimed")
	}
}

// TestHalfDone says that a door completes what another left half-done: the physical
// table is there, and its door died before it could say so.
func TestHalfDone(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".other (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	session := catalog.NewSession(s.store)
	defer session.Close()
	c := catalog.New(catalog.Options{Session: session, Now: time.Now, UUID: random})
	physical, err := c.Schema(t.Context(), s.keyspace)
	if err != nil {
		t.Fatal(err)
	}
	died := errors.New("the door has died")
	e := &catalog.Entry{Keyspace: s.keyspace, Table: "t", Physical: "t", Layout: &shard.Layout{N: 3, Column: "shard"}}
	_, err = c.Create(t.Context(), e, physical.Keyspaces[s.keyspace], func(context.Context) error {
		s.must(s.direct, "CREATE TABLE "+s.keyspace+".t (k int, shard int, c int, PRIMARY KEY ((k, shard), c))")
		return died
	})
	if !errors.Is(err, died) {
		t.Fatal(err)
	}
	at := dial(t, serveDoor(t, s.store, startRouter(t, s.store)), primitive.ProtocolVersion5)
	s.must(at, "INSERT INTO "+s.keyspace+".t (k, c) VALUES (1, 2)")
	if got := show(s.query(at, "SELECT * FROM "+s.keyspace+".t WHERE k = 1")); got != "1 | 2\n1 rows\n" {
		t.Error(got)
	}
	if got := show(s.query(s.direct, "SELECT state FROM evenkeel.layouts WHERE keyspace_name = '"+s.keyspace+"' AND table_name = 't'")); got != "active\n1 rows\n" {
		t.Error(got)
	}
}

// recorder is a store that notes the texts of QUERYs by whose link they go over.
type recorder struct {
	store.Store
	mu   sync.Mutex
	text map[bool][]string // by LinkOptions.Own
}

type recordedLink struct {
	store.Forwarder
	r   *recorder
	own bool
}

func (r *recorder) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := r.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &recordedLink{l.(store.Forwarder), r, o.Own}, nil
}

func (l *recordedLink) note(m wire.Message) {
	if m.Op == wire.OpQuery {
		text, _ := wire.QueryText(m.Body)
		l.r.mu.Lock()
		defer l.r.mu.Unlock()
		l.r.text[l.own] = append(l.r.text[l.own], string(text))
	}
}

func (l *recordedLink) Send(ctx context.Context, m wire.Message, reply func(wire.Message)) {
	l.note(m)
	l.Forwarder.Send(ctx, m, reply)
}

func (l *recordedLink) Forward(ctx context.Context, m wire.Message, to store.Receiver, tag uint32) {
	l.note(m)
	l.Forwarder.Forward(ctx, m, to, tag)
}

// TestRights says that physical statements go over the client's link, with its
// rights, and that the door's own account does nothing but keep the catalogue.
func TestRights(t *testing.T) {
	r := &recorder{Store: embedded(t), text: map[bool][]string{}}
	s := newScene(t, r)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, v int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '5'}")
	want := []string{"CREATE TABLE " + s.keyspace + ".t (k int, c int, v int, shard int, PRIMARY KEY ((k, shard), c))"}
	for _, text := range []string{
		"ALTER TABLE %s.t ADD w int", "ALTER TABLE %s.t WITH comment = 'x'", "TRUNCATE %s.t", "CREATE TYPE %s.u (a int)",
		"SELECT keyspace_name, table_name FROM system_schema.tables", "DROP TABLE %s.t", "DROP KEYSPACE %s",
	} {
		text = strings.ReplaceAll(text, "%s", s.keyspace)
		s.must(s.v5, text)
		want = append(want, text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range want {
		if !slices.Contains(r.text[false], text) {
			t.Errorf("not over the client's link: %s\nbut %q", text, r.text[false])
		}
	}
	for _, text := range r.text[true] {
		if !strings.Contains(text, "evenkeel") && !strings.Contains(text, " FROM system") {
			t.Errorf("by the door's own account: %s", text)
		}
	}
	for _, text := range r.text[false] {
		if strings.Contains(text, "evenkeel") {
			t.Errorf("over the client's link: %s", text)
		}
	}
}

// refusing is a store that lets nobody in.
type refusing struct{ store.Store }

func (refusing) Open(context.Context, store.LinkOptions) (store.Link, error) {
	return nil, wire.Errorf(wire.CodeBadCredentials, "no")
}

// TestNoCatalogue says that a door that cannot read the catalogue does not serve.
func TestNoCatalogue(t *testing.T) {
	r := New(Options{Store: refusing{embedded(t)}, Now: time.Now, UUID: random, Timeuuid: random, IntN: mathrand.IntN})
	defer r.Close()
	if err := r.Start(t.Context()); !errors.Is(err, &wire.Error{Code: wire.CodeBadCredentials}) {
		t.Errorf("Start: %v", err)
	}
}

// TestCloseEnds says that nothing of a router is left after Close.
func TestCloseEnds(t *testing.T) {
	st := embedded(t)
	before := goleak.IgnoreCurrent()
	r := New(Options{Store: st, Now: time.Now, UUID: random, Timeuuid: random, IntN: mathrand.IntN})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Close()
	leak.Check(t, before)
}

func TestHideName(t *testing.T) {
	for in, want := range map[string]string{
		"Some partition key parts are missing: shard": "Some partition key parts are missing: write_sharding",
		"shard, then shard.":                          "write_sharding, then write_sharding.",
		"sharded shards my_shard":                     "sharded shards my_shard",
	} {
		if got := request.HideName(in, "shard"); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// TestEstimatesHideTheCatalogue reads how much data tables have, of the catalogue too.
func TestEstimatesHideTheCatalogue(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '3'}")
	for _, table := range []string{"size_estimates", "table_estimates"} {
		of := "SELECT table_name FROM system." + table + " WHERE keyspace_name = "
		if got := s.must(s.direct, of+"'evenkeel'"); len(got.Rows) == 0 {
			t.Fatalf("%s says nothing of the catalogue", table)
		}
		for _, c := range []*difftest.Conn{s.v4, s.v5} {
			if got := s.must(c, of+"'evenkeel'"); len(got.Rows) != 0 {
				t.Errorf("%s shows %d rows of the catalogue", table, len(got.Rows))
			}
			if got := s.must(c, of+"'"+s.keyspace+"'"); len(got.Rows) == 0 {
				t.Errorf("%s says nothing of the client's table", table)
			}
			for _, row := range s.must(c, "SELECT keyspace_name FROM system."+table).Rows {
				if string(row[0]) == "evenkeel" {
					t.Errorf("%s shows the catalogue in a scan", table)
				}
			}
		}
	}
}
