// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// readBeforeDrawn writes while the new shards of a table are known to this door and, for
// all it knows, not to another: no write goes to them.
func readBeforeDrawn(w *twins) string {
	w.publish(w.table(0), func(e *catalog.Entry) *catalog.Entry {
		l := *e.Layout
		l.N, l.Drawn = 9, 3
		return e.With(&l)
	})
	if fault := steps("SELECT * FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'y')")(w); fault != "" {
		return fault
	}
	for shard := 4; shard <= 9; shard++ {
		if a := w.must(w.direct, fmt.Sprintf("SELECT c FROM %s WHERE p = 1 AND shard = %d", w.table(0), shard)); len(a.Rows) > 0 {
			return fmt.Sprintf("a door that does not know of shard %d misses what is in it", shard)
		}
	}
	return ""
}

// refusedWith checks that the door refuses a statement, with the words.
func (s *scene) refusedWith(text, words string) {
	s.t.Helper()
	if a := s.query(s.v5, text); a.Kind != difftest.Error || !strings.Contains(a.Text, words) {
		s.t.Errorf("%s\nis answered %s, want an error with %q", text, show(a), words)
	}
}

// TestAlterWhereNothingMoves changes layouts of tables in use by epochs, and by more shards
// under strategy random.
func TestAlterWhereNothingMoves(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		create := func(name, columns, sharding string) string {
			s.must(s.v5, "CREATE TABLE "+s.keyspace+"."+name+" ("+columns+") WITH write_sharding = "+sharding)
			return s.keyspace + "." + name
		}
		alter := func(table, sharding string) string {
			return "ALTER TABLE " + table + " WITH write_sharding = " + sharding
		}
		described := func(table, want string) {
			t.Helper()
			a := s.must(s.v5, "DESCRIBE TABLE "+table)
			if text := string(a.Rows[0][3]); !strings.Contains(text, want) {
				t.Errorf("DESCRIBE TABLE %s has no %s:\n%s", table, want, text)
			}
		}
		count := func(text string, want int) {
			t.Helper()
			if a := s.must(s.v5, text); len(a.Rows) != want {
				t.Errorf("%s: %d rows, want %d", text, len(a.Rows), want)
			}
		}
		shards := func(table, where string) map[string]bool {
			out := map[string]bool{}
			for _, row := range s.must(s.direct, "SELECT shard FROM "+table+" WHERE "+where+" ALLOW FILTERING").Rows {
				out[fmt.Sprintf("%x", row[0])] = true
			}
			return out
		}

		days := create("days", "day date, title text, PRIMARY KEY (day, title)", "{'shards': '1'}")
		for i := range 20 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (day, title) VALUES ('2020-07-09', 't%d')", days, i))
		}
		s.refusedWith(alter(days, "{'shards': '8', 'from': '2020-07-10'}"), "too early: every door must know of the epoch")
		s.refusedWith(alter(days, "{'shards': '8', 'from': 'soon'}"), `"soon" is not an instant`)
		s.refusedWith(alter(days, "{'shards': '0', 'from': '2199-01-01'}"), "from 1 to 10000")
		s.refusedWith(alter(days, "{'from': '2199-01-01'}"), "the number of shards is missing")
		s.refusedWith(alter(days, "{'shards': '8', 'from': '2199-01-01', 'hash': 'murmur3'}"), "'hash' cannot change with an epoch")
		s.refusedWith(alter(s.keyspace+".nothing", "{'shards': '8', 'from': '2199-01-01'}"), "")
		s.must(s.v5, alter(days, "{'shards': '8', 'from': '2199-01-01'}"))
		described(days, "'epochs': '8 from 2199-01-01'")
		for i := range 20 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (day, title) VALUES ('2199-07-09', 't%d')", days, i))
		}
		count("SELECT * FROM "+days+" WHERE day = '2020-07-09'", 20)
		count("SELECT * FROM "+days+" WHERE day = '2199-07-09'", 20)
		count("SELECT * FROM "+days, 40)
		if n := len(shards(days, "day = '2199-07-09'")); n < 3 {
			t.Errorf("the rows of a key of the epoch are in %d shards", n)
		}
		if n := len(shards(days, "day = '2020-07-09'")); n != 1 {
			t.Errorf("the rows of a key before the epoch are in %d shards", n)
		}
		s.refusedWith(alter(days, "{'shards': '9', 'from': '2199-06-01'}"), "has rows of keys from 2199-06-01 on already")
		s.refusedWith(alter(days, "{'shards': '9', 'from': '2198-06-01'}"), "a new one begins later")

		events := create("events", "id int, at timestamp, v text, PRIMARY KEY (id, at)", "{'shards': '2'}")
		for i := range 20 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (id, at, v) VALUES (1, %d, 'x')", events, 1000+i))
		}
		s.refusedWith(alter(events, "{'shards': '8', 'from': '2199-01-01'}"), "of type date, timestamp or timeuuid")
		s.refusedWith(alter(events, "{'shards': '8', 'rows_from': 'soon'}"), "which is no timestamp")
		s.refusedWith(alter(events, "{'shards': '8', 'rows_from': '1970-01-01T00:00:01.010Z'}"), "has rows with at from")
		s.must(s.v5, alter(events, "{'shards': '8', 'rows_from': '1970-01-01T00:00:02Z'}"))
		described(events, "'row_epochs': '8 from 0x00000000000007d0'")
		for i := range 40 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (id, at, v) VALUES (1, %d, 'x')", events, 2000+i))
		}
		count("SELECT * FROM "+events+" WHERE id = 1", 60)
		count("SELECT * FROM "+events+" WHERE id = 1 AND at >= 2000", 40)
		if n := len(shards(events, "id = 1")); n < 5 {
			t.Errorf("the rows of the epoch are in %d shards", n)
		}

		// The rows of one key from a time on: at once.
		s.refusedWith(alter(events, "{'key': '2', 'shards': '6', 'rows_from': 'soon'}"), "which is no timestamp")
		s.refusedWith(alter(events, "{'key': 'x', 'shards': '6', 'rows_from': '1970-01-01T00:00:01Z'}"), "which is no int")
		s.refusedWith(alter(events, "{'key': '1', 'shards': '6', 'rows_from': '1970-01-01T00:00:01.010Z'}"), "of rows")
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s (id, at, v) VALUES (2, 4000, 'x')", events))
		s.must(s.v5, alter(events, "{'key': '2', 'shards': '16', 'rows_from': '1970-01-01T00:00:05Z'}"))
		s.refusedWith(alter(events, "{'key': '2', 'shards': '20', 'rows_from': '1970-01-01T00:00:04Z'}"), "begins later")
		for i := range 60 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (id, at, v) VALUES (2, %d, 'x')", events, 5000+i))
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (id, at, v) VALUES (3, %d, 'x')", events, 5000+i))
		}
		count("SELECT * FROM "+events+" WHERE id = 2", 61)
		count("SELECT * FROM "+events+" WHERE id = 3", 60)
		count("SELECT * FROM "+events, 60+61+60)
		if a, b := len(shards(events, "id = 2")), len(shards(events, "id = 3")); a < 9 || b > 8 {
			t.Errorf("the key has rows in %d shards, another key in %d", a, b)
		}
		s.refusedWith(alter(events, "{'key': '2', 'shards': '20', 'rows_from': '1970-01-01T00:00:05.030Z'}"), "the key has rows with at from")

		counts := create("counts", "id int PRIMARY KEY, n counter", "{'shards': '2', 'strategy': 'random'}")
		total := 0
		add := func() {
			for range 30 {
				s.must(s.v5, "UPDATE "+counts+" SET n = n + 1 WHERE id = 1")
				total++
			}
			if a := s.must(s.v5, "SELECT n FROM "+counts+" WHERE id = 1"); fmt.Sprintf("%x", a.Rows[0][0]) != fmt.Sprintf("%016x", total) {
				t.Errorf("the counter is %x after %d increments", a.Rows[0][0], total)
			}
		}
		add()
		s.refusedWith(alter(counts, "{'shards': '2'}"), "has 2 shards already")
		s.refusedWith(alter(counts, "{'shards': '1'}"), "cannot have fewer shards")
		s.refusedWith(alter(counts, "{'shards': '4', 'rows_from': '5'}"), "means nothing under strategy 'random'")
		s.must(s.v5, alter(counts, "{'shards': '12'}"))
		described(counts, "'shards': '12'")
		add()
		if n := len(shards(counts, "id = 1")); n != 12 {
			t.Errorf("the counter has %d shards", n)
		}
		e, err := s.router.schema.Catalog.Entry(t.Context(), s.keyspace, "counts")
		if err != nil || e.Layout.Drawn != 0 || e.Layout.N != 12 {
			t.Errorf("the entry is %+v, %v", e, err)
		}
	})
}
