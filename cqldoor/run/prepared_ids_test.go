// SPDX-License-Identifier: Apache-2.0

package run

import (
	"crypto/md5"
	"fmt"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// guessed is a prepared statement by the id that Cassandra gives to a text.
func guessed(keyspace, text string) *difftest.Answer {
	id := md5.Sum([]byte(keyspace + text))
	return &difftest.Answer{Kind: difftest.Prepared, ID: id[:], MetadataID: make([]byte, 16)}
}

func int32s(values ...int32) (out []*primitive.Value) {
	for _, v := range values {
		out = append(out, primitive.NewValue([]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}))
	}
	return out
}

// TestGuessedIDs executes ids that nobody has prepared through the door: of the door's
// own statements, of what was prepared past the door, of the catalogue's.
func TestGuessedIDs(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		g := newGate(t, st)
		ks := g.keyspace
		// The door prepares physical statements of its own.
		p, err := g.v5.Prepare("INSERT INTO " + ks + ".sharded (k, c) VALUES (?, ?)")
		if err != nil || p.Kind != difftest.Prepared {
			t.Fatalf("%v %+v", err, p)
		}
		if a, err := g.v5.Execute(p, difftest.Request{Values: int32s(1, 1)}); err != nil || a.Kind != difftest.Void {
			t.Fatalf("%v %+v", err, a)
		}
		var physical []string
		for _, text := range g.heard.take() {
			if _, of, ok := strings.Cut(text, "PREPARE: "); ok {
				of, _, _ = strings.Cut(of, " /* keyspace")
				physical = append(physical, of)
			}
		}
		if len(physical) == 0 || !strings.Contains(fmt.Sprint(physical), "shard") {
			t.Fatalf("the door has prepared %q", physical)
		}
		var past []string
		for _, text := range []string{
			"INSERT INTO " + ks + ".sharded (k, shard, c) VALUES (?, 3, ?)", "SELECT * FROM " + ks + ".sharded",
			"DELETE FROM evenkeel.layouts WHERE keyspace_name = 'a' AND table_name = 'b'", "INSERT INTO " + ks + ".t (k) VALUES (7)",
		} {
			if p, err := g.direct.Prepare(text); err != nil || p.Kind != difftest.Prepared {
				t.Fatalf("%s: %v %+v", text, err, p)
			}
			past = append(past, text)
		}
		for _, text := range append(physical, past...) {
			for _, keyspace := range []string{"", ks} {
				p := guessed(keyspace, text)
				for _, c := range []*difftest.Conn{g.v4, g.v5} {
					a, err := c.Execute(p, difftest.Request{Values: int32s(5, 5, 5)[:strings.Count(text, "?")]})
					if err != nil || a.Code != primitive.ErrorCodeUnprepared {
						t.Errorf("EXECUTE %s: %v %s", text, err, show(a))
					}
					for _, beside := range []string{"", "t", "sharded"} {
						b := &message.Batch{Children: []*message.BatchChild{{Id: p.ID, Values: int32s(5, 5, 5)[:strings.Count(text, "?")]}}}
						switch beside {
						case "t":
							b.Children = append(b.Children, &message.BatchChild{Query: "INSERT INTO " + ks + ".t (k) VALUES (1)"})
						case "sharded":
							b.Children = append(b.Children, &message.BatchChild{Query: "INSERT INTO " + ks + ".sharded (k, c) VALUES (1, 1)"})
						}
						if a, err = c.Batch(b); err != nil || a.Code != primitive.ErrorCodeUnprepared {
							t.Errorf("BATCH %s, %s: %v %s", text, beside, err, show(a))
						}
					}
				}
			}
		}
		if a := g.must(g.direct, "SELECT k FROM "+ks+".sharded"); len(a.Rows) != 1 {
			t.Errorf("%d rows are there", len(a.Rows))
		}
		// What a client prepares any client executes, on any connection.
		for _, text := range []string{"INSERT INTO " + ks + ".t (k) VALUES (7)", "SELECT k FROM " + ks + ".t", "INSERT INTO " + ks + ".sharded (k, c) VALUES (9, 9)",
			"SELECT key FROM system.local", "SELECT keyspace_name FROM system_schema.keyspaces", "CREATE TABLE IF NOT EXISTS " + ks + ".t (k int PRIMARY KEY)"} {
			p, err := g.v5.Prepare(text)
			if err != nil || p.Kind != difftest.Prepared {
				t.Fatalf("%s: %v %+v", text, err, p)
			}
			if want := guessed("", text); string(p.ID) != string(want.ID) {
				t.Errorf("%s has the id %x, and not Cassandra's", text, p.ID)
			}
			for _, c := range []*difftest.Conn{g.v4, g.v5} {
				if a, err := c.Execute(p, difftest.Request{}); err != nil || a.Kind == difftest.Error {
					t.Errorf("%s: %v %s", text, err, show(a))
				}
			}
			// At another door it is prepared again.
			other := dial(t, serveDoor(t, g.store, startRouter(t, g.store)), primitive.ProtocolVersion5)
			if a, err := other.Execute(p, difftest.Request{}); err != nil || a.Code != primitive.ErrorCodeUnprepared {
				t.Errorf("%s at another door: %v %s", text, err, show(a))
			}
			again, err := other.Prepare(text)
			if err != nil || string(again.ID) != string(p.ID) {
				t.Errorf("%s has the id %x here and %x there", text, p.ID, again.ID)
			}
			if a, err := other.Execute(p, difftest.Request{}); err != nil || a.Kind == difftest.Error {
				t.Errorf("%s at another door: %v %s", text, err, show(a))
			}
		}
	})
}

// TestIDsOutliveTheirTable drops a table and creates it again, plain and sharded in turn. A
// prepared statement must then be UNPREPARED, get the same id when a client prepares it again, and
// work on the new table.
func TestIDsOutliveTheirTable(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		table := s.keyspace + ".x"
		create := "CREATE TABLE " + table + " (k int, c int, shard int, PRIMARY KEY (k, c))"
		const layout = " WITH write_sharding = {'shards': '4', 'column': 's'}"
		texts := []string{"INSERT INTO " + table + " (k, c, shard) VALUES (?, ?, 1)", "SELECT * FROM " + table + " WHERE k = ?", "SELECT * FROM " + table,
			"SELECT c FROM " + table + " WHERE k = ? AND c = ?"}
		ids := map[string]*difftest.Answer{}
		for round := range 4 {
			if round > 0 {
				s.must(s.v5, "DROP TABLE "+table)
			}
			s.must(s.v5, create+[]string{"", layout}[round%2])
			for _, text := range texts {
				values := int32s(int32(round), 5)[:strings.Count(text, "?")]
				if p := ids[text]; p != nil {
					if a, err := s.v5.Execute(p, difftest.Request{Values: values}); err != nil || a.Code != primitive.ErrorCodeUnprepared {
						t.Errorf("round %d, %s: %v %s", round, text, err, show(a))
					}
				}
				p, err := s.v5.Prepare(text)
				if err != nil || p.Kind != difftest.Prepared || ids[text] != nil && string(p.ID) != string(ids[text].ID) {
					t.Fatalf("round %d, %s: %v %+v", round, text, err, p)
				}
				ids[text] = p
				a, err := s.v5.Execute(p, difftest.Request{Values: values})
				if err != nil || a.Kind == difftest.Error || a.Kind == difftest.Rows && len(a.Rows) != 1 {
					t.Errorf("round %d, %s: %v %s", round, text, err, show(a))
				}
			}
		}
		s.must(s.v5, "DROP TABLE "+table)
	})
}

// TestAlteredIsUnprepared says that statements are prepared again after their table was
// altered, sharded or not, whatever the version of the protocol.
func TestAlteredIsUnprepared(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		layouts := map[string]string{"plain": "", "sharded": " WITH write_sharding = {'shards': '4'}"}
		if t.Name() == "TestAlteredIsUnprepared/engine" {
			delete(layouts, "plain") // the engine tells of the new columns beside the rows
		}
		for name, layout := range layouts {
			for _, c := range []*difftest.Conn{s.v4, s.v5} {
				table := s.keyspace + "." + name
				s.must(c, "CREATE TABLE "+table+" (k int, c int, PRIMARY KEY (k, c))"+layout)
				s.must(c, "INSERT INTO "+table+" (k, c) VALUES (1, 1)")
				for _, text := range []string{"SELECT * FROM " + table + " WHERE k = 1", "SELECT * FROM " + table + " WHERE k = 1 AND c = 1", "SELECT * FROM " + table} {
					p, err := c.Prepare(text)
					if err != nil || p.Kind != difftest.Prepared {
						t.Fatalf("%s: %v %+v", text, err, p)
					}
					s.must(c, "ALTER TABLE "+table+" ADD v int")
					a, err := c.Execute(p, difftest.Request{})
					if err != nil || a.Code != primitive.ErrorCodeUnprepared {
						t.Errorf("%s, altered: %v %s", text, err, show(a))
					}
					again, err := c.Prepare(text)
					if err != nil || string(again.ID) != string(p.ID) || len(again.Columns) != 3 {
						t.Fatalf("%s, prepared again: %v %+v", text, err, again)
					}
					if a, err = c.Execute(again, difftest.Request{}); err != nil || len(a.Rows) != 1 || len(a.Rows[0]) != 3 {
						t.Errorf("%s, prepared again: %v %s", text, err, show(a))
					}
					s.must(c, "ALTER TABLE "+table+" DROP v")
				}
				s.must(c, "DROP TABLE "+table)
			}
		}
	})
}

func TestIDsAreCassandras(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM a.t":  "SELECT * FROM a.t",
		"SELECT * FROM t":    "ksSELECT * FROM t",
		"INSERT INTO t JSON": "ksINSERT INTO t JSON",
		"BEGIN BATCH UPDATE a.t SET v = 1; DELETE FROM b.t; APPLY BATCH": "BEGIN BATCH UPDATE a.t SET v = 1; DELETE FROM b.t; APPLY BATCH",
		"BEGIN BATCH UPDATE a.t SET v = 1; DELETE FROM t; APPLY BATCH":   "ksBEGIN BATCH UPDATE a.t SET v = 1; DELETE FROM t; APPLY BATCH",
	} {
		if got := request.NewID("ks", text); got != md5.Sum([]byte(want)) {
			t.Errorf("%s: %x", text, got)
		}
	}
}
