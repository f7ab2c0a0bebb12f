// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestColumnOfAMoment has a store that shows a new column in its schema before it accepts statements that name
// the column, as Cassandra does. The client gets its answers.
func TestColumnOfAMoment(t *testing.T) {
	var left atomic.Int64 // how many statements the store still refuses
	st := &picky{Store: embedded(t), refuse: func(m wire.Message) *wire.Error {
		if m.Op == wire.OpPrepare && strings.Contains(string(m.Body), "late.t") && left.Add(-1) >= 0 {
			return wire.Invalidf("Undefined column name w in table late.t")
		}
		return nil
	}}
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
		left.Store(3)
		s.must(s.v5, text)
		if left.Load() >= 0 {
			t.Errorf("%s: the store refused nothing", text)
		}
	}
	left.Store(2)
	if p, err := s.v5.Prepare("SELECT w FROM " + table + " WHERE p = 1 AND c = 2"); err != nil || p.Kind != difftest.Prepared {
		t.Errorf("PREPARE: %v %s", err, show(p))
	}
}
