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
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestInOfRows compares drawn INs on the last clustering column, whose rows can be in any shard, with
// a plain table: among few and many rows, at once, in narrow steps, and in pages.
func TestInOfRows(t *testing.T) {
	all := append([]string{"{'shards': '5', 'by': 'c'}", "{'strategy': 'rollover', 'rows': '10'}"}, layouts...)
	for name, held := range map[string]int{"usual": maxHeld, "narrow": 400} {
		t.Run(name, func(t *testing.T) {
			w := &twins{scene: newScene(t, embedded(t)), layouts: all}
			w.router.reads.held = held
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

// TestRequestsOfAnIn has an IN name many rows of a partition. The requests to the store must not be as
// many as rows times shards.
func TestRequestsOfAnIn(t *testing.T) {
	c := &countedStore{Store: embedded(t)}
	s := newScene(t, c)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'strategy': 'random', 'shards': '50'}")
	const rows = 1000
	names := make([]string, rows)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	for i := range 20 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (1, %d, 1)", s.keyspace, 50*i))
	}
	text := "SELECT c FROM " + s.keyspace + ".t WHERE p = 1 AND c IN (" + strings.Join(names, ", ") + ")"
	c.executed.Store(0)
	a := s.query(s.v5, text)
	if a.Kind != difftest.Rows || len(a.Rows) != 20 {
		t.Fatal(show(a))
	}
	if n := c.executed.Load(); n > rows {
		t.Errorf("%d requests for %d rows of 50 shards", n, rows)
	}
}
