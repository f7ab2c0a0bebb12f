// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/reshard"
)

// TestLivePlainAgain shards a plain table, changes its number of shards, makes it plain again and
// shards it once more, while clients read and write it all the time. No request fails, and every
// answer equals that of a table that does not change.
func TestLivePlainAgain(t *testing.T) { onStores(t, livePlainAgain) }

func livePlainAgain(t *testing.T, st store.Store) {
	l := newLived(t, st, "")
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	l.live(4, func() {
		l.change(ctx, "'shards': '5'")
		l.change(ctx, "'shards': '8'")
		sharded := l.entry().Physical
		l.change(ctx, "", "rollback")
		if s := l.status(); s.Result != reshard.ResultTakenBack || s.From != 8 || l.tables() != sharded {
			t.Errorf("after it was taken back the store has %s: %+v", l.tables(), s)
		}
		l.change(ctx, "", "pause", "resume")
		e := l.entry()
		if s := l.status(); s.Result != reshard.ResultDone || s.From != 0 || s.To != 0 || s.RowsTotal == 0 || s.RowsMoved == 0 || s.RowsVerified == 0 {
			t.Errorf("after it became plain: %+v", s)
		}
		if !e.Layout.Plain() || e.Change != nil || e.Second != nil || e.Physical == "t" || e.Physical == sharded || l.tables() != e.Physical {
			t.Errorf("after it became plain the store has %s: %+v", l.tables(), e)
		}
		l.change(ctx, "'shards': '5'", "rollback")
		if !l.entry().Layout.Plain() || l.tables() != e.Physical {
			t.Errorf("after sharding it again was taken back the store has %s: %+v", l.tables(), l.entry())
		}
		l.change(ctx, "'shards': '5'")
		if e := l.entry(); e.Layout.N != 5 || e.Second != nil || l.tables() != e.Physical {
			t.Errorf("after it was sharded again the store has %s: %+v", l.tables(), e)
		}
		l.change(ctx, "")
	})
	if e := l.entry(); !e.Layout.Plain() || l.tables() != e.Physical {
		t.Errorf("in the end the store has %s: %+v", l.tables(), e)
	}
}

// TestPlainAgainWhileInUse makes sharded tables plain while they are in use. Clients see a plain table
// of the logical name, and every statement does what it does on a table that was always plain.
func TestPlainAgainWhileInUse(t *testing.T) { onStores(t, plainAgainWhileInUse) }

func plainAgainWhileInUse(t *testing.T, st store.Store) {
	r := startRouter(t, st)
	at := serveDoor(t, st, r)
	s := session(t, at, 4)
	exec(t, s, "DROP KEYSPACE IF EXISTS again")
	exec(t, s, "CREATE KEYSPACE again WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() { exec(t, s, "DROP KEYSPACE IF EXISTS again") })
	exec(t, s, "CREATE TABLE again.t (p int, c int, v text, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '5', 'column': 'salt'} AND comment = 'as it was'")
	exec(t, s, "CREATE TABLE again.w (p int, c int, v text, PRIMARY KEY (p, c)) WITH comment = 'as it was'") // never sharded
	for p := range 3 {
		for c := range 20 {
			for _, table := range []string{"t", "w"} {
				exec(t, s, "INSERT INTO again."+table+" (p, c, v) VALUES (?, ?, 'x') USING TIMESTAMP 1000", p, c)
			}
		}
	}
	id := func() (id gocql.UUID) {
		t.Helper()
		if err := s.Query("SELECT id FROM system_schema.tables WHERE keyspace_name = 'again' AND table_name = 't'").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := id()
	v5 := session(t, at, 5)
	const insert, look = "INSERT INTO again.t (p, c, v) VALUES (?, ?, ?)", "SELECT * FROM again.t WHERE p = ? AND c = ?"
	exec(t, v5, insert, 0, 0, "x") // prepared on the sharded table
	for _, s := range []*gocql.Session{s, v5} {
		if got, err := rowsOf(s, 100, look, 0, 0); err != nil || joined(got) != "c=0 p=0 v=x" {
			t.Errorf("%v %v", got, err)
		}
	}

	var plan string
	if err := s.Query("ALTER TABLE again.t WITH write_sharding = {'change': 'plan'}").Scan(&plan); err != nil || !strings.Contains(plan, `"rows":60,"rows_moved":60`) || !strings.Contains(plan, `"from":5,"to":0`) {
		t.Errorf("plan says %s (%v)", plan, err)
	}
	l := &lived{t: t, table: "again.t", doors: []*gocql.Session{s}}
	exec(t, s, "ALTER TABLE again.t WITH write_sharding = {}")
	for deadline := time.Now().Add(patience); l.status().Phase != reshard.NoPhase; {
		if time.Now().After(deadline) || l.status().Problem != "" {
			t.Fatalf("the change does not end: %+v", l.status())
		}
		time.Sleep(20 * time.Millisecond)
	}
	e := r.schema.View.Load().Tables["again"]["t"].Entry
	if !e.Layout.Plain() || e.Physical == "t" || id() != before {
		t.Fatalf("the entry is %+v, the id %s and was %s", e, id(), before)
	}

	// The schema that drivers and people see is that of a plain table.
	for text, want := range map[string]string{
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'again'":                                         "table_name=t; table_name=w",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'again' AND table_name = 't'":                  "column_name=c; column_name=p; column_name=v",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'again' AND table_name = '" + e.Physical + "'": "",
	} {
		if got, err := rowsOf(s, 100, text); err != nil || joined(got) != want {
			t.Errorf("%s gives %q, %v; it should give %q", text, joined(got), err, want)
		}
	}
	var extensions map[string][]byte
	if err := s.Query("SELECT extensions FROM system_schema.tables WHERE keyspace_name = 'again' AND table_name = 't'").Scan(&extensions); err != nil || len(extensions) > 0 {
		t.Errorf("its extensions are %v (%v)", extensions, err)
	}
	described := func(table string) (text string) {
		t.Helper()
		it := s.Query("DESCRIBE TABLE again." + table).Iter()
		for row := map[string]any{}; it.MapScan(row); row = map[string]any{} {
			text = row["create_statement"].(string)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got, want := described("t"), strings.Replace(described("w"), "again.w", "again.t", 1); got != want {
		t.Errorf("it is described as\n%s\nand should be as\n%s", got, want)
	}
	for _, text := range []string{"SELECT * FROM again." + e.Physical, "INSERT INTO again." + e.Physical + " (p, c) VALUES (1, 1)", "TRUNCATE again." + e.Physical,
		"DROP TABLE again." + e.Physical, "DESCRIBE TABLE again." + e.Physical, "CREATE TABLE again.t (p int PRIMARY KEY)", "CREATE TABLE again.t (p int PRIMARY KEY) WITH write_sharding = {'shards': '2'}",
		"ALTER TABLE again.t WITH write_sharding = {}", "ALTER TABLE again.t WITH write_sharding = {'shards': '3', 'from': '2199-01-01'}", "ALTER TABLE again.t WITH write_sharding = {'key': '1', 'shards': '3'}"} {
		if err := s.Query(text).Exec(); err == nil {
			t.Errorf("%s is carried out", text)
		}
	}

	// Reads answer what the table that was never sharded answers, in one page and in several.
	for _, s := range []*gocql.Session{s, v5} {
		exec(t, s, insert, 0, 0, "x")
		if got, err := rowsOf(s, 100, look, 0, 0); err != nil || joined(got) != "c=0 p=0 v=x" {
			t.Errorf("%v %v", got, err)
		}
		for _, text := range []string{
			"SELECT * FROM again.t", "SELECT * FROM again.t WHERE p = 1 AND c > 3 ORDER BY c DESC", "SELECT * FROM again.t WHERE p IN (0, 2) AND c IN (3, 4)",
			"SELECT token(p), p, c FROM again.t", "SELECT token(p), c FROM again.t WHERE p = 1", "SELECT p FROM again.t WHERE token(p) > token(1)", "SELECT DISTINCT p FROM again.t",
			"SELECT count(*), max(c) FROM again.t", "SELECT p, count(*) FROM again.t GROUP BY p", "SELECT * FROM again.t PER PARTITION LIMIT 2", "SELECT * FROM again.t LIMIT 7",
			"SELECT JSON * FROM again.t WHERE p = 1 AND c = 3", "SELECT v, writetime(v) FROM again.t WHERE p = 1 AND c < 4", "SELECT c FROM again.t WHERE v = 'x' ALLOW FILTERING",
			"SELECT c AS d, v FROM again.t WHERE p = 9",
		} {
			for _, size := range []int{7, 1000} {
				got, err := rowsOf(s, size, text)
				want, wrong := rowsOf(s, size, strings.Replace(text, "again.t", "again.w", 1))
				if err != nil || wrong != nil || joined(got) != joined(want) {
					t.Errorf("%s gives\n%s, %v; it should give\n%s, %v", text, joined(got), err, joined(want), wrong)
				}
			}
		}
		for _, text := range []string{"SELECT c FROM again.t WHERE v = 'x'", "SELECT nothing FROM again.t", "SELECT * FROM again.t WHERE p = 'a'", "INSERT INTO again.t (p) VALUES (1)"} {
			err, want := s.Query(text).Exec(), s.Query(strings.Replace(text, "again.t", "again.w", 1)).Exec()
			if err == nil || want == nil || err.Error() != strings.ReplaceAll(want.Error(), "again.w", "again.t") {
				t.Errorf("%s: %v; it should be %v", text, err, want)
			}
		}
	}
	for _, text := range []string{"SELECT v FROM again.t WHERE p = 1 AND c = 3", "SELECT v FROM again.t", "UPDATE again.t SET v = 'y' WHERE p = 1 AND c = 3 IF v = 'no'"} {
		it := s.Query(text).Iter()
		if c := it.Columns(); len(c) == 0 || c[0].Table != "t" {
			t.Errorf("the result of %s names %+v", text, c)
		}
		_ = it.Close()
	}

	// Writes, alone and in batches; conditions; what alters the table.
	b := v5.Batch(gocql.LoggedBatch)
	b.Query(insert, 1, 30, "in a batch")
	b.Query("DELETE FROM again.t WHERE p = 1 AND c > 2 AND c < 30")
	b.Query("INSERT INTO again.w (p, c, v) VALUES (?, 31, 'elsewhere')", 1)
	if err := b.Exec(); err != nil {
		t.Error(err)
	}
	b = s.Batch(gocql.UnloggedBatch)
	b.Query("UPDATE again.t SET v = 'once' WHERE p = 1 AND c = 40 IF v = null")
	b.Query("UPDATE again.t SET v = 'once' WHERE p = 1 AND c = 41")
	if applied, _, err := b.ExecCAS(); err != nil || !applied {
		t.Errorf("a batch with a condition: %v %v", applied, err)
	}
	if applied, err := s.Query("INSERT INTO again.t (p, c, v) VALUES (1, 40, 'twice') IF NOT EXISTS").MapScanCAS(map[string]any{}); err != nil || applied {
		t.Errorf("a condition on a row that is there: %v %v", applied, err)
	}
	exec(t, s, "ALTER TABLE again.t ADD w int")
	exec(t, s, "ALTER TABLE again.t ADD salt int")
	exec(t, v5, "UPDATE again.t SET w = 7, salt = 8 WHERE p = 1 AND c = 41")
	exec(t, s, "ALTER TABLE again.t DROP salt")
	if got, err := rowsOf(v5, 100, "SELECT * FROM again.t WHERE p = 1"); err != nil || joined(got) != "c=0 p=1 v=x w=0; c=1 p=1 v=x w=0; c=2 p=1 v=x w=0; c=30 p=1 v=in a batch w=0; c=40 p=1 v=once w=0; c=41 p=1 v=once w=7" {
		t.Errorf("%v %v", got, err)
	}
	exec(t, s, "ALTER TABLE again.t WITH comment = 'another'")
	if got := described("t"); !strings.Contains(got, "comment = 'another'") || strings.Contains(got, "evenkeel") {
		t.Errorf("it is described as %s", got)
	}
	truncateAndReplace(t, s, "again.t")
}

// TestPlainAgainThatIsRefused asks to make tables plain that cannot be made plain while in use.
func TestPlainAgainThatIsRefused(t *testing.T) {
	st := embedded(t)
	first := startDoor(t, st, "127.0.0.1:1")
	s := session(t, serveDoor(t, st, first), 4)
	exec(t, s, "CREATE KEYSPACE refused WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for name, c := range map[string]struct{ columns, layout, options, why string }{
		"counters":    {"k int, c int, n counter", "'shards': '4'", "", "counters are never copied"},
		"collections": {"k int, c int, m map<text, int>", "'shards': '4'", "", "collections or user-defined types"},
		"statics":     {"k int, c int, v int, s int static", "'shards': '4'", "", "static columns"},
		"short_grace": {"k int, c int, v int", "'shards': '4'", " AND gc_grace_seconds = 3600", "gc_grace_seconds is 3600"},
		"drawn":       {"k int, c int, v int", "'shards': '4', 'strategy': 'random'", "", "strategy 'random'"},
		"epochs":      {"k date, c int, v int", "'shards': '2', 'epochs': '4 from 2199-01-01'", "", "epochs or entries of keys"},
		"keys":        {"k int, c int", "'shards': '4'", "", "no columns beside its key"},
	} {
		table := "refused." + name
		exec(t, s, "CREATE TABLE "+table+" ("+c.columns+", PRIMARY KEY (k, c)) WITH write_sharding = {"+c.layout+"}"+c.options)
		changeRefused(t, s, table, "", c.why)
		planRefused(t, s, table, "", c.why)
	}
}
