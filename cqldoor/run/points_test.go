// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestInOfRows compares drawn INs on the last clustering column, whose rows can be in any shard, with
// a plain table: among few and many rows, at once, in narrow steps, and in pages.
func TestInOfRows(t *testing.T) {
	all := append([]string{"{'shards': '5', 'by': 'c'}", "{'strategy': 'rollover', 'rows': '10'}"}, layouts...)
	for name, held := range map[string]int{"usual": read.MaxHeld, "narrow": 400} {
		t.Run(name, func(t *testing.T) {
			w := &twins{scene: newScene(t, embedded(t)), layouts: all}
			w.router.reads.Held = held
			w.create("p int, c int, d decimal, v text, s int static, PRIMARY KEY (p, c, d)", " WITH CLUSTERING ORDER BY (c ASC, d DESC)")
			for i := range 60 {
				if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, c, d, v, s) VALUES (1, %d, %d.%d, '%s', %d)", i%3, i, i%2*5, strings.Repeat("x", i), i)); fault != "" {
					t.Fatal(fault)
				}
			}
			list := func(n int) string {
				out := make([]string, n)
				for i := range out {
					n := mathrand.IntN(70)
					out[i] = fmt.Sprintf("%d.%d%s", n, mathrand.IntN(2)*5, strings.Repeat("0", mathrand.IntN(3)))
				}
				return strings.Join(out, ", ")
			}
			for range 40 {
				where := []string{"c = 1", "c IN (0, 2)", "c IN (2, 1, 0)", "p = 1 AND c = 2"}[mathrand.IntN(4)]
				if !strings.HasPrefix(where, "p") {
					where = []string{"p = 1", "p IN (1, 2)"}[mathrand.IntN(2)] + " AND " + where
				}
				where += " AND d IN (" + list(1+mathrand.IntN(250)) + ")"
				selection := []string{"*", "d", "v, s", "count(*)", "c, max(d)", "d, writetime(v)"}[mathrand.IntN(6)]
				if selection == "d, writetime(v)" {
					selection = "d, ttl(v)"
				}
				tail := []string{"", " ORDER BY c DESC, d ASC", " LIMIT 7", " PER PARTITION LIMIT 4", " GROUP BY p, c"}[mathrand.IntN(5)]
				if strings.Contains(where, "p IN") && strings.Contains(tail, "ORDER") {
					tail = "" // such a read has no pages
				}
				if fault := w.read("SELECT " + selection + " FROM TABLE WHERE " + where + tail); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// TestInOfPrefixes compares drawn INs on clustering columns that are not the last, alone and several
// together, with a plain table: many prefixes and few, at once, in narrow steps, and in pages that end
// within a prefix.
func TestInOfPrefixes(t *testing.T) {
	all := append([]string{"{'shards': '5', 'by': 'c'}", "{'shards': '5', 'by': 'd'}", "{'strategy': 'rollover', 'rows': '10'}"}, layouts...)
	for name, held := range map[string]int{"usual": read.MaxHeld, "narrow": 400} {
		t.Run(name, func(t *testing.T) {
			w := &twins{scene: newScene(t, embedded(t)), layouts: all}
			w.router.reads.Held = held
			w.create("p int, c int, d decimal, e text, v text, s int static, PRIMARY KEY (p, c, d, e)", " WITH CLUSTERING ORDER BY (c DESC, d ASC, e DESC)")
			for i := range 90 {
				if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, c, d, e, v, s) VALUES (1, %d, %d.%d, '%c', '%s', %d)", i%10, i%4, i%2*5, 'a'+i%3, strings.Repeat("x", i), i)); fault != "" {
					t.Fatal(fault)
				}
			}
			list := func(n int, one func() string) string {
				out := make([]string, n)
				for i := range out {
					out[i] = one()
				}
				return "(" + strings.Join(out, ", ") + ")"
			}
			c := func() string { return fmt.Sprint(mathrand.IntN(200) - 90) }
			d := func() string {
				return fmt.Sprintf("%d.%d%s", mathrand.IntN(5), mathrand.IntN(2)*5, strings.Repeat("0", mathrand.IntN(3)))
			}
			e := func() string { return fmt.Sprintf("'%c'", 'a'+mathrand.IntN(4)) }
			many := func() int { return 1 + mathrand.IntN([]int{3, 20, 250}[mathrand.IntN(3)]) }
			for range 30 {
				where := []string{"p = 1", "p IN (1, 2)"}[mathrand.IntN(2)] + " AND c IN " + list(many(), c)
				switch mathrand.IntN(6) {
				case 0:
					where += " AND d IN " + list(many(), d)
				case 1:
					where += " AND d IN " + list(many(), d) + " AND e IN " + list(1+mathrand.IntN(4), e)
				case 2:
					where += " AND d = " + d() + " AND e > " + e()
				case 3:
					where += " AND d < " + d()
				case 4:
					where += " AND d = " + d()
				}
				selection := []string{"*", "d, e", "v, s", "count(*)", "c, max(d)", "e, ttl(v)"}[mathrand.IntN(6)]
				tail := []string{"", " ORDER BY c ASC, d DESC, e ASC", " LIMIT 7", " PER PARTITION LIMIT 4", " GROUP BY p, c"}[mathrand.IntN(5)]
				if strings.Contains(where, "p IN") && strings.Contains(tail, "ORDER") {
					tail = "" // such a read has no pages
				}
				if fault := w.read("SELECT " + selection + " FROM TABLE WHERE " + where + tail); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// countedStore is a store that counts the requests that it carries out.
type countedStore struct {
	store.Store
	executed atomic.Int64
}

type countedLink struct {
	store.Forwarder
	of *countedStore
}

func (c *countedStore) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := c.Store.Open(ctx, o)
	if err != nil || o.Own {
		return l, err
	}
	return &countedLink{l.(store.Forwarder), c}, nil
}

func (l *countedLink) Forward(ctx context.Context, m wire.Message, to store.Receiver, tag uint32) {
	if m.Op == wire.OpExecute {
		l.of.executed.Add(1)
	}
	l.Forwarder.Forward(ctx, m, to, tag)
}

// TestRequestsOfAnIn has INs name many rows of a partition. The requests to the store must not be as
// many as rows or prefixes, let alone times shards.
func TestRequestsOfAnIn(t *testing.T) {
	c := &countedStore{Store: embedded(t)}
	s := newScene(t, c)
	const rows = 1000
	names := make([]string, rows)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	in := " IN (" + strings.Join(names, ", ") + ")"
	for _, test := range []struct {
		table, where string
		most         int64
	}{
		{"random", "c" + in + " AND d = 1", 200}, // 10 times 100 rows, at 50 shards
		{"calculated", "c" + in + " AND d = 1", 100},
		{"calculated", "c IN (0, 50, 100) AND d" + in, 100},
		{"calculated", "c" + in + " AND d IN (1, 2)", 100},
		{"calculated", "c" + in, 100},
		{"calculated", "c" + in + " ORDER BY c DESC", 100},
		{"alone", "c" + in, 20},
	} {
		layout := map[string]string{"random": "{'strategy': 'random', 'shards': '50'}", "calculated": "{'shards': '50'}", "alone": "{'shards': '1'}"}[test.table]
		s.must(s.v5, "CREATE TABLE IF NOT EXISTS "+s.keyspace+"."+test.table+" (p int, c int, d int, v int, PRIMARY KEY (p, c, d)) WITH write_sharding = "+layout)
		for i := range 20 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s.%s (p, c, d, v) VALUES (1, %d, 1, 1)", s.keyspace, test.table, 50*i))
		}
		text := "SELECT c FROM " + s.keyspace + "." + test.table + " WHERE p = 1 AND " + test.where
		c.executed.Store(0)
		a := s.query(s.v5, text)
		want := 20
		if strings.Contains(text, "100)") {
			want = 3
		}
		if a.Kind != difftest.Rows || len(a.Rows) != want {
			t.Fatal(show(a))
		}
		n := c.executed.Load()
		t.Logf("%d requests: %s, %.60s", n, test.table, test.where)
		if n > test.most {
			t.Errorf("%d requests for %.60s", n, test.where)
		}
	}
}
