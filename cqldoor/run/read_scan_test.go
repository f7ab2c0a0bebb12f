// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// slow is a store that takes a while for what clients execute, and counts.
type slow struct {
	store.Store
	takes atomic.Int64 // nanoseconds

	mu         sync.Mutex
	now        int // executions in flight
	most, sent int
}

func (s *slow) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *slow) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil || o.Own {
		return l, err
	}
	return slowLink{l, s}, nil
}

// reset begins to count anew, when what was read ahead for nothing has come.
func (s *slow) reset() {
	for {
		s.mu.Lock()
		if s.now == 0 {
			s.most, s.sent = 0, 0
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

func (s *slow) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += n
	s.sent += max(n, 0)
	s.most = max(s.most, s.now)
}

type slowLink struct {
	store.Link
	s *slow
}

func (l slowLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if req.Op != wire.OpExecute {
		l.Link.Send(ctx, req, reply)
		return
	}
	l.s.count(1)
	l.Link.Send(ctx, req, func(resp wire.Message) {
		resp.Body = append([]byte{}, resp.Body...)
		time.AfterFunc(time.Duration(l.s.takes.Load()), func() {
			l.s.count(-1)
			reply(resp)
		})
	})
}

// TestScansReadAhead says that a scan of owners reads several partitions at once,
// in order nevertheless, and not many more than a page takes.
func TestScansReadAhead(t *testing.T) {
	st := &slow{Store: embedded(t)}
	s := &scene{t: t}
	c := dial(t, serveDoor(t, st, startRouter(t, st)), primitive.ProtocolVersion5)
	s.must(c, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	s.must(c, "CREATE TABLE ks.t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	const partitions = 100
	for p := range partitions {
		for i := range 8 {
			s.must(c, fmt.Sprintf("INSERT INTO ks.t (p, c, v) VALUES (%d, %d, 1)", p, i))
		}
	}
	for _, test := range []struct {
		text        string
		page        int32
		rows        int // of the first page
		most, least int // requests of the first page
	}{
		{"SELECT DISTINCT p FROM ks.t", 0, partitions, 1000, 0},
		{"SELECT p, count(*) FROM ks.t GROUP BY p", 0, partitions, 1000, 0},
		{"SELECT p, c FROM ks.t PER PARTITION LIMIT 2", 0, 2 * partitions, 1000, 0},
		{"SELECT DISTINCT p FROM ks.t", 5, 5, 60, 5},
		{"SELECT p, c FROM ks.t PER PARTITION LIMIT 2", 10, 10, 80, 5},
	} {
		s.must(c, test.text) // what a row takes is known afterwards
		st.reset()
		// Far more than a busy machine takes between two requests.
		st.takes.Store(int64(50 * time.Millisecond))
		a, err := c.Query(difftest.Request{Query: test.text, PageSize: test.page})
		if err != nil || len(a.Rows) != test.rows {
			t.Fatalf("%s: %d rows, %v", test.text, len(a.Rows), err)
		}
		st.takes.Store(0)
		if st.most < 3 || st.most > 32 {
			t.Errorf("%s: up to %d requests were in flight", test.text, st.most)
		}
		if st.sent > test.most || st.sent < test.least {
			t.Errorf("%s in pages of %d: %d requests", test.text, test.page, st.sent)
		}
		whole, paged := s.must(c, test.text), s.paged(c, test.text, 7)
		if fmt.Sprint(whole.Rows) != fmt.Sprint(paged.Rows) {
			t.Errorf("%s: the pages are not the whole", test.text)
		}
	}
}

// TestScansPause reads in pages most of which have to end after the first partition that a scan meets, because
// the time of the request is short. The scan goes on after it, also if it showed no row: all pages together have
// the rows of the scan in one page, in its order.
func TestScansPause(t *testing.T) {
	const remains = "'strategy': 'calculated', 'shards': '8'" // with rows that are in other shards, too
	for _, layout := range []string{"'shards': '16'", remains, "'strategy': 'rollover', 'rows': '10'", "'strategy': 'time', 'by': 'c', 'bucket': '1h', 'shards': '3'"} {
		t.Run(layout, func(t *testing.T) {
			s := newScene(t, embedded(t))
			r := rand.New(rand.NewPCG(1, uint64(len(layout))))
			table := s.keyspace + ".t"
			s.must(s.v5, "CREATE TABLE "+table+" (p int, c timestamp, v int, PRIMARY KEY (p, c)) WITH write_sharding = {"+layout+"}")
			for p := range 25 {
				for range 1 + r.IntN(20) {
					s.must(s.v5, fmt.Sprintf("INSERT INTO %s (p, c, v) VALUES (%d, %d, %d)", table, p, r.IntN(20)*1_200_000, r.IntN(10)))
					if strings.Contains(layout, "rollover") && r.IntN(4) == 0 {
						s.roll(table, be32(p))
					}
				}
			}
			if layout == remains {
				s.publish(table, func(e *catalog.Entry) *catalog.Entry {
					l := *e.Layout
					l.Remains = true
					return e.With(&l)
				})
				for p := range 25 {
					for range 6 {
						s.must(s.direct, fmt.Sprintf("INSERT INTO %s (p, c, shard, v) VALUES (%d, %d, %d, 3) USING TIMESTAMP 1", table, p, -1_200_000*(1+r.IntN(20)), 1+r.IntN(8)))
					}
				}
			}
			empty := 0
			for _, text := range []string{
				"SELECT DISTINCT p FROM " + table,
				"SELECT p, c FROM " + table + " PER PARTITION LIMIT 2",
				"SELECT p, c FROM " + table + " PER PARTITION LIMIT 2 LIMIT 11",
				"SELECT p, c FROM " + table + " WHERE v = 3 PER PARTITION LIMIT 3 ALLOW FILTERING",
				"SELECT p, count(*), max(c) FROM " + table + " GROUP BY p",
				"SELECT p, c, max(v) FROM " + table + " GROUP BY p, c PER PARTITION LIMIT 2 LIMIT 23",
			} {
				s.router.reads.Timeout = 0
				whole := s.must(s.v5, text)
				if len(whole.Rows) < 5 {
					t.Fatalf("%s: only %d rows", text, len(whole.Rows))
				}
				pages := 0
				paged := s.pages(func(state []byte) (*difftest.Answer, error) {
					s.router.reads.Timeout = time.Duration(min(1, r.IntN(8))) // 0: the page need not pause
					a, err := s.v5.Query(difftest.Request{Query: text, PageSize: 7, State: state})
					if pages++; err == nil && len(a.Rows) == 0 {
						empty++
					}
					return a, err
				})
				if fmt.Sprint(paged.Rows) != fmt.Sprint(whole.Rows) {
					t.Errorf("%s: the pages have %d rows, the whole has %d:\n%v\n%v", text, len(paged.Rows), len(whole.Rows), paged.Rows, whole.Rows)
				}
				if least := len(whole.Rows) / 4; pages < least {
					t.Errorf("%s: %d pages, not %d: they did not pause", text, pages, least)
				}
				for range 4 { // some pages pause at once, and the next one has all the rest
					left := r.IntN(2 * pages)
					rest := s.pages(func(state []byte) (*difftest.Answer, error) {
						s.router.reads.Timeout = time.Duration(min(1, left))
						left = max(0, left-1)
						return s.v5.Query(difftest.Request{Query: text, PageSize: 1000, State: state})
					})
					if fmt.Sprint(rest.Rows) != fmt.Sprint(whole.Rows) {
						t.Errorf("%s: the pages have %d rows, the whole has %d:\n%v\n%v", text, len(rest.Rows), len(whole.Rows), rest.Rows, whole.Rows)
					}
				}
			}
			if empty < 10 {
				t.Errorf("only %d pages are empty", empty)
			}
		})
	}
}
