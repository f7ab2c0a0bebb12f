// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// TestPagingStateElsewhere checks that a paging state of one statement continues in another one on
// the table, within the other's own restrictions, as in Cassandra.
func TestPagingStateElsewhere(t *testing.T) {
	sessions := openAll(t, targets(t), primitive.ProtocolVersion5)
	setup := []string{"CREATE TABLE t (p int, type int, id int, v int, s int static, PRIMARY KEY (p, type, id))"}
	for p := range 3 {
		setup = append(setup, fmt.Sprintf("INSERT INTO t (p, s) VALUES (%d, %d)", p, p))
		for n := range 18 {
			setup = append(setup, fmt.Sprintf("INSERT INTO t (p, type, id, v) VALUES (%d, %d, %d, %d)", p, n/6, n%6, n))
		}
	}
	for _, s := range sessions {
		for _, text := range setup {
			if err := s.must(s.text(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const all = "SELECT type, id, v FROM t WHERE p = 0"
	for _, c := range []struct {
		first string
		then  []string
	}{
		{all + " ORDER BY type ASC", []string{all + " AND type = 0", all + " AND type = 1", all + " AND type >= 1", all + " AND type IN (0, 2)", all + " AND type = 1 AND id > 2",
			all + " AND (type, id) > (0, 4)", "SELECT id, s FROM t WHERE p = 0", all + " AND v > 5 ALLOW FILTERING", "SELECT type, count(*) FROM t WHERE p = 0 GROUP BY type",
			"SELECT JSON type, id FROM t WHERE p = 0", all + " AND type = 2 AND id = 3", all + " AND type = 0 AND id = 3"}},
		{all + " LIMIT 9", []string{all}},
		{all + " AND type >= 1", []string{all, all + " AND type > 0", all + " AND type = 2"}},
		{all + " ORDER BY type DESC", []string{all + " AND type = 1 ORDER BY type DESC", all + " AND type < 2 ORDER BY type DESC"}},
		{"SELECT type, id, v FROM t WHERE p IN (0, 1)", []string{all, "SELECT type, id, v FROM t WHERE p IN (0, 1, 2)", "SELECT type, id, v FROM t WHERE p IN (0, 2) AND type = 1"}},
	} {
		for _, size := range []int32{2, 5, 8} {
			for _, then := range c.then {
				what := fmt.Sprintf("%d rows of %s, then %s", size, c.first, then)
				var want *Answer
				for i, s := range sessions {
					a, err := s.Query(Request{Query: c.first, PageSize: size})
					if err != nil {
						t.Fatal(what, s.Name, err)
					}
					if a.Kind == Error || a.State == nil {
						t.Fatalf("%s: %s: no paging state: %v", what, s.Name, a)
					}
					prep, err := s.Prepare(then)
					if err != nil {
						t.Fatal(what, s.Name, err)
					}
					got, _, err := s.readPages(Request{Query: then, PageSize: size, State: a.State}, prep, size > 2)
					if err != nil {
						t.Fatal(what, s.Name, err)
					}
					got.rename(s.Keyspace, openKeyspace)
					if i == 0 {
						want = got
						continue
					}
					if d := Difference(want, got, Comparison{Sharded: s.Sharding != ""}); d != "" {
						t.Errorf("%s: %s: %s", what, s.Name, d)
					}
				}
			}
		}
	}
}

// TestPagingStateForeign checks that a paging state of another table, or a changed one, is a
// protocol error, and that the connection stays usable.
func TestPagingStateForeign(t *testing.T) {
	for _, s := range openAll(t, targets(t)[1:], primitive.ProtocolVersion5) {
		if s.Sharding == "" && s.Backend == s.Addr || s.Name == "door" {
			continue // their paging states are Cassandra's own
		}
		for _, table := range []string{"t", "u"} {
			if err := s.must(s.text("CREATE TABLE " + table + " (p int, c int, v int, PRIMARY KEY (p, c))")); err != nil {
				t.Fatal(err)
			}
			for n := range 9 {
				if err := s.must(fmt.Sprintf("INSERT INTO %s (p, c, v) VALUES (%d, %d, %d)", table, n%2, n, n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		a, err := s.Query(Request{Query: "SELECT * FROM t WHERE p = 0", PageSize: 2})
		if err != nil || a.State == nil {
			t.Fatal(s.Name, a, err)
		}
		refuse := func(query string, state []byte) {
			t.Helper()
			got, err := s.Query(Request{Query: query, PageSize: 2, State: state})
			if err != nil {
				t.Fatal(s.Name, err)
			}
			if got.Kind != Error || got.Code != 0x000a {
				t.Errorf("%s: %s with state %x: %v", s.Name, query, state, got)
			}
		}
		refuse("SELECT * FROM u WHERE p = 0", a.State)
		refuse("SELECT * FROM t WHERE p = 1", a.State)
		for i := range a.State {
			changed := append([]byte{}, a.State...)
			changed[i] ^= 0x11
			refuse("SELECT * FROM t WHERE p = 0", changed)
		}
		refuse("SELECT * FROM t WHERE p = 0", a.State[:len(a.State)-1])
	}
}
