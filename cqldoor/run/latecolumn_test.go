// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// lateColumn is a store whose statements may not name column w yet: it refuses a number of them.
type lateColumn struct {
	store.Store
	left atomic.Int64
}

type lateColumnLink struct {
	store.Forwarder
	of      *lateColumn
	version wire.Version
}

func (s *lateColumn) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &lateColumnLink{l.(store.Forwarder), s, o.Version}, nil
}

func (l *lateColumnLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if req.Op == wire.OpPrepare && strings.Contains(string(req.Body), "late.t") && l.of.left.Add(-1) >= 0 {
		e := wire.Invalidf("Undefined column name w in table late.t")
		go reply(wire.Message{Op: wire.OpError, Body: e.Append(nil, l.version)})
		return
	}
	l.Forwarder.Send(ctx, req, reply)
}

// TestColumnOfAMoment has a store show a new column before its statements may name it, as Cassandra does: the
// client gets its answer.
func TestColumnOfAMoment(t *testing.T) {
	st := &lateColumn{Store: embedded(t)}
	s := newScene(t, st)
	table := "late.t"
	s.must(s.v5, "CREATE KEYSPACE late WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	s.must(s.v5, "CREATE TABLE "+table+" (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
	s.must(s.v5, "ALTER TABLE "+table+" ADD w int")
	for _, text := range []string{
		"UPDATE " + table + " SET w = 3 WHERE p = 1 AND c IN (1, 2, 3)",
		"SELECT * FROM " + table + " WHERE p = 1",
		"SELECT max(w) FROM " + table + " WHERE p IN (1, 2)",
	} {
		st.left.Store(3)
		s.must(s.v5, text)
		if st.left.Load() >= 0 {
			t.Errorf("%s: the store refused nothing", text)
		}
	}
	st.left.Store(2)
	if p, err := s.v5.Prepare("SELECT w FROM " + table + " WHERE p = 1 AND c = 2"); err != nil || p.Kind != difftest.Prepared {
		t.Errorf("PREPARE: %v %s", err, show(p))
	}
}
