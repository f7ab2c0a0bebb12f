package run

import (
	"fmt"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/store"
)

// TestCallsInValues writes what functions give: token() of the logical key, and now()
// within collections, of which all shards are given the same.
func TestCallsInValues(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: layouts}
		w.router.opts.Timeuuid = func() [16]byte { return gocql.TimeUUID() }
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
