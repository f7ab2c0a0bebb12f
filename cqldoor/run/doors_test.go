// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestChangesOfAnotherDoor changes a table at one door. Another door, which gets no event, has used
// the table before, and clients have prepared statements there. As with Cassandra, the clients must
// prepare them again, and get the same ids. Then the statements must work on the changed table.
func TestChangesOfAnotherDoor(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const lease = 200 * time.Millisecond
		a := newSceneOf(t, st, startRouterOf(t, st, lease))
		n := 0
		const columns = " (k int, c int, v int, PRIMARY KEY (k, c))"
		sharded := func(n int) string { return fmt.Sprintf("%s WITH write_sharding = {'shards': '%d'}", columns, n) }
		for name, c := range map[string]struct{ before, drop, after string }{
			"dropped":            {sharded(4), "DROP TABLE", ""},
			"plain dropped":      {columns, "DROP TABLE", ""},
			"plain now":          {sharded(4), "DROP TABLE", columns},
			"sharded now":        {columns, "DROP TABLE", sharded(4)},
			"more shards now":    {sharded(4), "DROP TABLE", sharded(50)},
			"one column more":    {sharded(4), "", "ADD w int"},
			"one column less":    {sharded(4), "", "DROP v"},
			"of another type":    {sharded(4), "DROP TABLE", strings.Replace(sharded(4), "v int", "v text", 1)},
			"of another key now": {sharded(4), "DROP TABLE", strings.Replace(sharded(4), "(k, c)", "(k, v, c)", 1)},
		} {
			for _, version := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
				t.Run(fmt.Sprint(name, "/v", version), func(t *testing.T) {
					n++
					table := fmt.Sprintf("%s.t%d", a.keyspace, n)
					a.t = t
					b := &scene{t: t, store: st, keyspace: a.keyspace, router: startRouterOf(t, deaf{st}, lease)}
					conn := dial(t, serveDoor(t, deaf{st}, b.router), version)
					a.must(a.v5, "CREATE TABLE "+table+c.before)
					texts := []string{
						"INSERT INTO " + table + " (k, c) VALUES (1, 1)", "INSERT INTO " + table + " (k, c) VALUES (?, ?)",
						"SELECT * FROM " + table + " WHERE k = 1", "SELECT * FROM " + table + " WHERE k = 1 AND c = 1", "SELECT * FROM " + table,
						"SELECT count(*) FROM " + table + " WHERE k IN (1, 2)", "DELETE FROM " + table + " WHERE k = 9",
						"UPDATE " + table + " SET v = 1 WHERE k = 9 AND c = 1 IF EXISTS",
						"BEGIN BATCH INSERT INTO " + table + " (k, c) VALUES (1, 1); INSERT INTO " + table + " (k, c) VALUES (1, 2); APPLY BATCH",
					}
					values := func(text string) []*primitive.Value { return int32s(1, 1)[:strings.Count(text, "?")] }
					prepared := map[string]*difftest.Answer{}
					for _, text := range texts {
						p, err := conn.Prepare(text)
						if err != nil || p.Kind != difftest.Prepared {
							t.Fatalf("%s: %v %s", text, err, show(p))
						}
						prepared[text] = p
						if x, err := conn.Execute(p, difftest.Request{Values: values(text)}); err != nil || x.Kind == difftest.Error {
							t.Fatalf("%s: %v %s", text, err, show(x))
						}
					}
					if c.drop != "" {
						a.must(a.v5, c.drop+" "+table)
						if c.after != "" {
							a.must(a.v5, "CREATE TABLE "+table+c.after)
						}
					} else {
						a.must(a.v5, "ALTER TABLE "+table+" "+c.after)
					}
					for _, text := range texts {
						// What the first door answers, which has made the change.
						want, err := a.v5.Prepare(text)
						if err != nil {
							t.Fatal(err)
						}
						x, err := conn.Execute(prepared[text], difftest.Request{Values: values(text)})
						if err != nil {
							t.Fatal(err)
						}
						if x.Kind == difftest.Error && x.Code != primitive.ErrorCodeUnprepared {
							t.Errorf("EXECUTE %s: %s", text, show(x))
						}
						p, err := conn.Prepare(text)
						if err != nil || p.Kind != want.Kind || p.Text != want.Text || want.Kind == difftest.Prepared && string(p.ID) != string(prepared[text].ID) {
							t.Errorf("PREPARE %s again: %v %s, at the other door %s", text, err, show(p), show(want))
							continue
						}
						if p.Kind != difftest.Prepared {
							continue
						}
						x, err = conn.Execute(p, difftest.Request{Values: values(text)})
						y, err2 := a.v5.Execute(want, difftest.Request{Values: values(text)})
						if err != nil || err2 != nil || show(x) != show(y) || len(x.Columns) != len(y.Columns) {
							t.Errorf("EXECUTE %s again: %v %s, at the other door %v %s", text, err, show(x), err2, show(y))
						}
					}
					if c.after != "" && !strings.Contains(c.after, "(k, v, c)") { // each row is in one place
						seen := map[string]bool{}
						for _, row := range a.must(a.v5, "SELECT k, c FROM "+table).Rows {
							if seen[fmt.Sprint(row)] {
								t.Errorf("the row %v is in two shards", row)
							}
							seen[fmt.Sprint(row)] = true
						}
					}
					for _, text := range texts {
						if strings.Contains(text, "?") {
							continue
						}
						x, y := b.query(conn, text), a.query(a.v5, text)
						if show(x) != show(y) {
							t.Errorf("QUERY %s: %s, at the other door %s", text, show(x), show(y))
						}
					}
					x, err := conn.Batch(&message.Batch{Children: []*message.BatchChild{{Query: texts[0]}}})
					y, err2 := a.v5.Batch(&message.Batch{Children: []*message.BatchChild{{Query: texts[0]}}})
					if err != nil || err2 != nil || show(x) != show(y) {
						t.Errorf("BATCH: %v %s, at the other door %v %s", err, show(x), err2, show(y))
					}
				})
			}
		}
		a.t = t
	})
}
