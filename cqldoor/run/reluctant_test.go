// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// reluctant is a store that refuses some of the reads that are sent to it, as one does
// that throttles: the first and every fifth after it, while it is in the mood.
type reluctant struct {
	store.Store
	mood    atomic.Bool
	asked   atomic.Uint32
	refused atomic.Int64
}

type reluctantLink struct {
	store.Forwarder
	r       *reluctant
	version wire.Version
}

func (r *reluctant) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := r.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &reluctantLink{l.(store.Forwarder), r, o.Version}, nil
}

func (l *reluctantLink) Forward(ctx context.Context, m wire.Message, to store.Receiver, tag uint32) {
	if m.Op == wire.OpExecute && l.r.mood.Load() {
		n := l.r.asked.Add(1)
		if n%5 == 1 {
			l.r.refused.Add(1)
			e := &wire.Error{Code: wire.CodeReadTimeout, Consistency: wire.One, Required: 1}
			if n%2 == 0 {
				e = &wire.Error{Code: wire.CodeOverloaded}
			}
			to.Receive(tag, wire.Message{Op: wire.OpError, Body: e.Append(nil, l.version)})
			to.Flush()
			return
		}
	}
	l.Forwarder.Forward(ctx, m, to, tag)
}

// If a store refuses some reads for a while, a read of several shards must give the same result as
// without refusals: in one page and in several, with slices that take several statements, with rows
// that are merged from several shards, and with rows that are read in steps.
func TestRefusalsChangeNothing(t *testing.T) {
	r := &reluctant{Store: embedded(t)}
	s := newScene(t, r)
	s.router.reads.RetryFor = time.Minute
	text := func(q string) string { return strings.ReplaceAll(q, "KS", s.keyspace) }
	s.must(s.v5, text("CREATE TABLE KS.mixed (p int, c int, d int, v text, s int static, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC) AND write_sharding = {'shards': '13'}"))
	s.must(s.v5, text("CREATE TABLE KS.drawn (p int, c int, v text, l list<int>, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '7', 'strategy': 'random'}"))
	for i := range 60 {
		s.must(s.v5, text(fmt.Sprintf("INSERT INTO KS.mixed (p, c, d, v) VALUES (%d, %d, %d, '%s')", i%2, i/10, i%10, strings.Repeat("v", i))))
		s.must(s.v5, text(fmt.Sprintf("INSERT INTO KS.drawn (p, c, v) VALUES (%d, %d, '%d')", i%2, i/3, i)))
	}
	s.must(s.v5, text("UPDATE KS.mixed SET s = 5 WHERE p = 1"))
	s.must(s.v5, text("UPDATE KS.drawn SET l = [1, 2] WHERE p = 0 AND c = 2"))
	for _, held := range []int{read.MaxHeld, 1500} {
		s.router.reads.Held = held
		for _, q := range []string{
			"SELECT c, d, v, s FROM KS.mixed WHERE p = 0",
			"SELECT c, d FROM KS.mixed WHERE p = 1 AND (c, d) > (2, 5) AND (c) <= (9) ORDER BY c DESC, d ASC",
			"SELECT c, d FROM KS.mixed WHERE p IN (1, 0) AND c IN (1, 4, 11) LIMIT 20",
			"SELECT DISTINCT p, s FROM KS.mixed",
			"SELECT p, c, count(d), max(d) FROM KS.mixed WHERE p IN (0, 1) GROUP BY p, c",
			"SELECT count(*), sum(c), min(d) FROM KS.mixed WHERE p = 0 AND (c, d) >= (1, 2)",
			"SELECT c, v, l FROM KS.drawn WHERE p = 0",
			"SELECT c, v FROM KS.drawn WHERE p IN (0, 1) AND c > 5 PER PARTITION LIMIT 9",
			"SELECT p, c, v FROM KS.drawn",
		} {
			for _, size := range []int32{19, 1000} {
				r.mood.Store(false)
				want := show(s.paged(s.v5, text(q), size))
				r.mood.Store(true)
				before := r.refused.Load()
				r.asked.Store(0)
				a := s.paged(s.v5, text(q), size)
				if got := show(a); a.Kind == difftest.Error || got != want {
					t.Fatalf("%s, pages of %d, %d bytes held:\n%s\nnot\n%s", q, size, held, got, want)
				}
				if r.refused.Load() == before {
					t.Errorf("%s, pages of %d: nothing was refused", q, size)
				}
			}
		}
	}
}
