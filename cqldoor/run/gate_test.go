// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// gated are statements of every class on what is in a keyspace. ks0 stands for the one
// that they name, ks1 for another, in which there is a table t.
var gated = []string{
	"SELECT * FROM ks0.layouts",
	"SELECT JSON DISTINCT keyspace_name FROM ks0.layouts",
	"INSERT INTO ks0.layouts (keyspace_name, table_name, state) VALUES ('a', 'b', 'active')",
	"INSERT INTO ks0.layouts (keyspace_name, table_name) VALUES ('a', 'b') IF NOT EXISTS",
	`INSERT INTO ks0.layouts JSON '{"keyspace_name": "a", "table_name": "b"}'`,
	"UPDATE ks0.layouts SET state = 'dropping' WHERE keyspace_name = 'a' AND table_name = 'b'",
	"DELETE FROM ks0.layouts WHERE keyspace_name = 'a' AND table_name = 'b'",
	"DELETE state FROM ks0.layouts WHERE keyspace_name = 'a' AND table_name = 'b' IF EXISTS",
	"BEGIN BATCH INSERT INTO ks0.layouts (keyspace_name, table_name) VALUES ('a', 'b'); APPLY BATCH",
	"BEGIN UNLOGGED BATCH INSERT INTO ks1.t (k) VALUES (1); DELETE FROM ks0.layouts WHERE keyspace_name = 'a' AND table_name = 'b'; APPLY BATCH",
	"BEGIN COUNTER BATCH UPDATE ks0.layouts SET shards = shards + 1 WHERE keyspace_name = 'a' AND table_name = 'b'; APPLY BATCH",
	"TRUNCATE ks0.layouts",
	"TRUNCATE TABLE ks0.layouts",
	"USE ks0",

	"CREATE KEYSPACE ks0 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE KEYSPACE IF NOT EXISTS ks0 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"ALTER KEYSPACE ks0 WITH durable_writes = false",
	"ALTER KEYSPACE IF EXISTS ks0 WITH durable_writes = false",
	"DROP KEYSPACE ks0",
	"DROP KEYSPACE IF EXISTS ks0",

	"CREATE TABLE ks0.t (k int PRIMARY KEY)",
	"CREATE TABLE IF NOT EXISTS ks0.t (k int PRIMARY KEY)",
	"CREATE TABLE ks0.t (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}",
	"CREATE TABLE ks1.u (k int PRIMARY KEY, v frozen<ks0.ty>)",
	"ALTER TABLE ks0.layouts ADD x int",
	"ALTER TABLE ks0.layouts DROP state",
	"ALTER TABLE ks0.layouts WITH comment = 'x'",
	"ALTER TABLE ks0.layouts RENAME table_name TO name",
	"ALTER TABLE IF EXISTS ks0.layouts ADD x int",
	"ALTER TABLE ks1.t ADD x frozen<ks0.ty>",
	"DROP TABLE ks0.layouts",
	"DROP TABLE IF EXISTS ks0.layouts",

	"CREATE TYPE ks0.ty (a int)",
	"CREATE TYPE IF NOT EXISTS ks0.ty (a int)",
	"CREATE TYPE ks1.ty (a frozen<ks0.ty>)",
	"ALTER TYPE ks0.ty ADD b int",
	"ALTER TYPE ks0.ty RENAME a TO b",
	"ALTER TYPE IF EXISTS ks0.ty ADD b int",
	"DROP TYPE ks0.ty",
	"DROP TYPE IF EXISTS ks0.ty",

	"CREATE INDEX ON ks0.layouts (state)",
	"CREATE INDEX IF NOT EXISTS i ON ks0.layouts (keys(state))",
	"CREATE CUSTOM INDEX ON ks0.layouts (state) USING 'StorageAttachedIndex'",
	"DROP INDEX ks0.i",
	"DROP INDEX IF EXISTS ks0.i",
	"CREATE MATERIALIZED VIEW ks0.v AS SELECT * FROM ks0.layouts WHERE keyspace_name IS NOT NULL AND table_name IS NOT NULL PRIMARY KEY (keyspace_name, table_name)",
	"CREATE MATERIALIZED VIEW IF NOT EXISTS ks0.v AS SELECT * FROM ks0.layouts WHERE keyspace_name IS NOT NULL AND table_name IS NOT NULL PRIMARY KEY (keyspace_name, table_name)",
	"CREATE MATERIALIZED VIEW ks1.v AS SELECT * FROM ks0.layouts WHERE keyspace_name IS NOT NULL AND table_name IS NOT NULL PRIMARY KEY (keyspace_name, table_name)",
	"CREATE MATERIALIZED VIEW ks0.v AS SELECT * FROM ks1.t WHERE k IS NOT NULL PRIMARY KEY (k)",
	"ALTER MATERIALIZED VIEW ks0.v WITH comment = 'x'",
	"ALTER MATERIALIZED VIEW IF EXISTS ks0.v WITH comment = 'x'",
	"DROP MATERIALIZED VIEW ks0.v",
	"DROP MATERIALIZED VIEW IF EXISTS ks0.v",

	"CREATE FUNCTION ks0.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
	"CREATE OR REPLACE FUNCTION ks0.f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
	"CREATE FUNCTION IF NOT EXISTS ks0.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
	"CREATE FUNCTION ks1.f (a ks0.ty) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
	"DROP FUNCTION ks0.f",
	"DROP FUNCTION ks0.f (int)",
	"DROP FUNCTION IF EXISTS ks0.f",
	"CREATE AGGREGATE ks0.g (int) SFUNC f STYPE int INITCOND 0",
	"CREATE OR REPLACE AGGREGATE ks0.g (int) SFUNC f STYPE int FINALFUNC f",
	"DROP AGGREGATE ks0.g",
	"DROP AGGREGATE ks0.g (int)",
	"DROP AGGREGATE IF EXISTS ks0.g",
	"CREATE TRIGGER x ON ks0.layouts USING 'a.b.C'",
	"CREATE TRIGGER IF NOT EXISTS x ON ks0.layouts USING 'a.b.C'",
	"DROP TRIGGER x ON ks0.layouts",
	"DROP TRIGGER IF EXISTS x ON ks0.layouts",

	"GRANT SELECT ON KEYSPACE ks0 TO cassandra",
	"GRANT MODIFY ON ks0.layouts TO cassandra",
	"GRANT ALL PERMISSIONS ON TABLE ks0.layouts TO cassandra",
	"GRANT MODIFY ON ALL TABLES IN KEYSPACE ks0 TO cassandra",
	"GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE ks0 TO cassandra",
	"GRANT EXECUTE ON FUNCTION ks0.f(int) TO cassandra",
	"REVOKE SELECT ON KEYSPACE ks0 FROM cassandra",
	"REVOKE MODIFY ON ks0.layouts FROM cassandra",
	"REVOKE MODIFY ON ALL TABLES IN KEYSPACE ks0 FROM cassandra",
	"REVOKE EXECUTE ON ALL FUNCTIONS IN KEYSPACE ks0 FROM cassandra",
	"REVOKE EXECUTE ON FUNCTION ks0.f(int) FROM cassandra",
	"LIST ALL PERMISSIONS ON KEYSPACE ks0",
	"LIST SELECT ON ks0.layouts OF cassandra",
	"LIST ALL ON ALL TABLES IN KEYSPACE ks0",
	"LIST ALL PERMISSIONS ON ALL FUNCTIONS IN KEYSPACE ks0",
	"LIST EXECUTE ON FUNCTION ks0.f(int)",

	"DESCRIBE KEYSPACE ks0",
	"DESCRIBE ONLY KEYSPACE ks0",
	"DESC KEYSPACE ks0 WITH INTERNALS",
	"DESCRIBE TABLE ks0.layouts",
	"DESCRIBE INDEX ks0.i",
	"DESCRIBE MATERIALIZED VIEW ks0.v",
	"DESCRIBE TYPE ks0.ty",
	"DESCRIBE FUNCTION ks0.f",
	"DESCRIBE AGGREGATE ks0.g",
	"DESCRIBE ks0.layouts",
	"DESCRIBE ks0",
}

// ungated are the classes of statements that name nothing which is in a keyspace.
var ungated = []string{
	"CREATE ROLE x", "ALTER ROLE x WITH LOGIN = true", "ALTER ROLE IF EXISTS x WITH LOGIN = true", "DROP ROLE x", "DROP ROLE IF EXISTS x",
	"CREATE USER x", "ALTER USER x NOSUPERUSER", "ALTER USER IF EXISTS x NOSUPERUSER", "DROP USER x", "DROP USER IF EXISTS x",
	"ADD IDENTITY 'x' TO ROLE 'y'", "DROP IDENTITY 'x'", "DROP IDENTITY IF EXISTS 'x'",
	"GRANT x TO y", "REVOKE x FROM y", "LIST ROLES", "LIST USERS", "LIST ALL",
	"GRANT SELECT ON ALL KEYSPACES TO x", "REVOKE SELECT ON ALL KEYSPACES FROM x",
	"DESCRIBE CLUSTER", "DESCRIBE SCHEMA", "DESCRIBE FULL SCHEMA", "DESCRIBE KEYSPACES", "DESCRIBE TABLES", "DESCRIBE TYPES",
	"DESCRIBE FUNCTIONS", "DESCRIBE AGGREGATES",
}

// shapeOf is the class of a statement: its type, and what else tells statements apart
// by what they do.
func shapeOf(s syntax.Statement) string {
	switch s := s.(type) {
	case *syntax.Drop:
		return fmt.Sprintf("%T %s %v", s, s.Kind, s.IfExists)
	case *syntax.Describe:
		return fmt.Sprintf("%T %s", s, s.What)
	case *syntax.Other:
		return fmt.Sprintf("%T %s %s %s %v", s, s.Verb, s.Object, s.OnKind, s.IfExists)
	}
	return fmt.Sprintf("%T", s)
}

// TestEveryClassIsGated holds the list of gated statements to the grammar: every type
// of statement there is, and every class that the parser's own tests have.
func TestEveryClassIsGated(t *testing.T) {
	have := map[string]bool{}
	types := map[string]bool{}
	for _, text := range append(slices.Clone(gated), ungated...) {
		tree, err := syntax.Parse(inNames(text, "ks", "here"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		have[shapeOf(tree)] = true
		types[reflect.TypeOf(tree).Elem().Name()] = true
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../cql/syntax/ast.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "statement" {
			continue
		}
		n++
		name := f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
		if !types[name] {
			t.Errorf("nothing says what the gate does with %s", name)
		}
	}
	if n < 18 {
		t.Errorf("%d types of statements", n)
	}
	lines, err := os.ReadFile("../../cql/syntax/testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		tree, err := syntax.Parse(strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n"))
		if err == nil && !have[shapeOf(tree)] {
			t.Errorf("nothing says what the gate does with a %s, such as %s", shapeOf(tree), line)
		}
	}
}

// inNames is a gated statement with its names.
func inNames(text, keyspace, here string) string {
	return strings.NewReplacer("ks0", keyspace, "ks1", here).Replace(text)
}

// overheard is a store that keeps what is sent to it for clients.
type overheard struct {
	store.Store
	mu   sync.Mutex
	sent []string
}

func (o *overheard) MaxVersion(ctx context.Context) (wire.Version, error) {
	return o.Store.(store.Versioned).MaxVersion(ctx)
}

func (o *overheard) Open(ctx context.Context, lo store.LinkOptions) (store.Link, error) {
	l, err := o.Store.Open(ctx, lo)
	if err != nil || lo.Own {
		return l, err
	}
	o.hear("USE " + lo.Keyspace)
	return &overheardLink{l.(store.Forwarder), o, lo.Version}, nil
}

func (o *overheard) hear(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, text)
}

// take gives what was sent since it was last asked.
func (o *overheard) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.sent
	o.sent = nil
	return sent
}

type overheardLink struct {
	store.Forwarder
	o       *overheard
	version wire.Version
}

func (l *overheardLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	l.o.hear(textsOf(l.version, req))
	l.Forwarder.Send(ctx, req, reply)
}

func (l *overheardLink) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	l.o.hear(textsOf(l.version, req))
	l.Forwarder.Forward(ctx, req, to, tag)
}

// textsOf are the texts and keyspaces of a message to the store.
func textsOf(v wire.Version, m wire.Message) string {
	_, body, err := wire.SplitPrefix(m.Op, m.Flags, m.Body)
	if err != nil {
		return err.Error()
	}
	switch m.Op {
	case wire.OpQuery:
		q, err := wire.ParseQuery(v, body)
		return fmt.Sprintf("%s: %s /* keyspace %s */ %v", m.Op, q.Text, q.Params.Keyspace, err)
	case wire.OpPrepare:
		p, err := wire.ParsePrepare(v, body)
		return fmt.Sprintf("%s: %s /* keyspace %s */ %v", m.Op, p.Text, p.Keyspace, err)
	case wire.OpBatch:
		b, err := wire.ParseBatch(v, body)
		text := fmt.Sprintf("%s: /* keyspace %s */ %v", m.Op, b.Params.Keyspace, err)
		for it := b.Iter(); it.Next(); {
			if it.Prepared {
				text += fmt.Sprintf(" %x;", it.ID)
			} else {
				text += " " + string(it.Text) + ";"
			}
		}
		return text
	case wire.OpExecute:
		id, err := wire.ExecuteID(body)
		return fmt.Sprintf("%s: %x %v", m.Op, id, err)
	}
	return m.Op.String()
}

var spoken = regexp.MustCompile(`(?i)"?\bevenkeel\b"?`)

// spellings are the names of one keyspace.
var spellings = []string{"evenkeel", `"evenkeel"`, "EvenKeel", "EVENKEEL", "evenkeel/* . */", "evenkeel -- .\n", "evenkeel\t\n"}

// gate is a door with clients, over a store that is overheard.
type gate struct {
	*scene
	heard *overheard
}

func newGate(t *testing.T, st store.Store) *gate {
	heard := &overheard{Store: st}
	g := &gate{newScene(t, heard), heard}
	g.must(g.v5, "CREATE TABLE "+g.keyspace+".t (k int PRIMARY KEY)")
	g.must(g.v5, "CREATE TABLE "+g.keyspace+".sharded (k int, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '4'}")
	return g
}

// shut fails if anything was sent that names the catalogue.
func (g *gate) shut(what string) {
	g.t.Helper()
	for _, text := range g.heard.take() {
		if spoken.MatchString(text) {
			g.t.Errorf("%s: the store was sent %s", what, text)
		}
	}
}

// inside is what the store has in the catalogue's keyspace.
func (g *gate) inside() string {
	g.t.Helper()
	var b strings.Builder
	for _, text := range []string{
		"SELECT * FROM evenkeel.layouts",
		"SELECT * FROM system_schema.keyspaces WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.tables WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.columns WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.types WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.views WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.indexes WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.functions WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.aggregates WHERE keyspace_name = 'evenkeel'",
		"SELECT * FROM system_schema.triggers WHERE keyspace_name = 'evenkeel'",
	} {
		for _, row := range g.must(g.direct, text).Rows {
			if !strings.Contains(text, "layouts") || bytes.Contains(bytes.Join(row, nil), []byte(g.keyspace)) || bytes.Equal(row[0], []byte("a")) {
				fmt.Fprintf(&b, "%q\n", row)
			}
		}
	}
	g.heard.take()
	return b.String()
}

// ways are how a statement comes to the door.
func (g *gate) ways(text string) map[string]func() *difftest.Answer {
	do := func(a *difftest.Answer, err error) *difftest.Answer {
		g.t.Helper()
		if err != nil {
			g.t.Fatalf("%s: %v", text, err)
		}
		return a
	}
	prepared := func(c *difftest.Conn) *difftest.Answer {
		p := do(c.Prepare(text))
		if p.Kind == difftest.Error {
			return p
		}
		return do(c.Execute(p, difftest.Request{}))
	}
	ways := map[string]func() *difftest.Answer{
		"QUERY v4": func() *difftest.Answer { return do(g.v4.Query(difftest.Request{Query: text})) },
		"QUERY v5": func() *difftest.Answer { return do(g.v5.Query(difftest.Request{Query: text})) },
		"EXECUTE":  func() *difftest.Answer { return prepared(g.v5) },
	}
	if !strings.HasPrefix(text, "USE") {
		ways["BATCH"] = func() *difftest.Answer {
			return do(g.v5.Batch(&message.Batch{Children: []*message.BatchChild{
				{Query: "INSERT INTO " + g.keyspace + ".t (k) VALUES (1)"}, {Query: text}}}))
		}
		ways["BATCH with a sharded table"] = func() *difftest.Answer {
			return do(g.v4.Batch(&message.Batch{Children: []*message.BatchChild{
				{Query: text}, {Query: "INSERT INTO " + g.keyspace + ".sharded (k, c) VALUES (1, 1)"}}}))
		}
	}
	return ways
}

// TestGate sends statements of every class on the catalogue's keyspace, spelled in
// every way and in every message: none of them reaches the store, and each is answered
// as Cassandra does where there is no such keyspace.
func TestGate(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		g := newGate(t, st)
		before := g.inside()
		for i, text := range gated {
			expected := g.query(g.direct, inNames(text, "no_such_keyspace", g.keyspace))
			want := show(expected)
			g.heard.take()
			for j, spelling := range spellings {
				if j > 1 && (i+j)%len(spellings) > 2 {
					continue // each with some of them
				}
				for way, ask := range g.ways(inNames(text, spelling, g.keyspace)) {
					a := ask()
					g.shut(way + " " + inNames(text, spelling, g.keyspace))
					got := strings.ReplaceAll(show(a), "evenkeel", "no_such_keyspace")
					switch {
					case strings.HasPrefix(way, "BATCH"):
						if a.Kind != difftest.Error {
							t.Errorf("%s %s: %s", way, text, got)
						}
					case t.Name() != "TestGate/cassandra" && strings.Contains(want, "not supported by the embedded engine"):
						if a.Kind != difftest.Error && !strings.Contains(text, "IF EXISTS") {
							t.Errorf("%s %s: %s", way, text, got)
						}
					case strings.Contains(got, "is reserved"):
						if !strings.Contains(text, " KEYSPACE") {
							t.Errorf("%s %s: %s", way, text, got)
						}
					case way == "EXECUTE" && strings.HasPrefix(text, "USE"):
						if a.Kind != difftest.Error {
							t.Errorf("%s %s: %s", way, text, got)
						}
					case got != want:
						t.Errorf("%s %s:\ngot  %s\nwant %s", way, inNames(text, spelling, g.keyspace), got, want)
					}
				}
			}
		}
		if after := g.inside(); after != before {
			t.Errorf("the catalogue was\n%s\nand is\n%s", before, after)
		}
	})
}

// TestGateOfKeyspaces names the catalogue's keyspace beside the text: in the message,
// or by USE.
func TestGateOfKeyspaces(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		g := newGate(t, st)
		before := g.inside()
		check := func(what string, a *difftest.Answer, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if a.Kind != difftest.Error || a.Code != primitive.ErrorCodeInvalid || a.Text != "Keyspace 'evenkeel' does not exist" {
				t.Errorf("%s: %s", what, show(a))
			}
			g.shut(what)
		}
		texts := append(slices.Clone(ungated), "SELECT * FROM "+g.keyspace+".t", "SELECT * FROM system.local", "nonsense")
		for _, text := range gated {
			if !strings.HasPrefix(text, "USE") {
				texts = append(texts, strings.ReplaceAll(inNames(text, "ks0", g.keyspace), "ks0.", ""), inNames(text, g.keyspace, g.keyspace))
			}
		}
		for _, text := range texts {
			options := &message.QueryOptions{Keyspace: "evenkeel", Consistency: primitive.ConsistencyLevelOne}
			a, err := g.v5.Send(&message.Query{Query: text, Options: options})
			check("QUERY "+text, a, err)
			a, err = g.v5.Send(&message.Prepare{Query: text, Keyspace: "evenkeel"})
			check("PREPARE "+text, a, err)
			a, err = g.v5.Batch(&message.Batch{Keyspace: "evenkeel", Children: []*message.BatchChild{{Query: text}}})
			check("BATCH "+text, a, err)
		}
		for _, text := range []string{"USE evenkeel", `USE "evenkeel"`, "use EVENKEEL;", "USE /* app */ evenkeel", "USE evenkeel evenkeel"} {
			for _, c := range []*difftest.Conn{g.v4, g.v5} {
				a, err := c.Query(difftest.Request{Query: text})
				if strings.HasSuffix(text, "l evenkeel") {
					if err != nil || a.Kind != difftest.Error {
						t.Errorf("%s: %s", text, show(a))
					}
					g.shut(text)
					continue
				}
				check(text, a, err)
			}
		}
		if after := g.inside(); after != before {
			t.Errorf("the catalogue was\n%s\nand is\n%s", before, after)
		}
	})
}

// TestGateIsNotTooNarrow says that what only looks like the catalogue's keyspace is the
// store's.
func TestGateIsNotTooNarrow(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		g := newGate(t, st)
		ks := g.keyspace
		g.must(g.v5, "CREATE TABLE "+ks+".evenkeel (k int PRIMARY KEY, evenkeel text)")
		g.must(g.v5, "INSERT INTO "+ks+".evenkeel (k, evenkeel) VALUES (1, 'evenkeel.layouts')")
		g.must(g.v5, "USE "+ks)
		g.must(g.v5, "SELECT evenkeel FROM evenkeel")
		if a := g.must(g.v5, "BEGIN BATCH INSERT INTO evenkeel (k, evenkeel) VALUES (2, 'KEYSPACE evenkeel'); APPLY BATCH"); a.Kind != difftest.Void {
			t.Error(show(a))
		}
		if a := g.must(g.v5, "SELECT * FROM "+ks+".evenkeel"); len(a.Rows) != 2 {
			t.Error(show(a))
		}
		// Of what the store refuses it says why.
		for _, text := range []string{
			`SELECT * FROM "Evenkeel".layouts`, `DROP TABLE "EVENKEEL".layouts`, "SELECT * FROM evenkeel2.layouts", "GRANT SELECT ON KEYSPACE evenkeel2 TO evenkeel",
			"CREATE ROLE evenkeel WITH PASSWORD = 'evenkeel.layouts'", "GRANT evenkeel TO cassandra", "LIST ALL PERMISSIONS OF evenkeel",
			"nonsense", "evenkeel", "COMMENT ON KEYSPACE other IS 'evenkeel.x'",
		} {
			want, got := g.query(g.direct, text), g.query(g.v5, text)
			if show(got) != show(want) {
				t.Errorf("%s:\ngot  %s\nwant %s", text, show(got), show(want))
			}
		}
		g.heard.take()
		// What no parser of ours takes is not passed on where it names the catalogue.
		for _, text := range []string{
			"CREATE TABLE " + ks + ".x LIKE evenkeel.layouts", "RESTORE TABLE " + ks + ".x FROM TABLE evenkeel.layouts", "COMMENT ON KEYSPACE evenkeel IS 'x'",
			"SELECT * FROM evenkeel.layouts $", "PRUNE MATERIALIZED VIEW evenkeel.layouts", "DROP TABLE evenkeel.layouts nonsense", "evenkeel.layouts",
		} {
			if a := g.query(g.v5, text); a.Kind != difftest.Error {
				t.Errorf("%s: %s", text, show(a))
			}
			g.shut(text)
		}
		g.must(g.v5, "DROP TABLE "+ks+".evenkeel")
	})
}

// TestUnservedTables has an entry of the catalogue that this door can do nothing with:
// neither of its names is served as a plain table.
func TestUnservedTables(t *testing.T) {
	g := newGate(t, embedded(t))
	ks := g.keyspace
	g.must(g.direct, "CREATE TABLE "+ks+".physical (k int, shard int, c int, PRIMARY KEY ((k, shard), c))")
	id := g.must(g.direct, "SELECT id FROM system_schema.tables WHERE keyspace_name = '"+ks+"' AND table_name = 'physical'").Rows[0][0]
	g.must(g.direct, fmt.Sprintf("INSERT INTO evenkeel.layouts (keyspace_name, table_name, physical_name, table_id, state, strategy, shards, \"column\") "+
		"VALUES ('%s', 'logical', 'physical', %x-%x-%x-%x-%x, 'active', 'format 9: what comes later', 4, 'shard')", ks, id[:4], id[4:6], id[6:8], id[8:10], id[10:]))
	if err := g.router.schema.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"logical", "physical"} {
		for _, format := range []string{
			"SELECT * FROM %s", "INSERT INTO %s (k, shard, c) VALUES (1, 1, 1)", "UPDATE %s SET c = 1 WHERE k = 1", "DELETE FROM %s WHERE k = 1 AND shard = 1",
			"TRUNCATE %s", "BEGIN BATCH INSERT INTO %s (k, shard, c) VALUES (1, 1, 1); APPLY BATCH",
		} {
			for way, ask := range g.ways(fmt.Sprintf(format, ks+"."+table)) {
				if a := ask(); a.Kind != difftest.Error {
					t.Errorf("%s "+format+": %s", way, table, show(a))
				}
			}
		}
	}
	if a := g.must(g.direct, "SELECT * FROM "+ks+".physical"); len(a.Rows) != 0 {
		t.Errorf("%q", a.Rows)
	}
}
