// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// world is a schema to which statements are applied one after another.
type world struct {
	s         *schema.Schema
	ids       byte
	keyspaces bool
}

func newWorld() *world { return &world{s: &schema.Schema{}} }

func (w *world) env() *Env {
	return &Env{Keyspace: "k", Now: 1_000_000, Keyspaces: w.keyspaces, DataCenters: map[string]int{"datacenter1": 1}, TableID: func() (id [16]byte) {
		w.ids++
		id[0], id[6], id[8] = w.ids, 0x10, 0x80
		return id
	}}
}

func (w *world) apply(text string) (*Result, error) {
	stmt, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	r, err := Apply(w.s, stmt, w.env())
	if err == nil {
		w.s = r.Schema
	}
	return r, err
}

// TestApply runs the statements of testdata/apply and prints the result of each. The errors there
// are those of a real Cassandra 5.0.9, except those for unsupported features.
func TestApply(t *testing.T) { runScript(t, "testdata/apply", newWorld()) }

func runScript(t *testing.T, file string, w *world) {
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "shown" {
			return shown(w.s.Table("k", d.CmdArgs[0].Key))
		}
		var out strings.Builder
		for stmt := range strings.SplitSeq(d.Input, ";\n") {
			r, err := w.apply(strings.TrimSuffix(stmt, ";"))
			if err != nil {
				var e *wire.Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: %v is no *wire.Error", stmt, err)
				}
				fmt.Fprintf(&out, "error %04x: %s\n", int32(e.Code), e.Message)
				continue
			}
			for _, warning := range r.Warnings {
				fmt.Fprintf(&out, "warning: %s\n", warning)
			}
			if r.Change == nil {
				out.WriteString("nothing\n")
				continue
			}
			out.WriteString(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Change.Change, r.Change.Target, r.Change.Keyspace, r.Change.Name)) + "\n")
		}
		return out.String()
	})
}

var columnTypes = []string{"int", "text", "frozen<list<int>>", "list<text>", "map<int, frozen<set<text>>>", "u1", "frozen<u1>",
	"vector<float, 3>", "tuple<int, text>", "duration", "counter", "timeuuid", "nosuch", "frozen<nosuch>", "list<u1>"}

// statement draws a DDL statement, valid or invalid.
func statement(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	table, typ, col := pick("table", "t1", "t2"), pick("type", "u1", "u2"), pick("column", "a", "b", "c", "\"D\"", "e")
	of := rapid.SampledFrom(columnTypes).Draw(t, "of")
	switch pick("verb", "table", "table2", "type", "add", "addstatic", "drop", "rename", "options", "droptable", "droptype", "addfield", "renamefield") {
	case "table":
		return fmt.Sprintf("CREATE TABLE %s (a int, b %s, c text, d %s static, e %s, PRIMARY KEY (a, c)) WITH CLUSTERING ORDER BY (c %s)",
			table, of, rapid.SampledFrom(columnTypes).Draw(t, "static"), rapid.SampledFrom(columnTypes).Draw(t, "last"), pick("order", "ASC", "DESC"))
	case "table2":
		return fmt.Sprintf("CREATE TABLE %s (a int, b %s, c text, PRIMARY KEY ((a, b)))", table, of)
	case "type":
		return fmt.Sprintf("CREATE TYPE %s (a int, b %s)", typ, of)
	case "add":
		return fmt.Sprintf("ALTER TABLE %s ADD %s %s", table, col, of)
	case "addstatic":
		return fmt.Sprintf("ALTER TABLE %s ADD %s %s static", table, col, of)
	case "drop":
		return fmt.Sprintf("ALTER TABLE %s DROP %s", table, col)
	case "rename":
		return fmt.Sprintf("ALTER TABLE %s RENAME %s TO %s", table, col, pick("to", "a", "x", "y"))
	case "options":
		return fmt.Sprintf("ALTER TABLE %s WITH %s", table, pick("option", "comment = 'it''s'", "gc_grace_seconds = 5", "default_time_to_live = 9",
			"caching = {'keys': 'NONE'}", "custom_properties = {'capacity_mode': {'throughput_mode': 'PROVISIONED', 'read_capacity_units': 7, 'write_capacity_units': 8}}",
			"custom_properties = {'capacity_mode': {'throughput_mode': 'PAY_PER_REQUEST'}}", "custom_properties = {'ttl': {'status': 'enabled'}}", "compaction = {'class': 'LeveledCompactionStrategy'}", "compression = {}", "crc_check_chance = 3"))
	case "droptable":
		return "DROP TABLE " + table
	case "droptype":
		return "DROP TYPE " + typ
	case "addfield": // of one cell: with other types, a table that uses the type could not be created again
		return fmt.Sprintf("ALTER TYPE %s ADD %s %s", typ, col, pick("field", "int", "frozen<list<int>>", "frozen<u1>", "nosuch", "counter"))
	}
	return fmt.Sprintf("ALTER TYPE %s RENAME a TO %s", typ, pick("field", "x", "y"))
}

// TestApplyLaws applies random histories. No statement may change the schema that it is given. An
// error must change nothing. The statements that DESCRIBE returns must create the same schema
// again.
func TestApplyLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		w.keyspaces = rapid.Bool().Draw(t, "keyspaces")
		if _, err := w.apply("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 25).Draw(t, "statements") {
			stmt := statement(t)
			before, text := w.s, render(w.s)
			_, err := w.apply(stmt)
			if render(before) != text {
				t.Fatalf("%s changed the schema it was given", stmt)
			}
			var e *wire.Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%s: %v is no *wire.Error", stmt, err)
			}
		}
		again := newWorld()
		again.keyspaces = w.keyspaces
		for _, stmt := range statements(w.s) {
			if _, err := again.apply(strings.TrimSuffix(stmt, ";")); err != nil {
				t.Fatalf("%s: %v", stmt, err)
			}
		}
		if got, want := render(again.s), render(w.s); got != want {
			t.Fatalf("described and made again:\n%s\nwas:\n%s", got, want)
		}
		for name, table := range w.s.Keyspaces["k"].Tables {
			if n := again.s.Table("k", name); !reflect.DeepEqual(declared(n.Options), declared(table.Options)) {
				t.Fatalf("options of %s: %v, were %v", name, n.Options, table.Options)
			}
		}
	})
}

// statements returns the statements that create the schema again, with ids and dropped columns.
func statements(s *schema.Schema) []string {
	a, err := describe.Statement(&syntax.Describe{What: "SCHEMA", Internals: true}, s,
		&describe.Env{System: func(string) bool { return false }, Virtual: func(string) bool { return false }})
	if err != nil {
		panic(err)
	}
	var all []string
	for _, row := range a.Rows {
		all = append(all, slices.DeleteFunc(strings.SplitAfter(string(row[3]), ";\n"), func(s string) bool { return s == "" })...)
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func render(s *schema.Schema) string { return strings.Join(statements(s), "\n") }
