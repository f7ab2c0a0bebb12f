// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestCallsInValues writes what functions give: token() of the logical key, and now()
// within collections, of which all shards are given the same.
func TestCallsInValues(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: layouts}
		w.router.batches.binder.Timeuuid = func() [16]byte { return gocql.TimeUUID() }
		w.create("p int, c int, n bigint, b blob, s set<timeuuid>, l list<timeuuid>, m map<timeuuid, timestamp>, f frozen<set<timeuuid>>, t frozen<tuple<timeuuid, set<timeuuid>>>, PRIMARY KEY (p, c)", "")
		check := func(fault string) {
			t.Helper()
			if fault != "" {
				t.Error(fault)
			}
		}
		for _, text := range []string{
			"INSERT INTO TABLE (p, c, n) VALUES (1, 1, token(1234))",
			"INSERT INTO TABLE (p, c, n) VALUES (1, 2, token(1235)) USING TTL 1000",
			"UPDATE TABLE SET n = token(-5), b = bigintasblob(token(7)) WHERE p = 1 AND c IN (3, 4)",
			"INSERT INTO TABLE (p, c, n) VALUES (1, 5, token(1, 2))",
			"INSERT INTO TABLE (p, c, n) VALUES (1, 5, token())",
			"INSERT INTO TABLE (p, c, b) VALUES (1, 5, token(1))",
			"BEGIN BATCH INSERT INTO TABLE (p, c, n) VALUES (1, 6, token(6)); INSERT INTO TABLE (p, c, n) VALUES (1, 7, token(7)); APPLY BATCH",
			"DELETE FROM TABLE WHERE p = 1 AND c = token(1)",
		} {
			check(w.write(text))
		}
		for _, text := range []string{
			"SELECT c, n, b FROM TABLE WHERE p = 1",
			"SELECT c FROM TABLE WHERE p = 1 AND n = token(1234) ALLOW FILTERING",
			"SELECT c FROM TABLE WHERE n IN (token(-5), token(1235)) ALLOW FILTERING",
			"SELECT n FROM TABLE WHERE p = 1 AND c = 1 AND n = token(1234) ALLOW FILTERING",
		} {
			check(w.read(text))
		}
		for _, text := range []string{
			"INSERT INTO TABLE (p, c, s) VALUES (2, 1, {now()})",
			"INSERT INTO TABLE (p, c, l) VALUES (2, 2, [now(), now()])",
			"INSERT INTO TABLE (p, c, m) VALUES (2, 3, {now(): currentTimestamp()})",
			"INSERT INTO TABLE (p, c, f, n) VALUES (2, 4, {now()}, 5)",
			"INSERT INTO TABLE (p, c, t) VALUES (2, 5, (now(), {now()}))",
			"UPDATE TABLE SET s = s + {now()}, l = l + [now()], n = 4 WHERE p = 2 AND c = 6",
			"UPDATE TABLE SET l = [now()] + l, m = m + {now(): 7} WHERE p = 2 AND c = 6",
			"UPDATE TABLE SET m[now()] = currenttimestamp(), s = s - {now()} WHERE p = 2 AND c = 6",
			"UPDATE TABLE SET s = {now()}, f = {now()} WHERE p = 2 AND c = 7",
		} {
			check(w.write(text))
		}
		check(w.read("SELECT c, n, collection_count(s), collection_count(l), collection_count(m), collection_count(f) FROM TABLE WHERE p = 2"))
		for i, layout := range w.layouts {
			if !strings.Contains(layout, "random") {
				continue
			}
			for c := range 8 {
				a := w.must(w.direct, w.text(i, fmt.Sprintf("SELECT s, l, m, f, t FROM TABLE WHERE p = 2 AND c = %d ALLOW FILTERING", c)))
				for _, row := range a.Rows {
					if fmt.Sprint(row) != fmt.Sprint(a.Rows[0]) {
						t.Errorf("%s: the shards have %x and %x of row %d", layout, a.Rows[0], row, c)
					}
				}
			}
		}
	})
}

// TestUnloggedCounterBatch writes counters of one logical partition, in several shards.
func TestUnloggedCounterBatch(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: layouts}
		w.create("p int, c int, n counter, PRIMARY KEY (p, c)", "")
		for _, kind := range []string{"UNLOGGED", "COUNTER", ""} {
			var rows []string
			for c := range 20 {
				rows = append(rows, fmt.Sprintf("UPDATE TABLE SET n = n + %d WHERE p = %d AND c = %d;", c, c%2, c))
			}
			for _, text := range []string{
				"BEGIN " + kind + " BATCH " + strings.Join(rows, " ") + " APPLY BATCH",
				"BEGIN " + kind + " BATCH " + strings.Join(rows[:2], " ") + " APPLY BATCH",
				"BEGIN " + kind + " BATCH UPDATE TABLE SET n = n + 1 WHERE p = 1 AND c IN (1, 2, 3, 4, 5); APPLY BATCH",
				"BEGIN " + kind + " BATCH DELETE FROM TABLE WHERE p = 3 AND c = 1; UPDATE TABLE SET n = n + 1 WHERE p = 4 AND c = 1; APPLY BATCH",
			} {
				if fault := w.write(text); fault != "" {
					t.Error(fault)
				}
			}
		}
		if fault := w.read("SELECT c, n FROM TABLE WHERE p IN (0, 1, 3, 4)"); fault != "" {
			t.Error(fault)
		}
	})
}

// TestUserFunctions says that a user's function is refused for what it is, and that one
// which nobody has defined is unknown, as ever.
func TestUserFunctions(t *testing.T) {
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := newScene(t, st)
	text := func(q string) string { return strings.ReplaceAll(q, "KS", s.keyspace) }
	s.must(s.v5, text("CREATE FUNCTION KS.twice (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a == null ? null : 2 * a;'"))
	s.must(s.v5, text("CREATE TABLE KS.plain (p int, c int, v int, PRIMARY KEY (p, c))"))
	s.must(s.v5, text("CREATE TABLE KS.t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}"))
	for _, q := range []string{
		"SELECT KS.twice(v) FROM KS.TABLE WHERE p = 1 AND c = 1",
		"SELECT c, twice(v) FROM KS.TABLE WHERE p = 1",
		"SELECT max(twice(v)) FROM KS.TABLE",
		"INSERT INTO KS.TABLE (p, c, v) VALUES (1, 1, KS.twice(4))",
		"UPDATE KS.TABLE SET v = twice(4) WHERE p = 1 AND c = 1",
		"SELECT v FROM KS.TABLE WHERE p = 1 AND c = KS.twice(4)",
		"BEGIN BATCH INSERT INTO KS.TABLE (p, c, v) VALUES (1, 1, KS.twice(4)); APPLY BATCH",
	} {
		s.must(s.v5, strings.ReplaceAll(text(q), "TABLE", "plain"))
		for range 2 { // asked again, it is the same
			a := s.query(s.v5, strings.ReplaceAll(text(q), "TABLE", "t"))
			if a.Kind != difftest.Error || a.Code != 0x2200 || !strings.Contains(a.Text, "user-defined functions and aggregates, such as "+s.keyspace+".twice, are not supported") {
				t.Errorf("%s: %s", q, show(a))
			}
		}
		unknown := strings.ReplaceAll(text(q), "twice", "thrice")
		want, got := s.query(s.v5, strings.ReplaceAll(unknown, "TABLE", "plain")), s.query(s.v5, strings.ReplaceAll(unknown, "TABLE", "t"))
		if show(want) != show(got) {
			t.Errorf("%s: %s, want %s", unknown, show(got), show(want))
		}
	}
}

// TestLongPartitionKeys writes and reads keys about as long as Cassandra's may be: the
// longest ones have no room for the shard beside them.
func TestLongPartitionKeys(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: []string{"{'shards': '3'}", "{'shards': '3', 'strategy': 'random'}"}}
		for columns, longest := range map[string]int{
			"p text, c int, v int, s int static, PRIMARY KEY (p, c)":              65535 - 4 - 6,
			"p text, q text, c int, v int, s int static, PRIMARY KEY ((p, q), c)": 65535 - 4 - 9 - 1,
		} {
			w.create(columns, "")
			key, where := "p", "p = 'KEY'"
			if strings.Contains(columns, "q text") {
				key, where = "p, q", "p = 'KEY' AND q = 'q'"
			}
			values := strings.ReplaceAll(strings.ReplaceAll(where, " AND q =", ","), "p = ", "")
			for _, text := range []string{
				"INSERT INTO TABLE (" + key + ", c, v) VALUES (" + values + ", 1, 5)",
				"INSERT INTO TABLE (" + key + ", c, v, s) VALUES (" + values + ", 1, 5, 7)",
				"UPDATE TABLE SET v = 6 WHERE " + where + " AND c IN (1, 2)",
				"UPDATE TABLE SET s = 8 WHERE " + where,
				"SELECT v, s FROM TABLE WHERE " + where,
				"SELECT v FROM TABLE WHERE " + where + " AND c = 1",
				"SELECT count(*) FROM TABLE WHERE " + where,
				"DELETE FROM TABLE WHERE " + where + " AND c > 1",
				"DELETE FROM TABLE WHERE " + where,
			} {
				for _, n := range []int{longest, longest + 1, longest + 6} {
					text := strings.ReplaceAll(text, "KEY", strings.Repeat("k", n))
					if n == longest {
						if fault := w.write(text); fault != "" {
							t.Error(fault[len(fault)-200:])
						}
						continue
					}
					for i, layout := range w.layouts {
						a := w.query(w.v5, w.text(i, text))
						if a.Kind != difftest.Error || a.Code != 0x2200 || !strings.Contains(a.Text, fmt.Sprintf("a partition key of %d bytes is too long: the store keeps more beside it, so that at most %d are possible", n+len(key)/4, longest+len(key)/4)) {
							t.Errorf("%s: %.60s: a key of %d: %.300s", layout, text, n, show(a))
						}
					}
				}
			}
		}
	})
}
