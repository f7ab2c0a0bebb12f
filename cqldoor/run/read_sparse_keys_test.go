// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// inOf returns an IN on so many ints, from one on.
func inOf(from, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(from + i)
	}
	return " IN (" + strings.Join(out, ", ") + ")"
}

// TestInOfPartitions compares drawn INs on partition keys, most of which have no rows, with a plain
// table: also if each page ends before the next partition, because it has taken long.
func TestInOfPartitions(t *testing.T) {
	all := append([]string{"{'shards': '20', 'by': 'c'}", "{'shards': '10'}", "{'strategy': 'rollover', 'rows': '10'}"}, layouts...)
	for _, test := range []struct{ hurried, statics bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			w := &twins{scene: newScene(t, embedded(t)), layouts: all}
			if test.hurried {
				w.router.reads.Timeout = 1
			}
			s := "s int"
			if test.statics {
				s += " static"
			}
			w.create("p int, q int, c int, v text, "+s+", PRIMARY KEY ((p, q), c)", "")
			for i := range 40 {
				text := fmt.Sprintf("INSERT INTO TABLE (p, q, c, v, s) VALUES (%d, %d, %d, 'v%d', %d)", i*i%60, i%3, i%11, i, i)
				switch i % 8 {
				case 0:
					if !test.statics {
						continue
					}
					text = fmt.Sprintf("INSERT INTO TABLE (p, q, s) VALUES (%d, %d, %d)", i, i%3, i)
				case 1:
					text = fmt.Sprintf("DELETE FROM TABLE WHERE p = %d AND q = %d", i*i%60, i%3)
				}
				if fault := w.write(text); fault != "" {
					t.Fatal(fault)
				}
			}
			for range 15 {
				where := []string{"p" + inOf(mathrand.IntN(30), 20) + " AND q" + inOf(0, 4), "p" + inOf(0, 70) + " AND q = 1", "p = 1 AND q" + inOf(0, 30)}[mathrand.IntN(3)]
				where += []string{"", "", " AND c > 2", " AND c = 3", " AND c IN (1, 3, 5)"}[mathrand.IntN(5)]
				selection := []string{"*", "c, v", "v, s", "count(*)", "q, max(c)", "JSON p, c"}[mathrand.IntN(6)]
				tail := []string{"", "", " LIMIT 7", " PER PARTITION LIMIT 1", " GROUP BY p, q"}[mathrand.IntN(5)]
				if test.statics && mathrand.IntN(5) == 0 && !strings.Contains(where, "c ") {
					selection, tail = "DISTINCT p, q, s", ""
				}
				if fault := w.read("SELECT " + selection + " FROM TABLE WHERE " + where + tail); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// TestRequestsOfManyPartitions names many partitions, of which few have any rows.
func TestRequestsOfManyPartitions(t *testing.T) {
	c := &countedStore{Store: embedded(t)}
	s := newScene(t, c)
	table := s.keyspace + ".t"
	s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, v int, s int static, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '200'}")
	for i := range 20 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s (p, c, v, s) VALUES (%d, %d, 1, 1)", table, 20*i, i))
	}
	const keys = 400
	ask := func(text string, size int32) (*difftest.Answer, int64) {
		c.executed.Store(0)
		a, err := s.v5.Query(difftest.Request{Query: text, PageSize: size, Consistency: primitive.ConsistencyLevelOne})
		if err != nil || a.Kind != difftest.Rows {
			t.Fatal(err, a)
		}
		return a, c.executed.Load()
	}
	for _, selection := range []string{"c", "c, s", "DISTINCT s"} {
		text := "SELECT " + selection + " FROM " + table + " WHERE p" + inOf(0, keys)
		a, n := ask(text, 5000)
		if len(a.Rows) != 20 {
			t.Errorf("%s: %d rows", selection, len(a.Rows))
		}
		t.Logf("%s: %d requests", selection, n)
		if most := int64(keys * 200 / 100 * 3); n > most {
			t.Errorf("%s: %d requests for %d partitions of the store", selection, n, keys*200)
		}
	}
	if _, n := ask("SELECT c FROM "+table+" WHERE p"+inOf(0, keys), 2); n > 1200 {
		t.Errorf("%d requests for the first of many pages", n)
	}
	s.router.reads.Timeout = 1
	s.must(s.v5, "CREATE TABLE "+table+"2 (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '200'}")
	for _, table := range []string{table, table + "2"} {
		if a, _ := ask("SELECT c FROM "+table+" WHERE p"+inOf(0, keys), 5000); a.State == nil {
			t.Errorf("%s: a page that takes too long goes on to the next partition", table)
		}
	}
}
