// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestResultIDs prepares SELECTs on a plain table and on a sharded one with the same columns. Both have the same id of
// their result's metadata. So a client that knows the columns of a plain table does not get them again when the table
// is sharded: gocql panics if they come while it prepares the statement again.
func TestResultIDs(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		s.must(s.v5, "CREATE TYPE "+s.keyspace+".u (a int, b frozen<list<text>>)")
		columns := " (p int, q text, c timeuuid, d int, s text static, l list<int>, m map<int, frozen<set<text>>>, f frozen<map<text, int>>, x frozen<u>, n u, t tuple<int, text>, v vector<float, 3>, \"W\" decimal, " +
			"PRIMARY KEY ((p, q), c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)"
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".plain"+columns)
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".sharded"+columns+" AND write_sharding = {'shards': '5'}")
		for _, text := range []string{
			"SELECT * FROM TABLE", "SELECT c, d, c AS e FROM TABLE WHERE p = ? AND q = ?", "SELECT l, m, f, x, n, t, v, \"W\" FROM TABLE WHERE p = ? AND q = ?",
			"SELECT count(*), max(c), avg(d), min(\"W\") FROM TABLE WHERE p = ? AND q = ?", "SELECT JSON * FROM TABLE", "SELECT DISTINCT p, q FROM TABLE", "SELECT p, s, ttl(s), writetime(s) FROM TABLE",
			"SELECT n.a, cast(d AS text), token(p, q), toJson(l) FROM TABLE", "SELECT max(d) FROM TABLE WHERE p = ? AND q = ? GROUP BY c",
		} {
			var ids [2]string
			for i, table := range []string{".plain", ".sharded"} {
				a, err := s.v5.Prepare(strings.Replace(text, "TABLE", s.keyspace+table, 1))
				if err != nil || a.Kind != difftest.Prepared {
					t.Fatalf("%s on %s: %v %v", text, table, a, err)
				}
				ids[i] = string(a.MetadataID)
			}
			if ids[0] != ids[1] {
				t.Errorf("%s: the ids are %x and %x", text, ids[0], ids[1])
			}
		}
	})
}
