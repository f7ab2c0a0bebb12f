// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// hoursAgo is an instant as CQL.
func hoursAgo(n int) string {
	return time.Now().Add(-time.Duration(n) * time.Hour).UTC().Format("'2006-01-02T15:04:05Z'")
}

// nothingBelowFloor writes below the floor of a new table.
func nothingBelowFloor(w *twins) string {
	for _, text := range []string{
		"INSERT INTO TABLE (p, c, v) VALUES (1, " + hoursAgo(9) + ", 'x')",
		"UPDATE TABLE SET v = 'y' WHERE p = 2 AND c = " + hoursAgo(100),
		"UPDATE TABLE SET v = 'y' WHERE p = 2 AND c = " + hoursAgo(100) + " IF v = null",
		"BEGIN BATCH INSERT INTO TABLE (p, c, v) VALUES (1, " + hoursAgo(1) + ", 'x'); INSERT INTO TABLE (p, c, v) VALUES (1, " + hoursAgo(9) + ", 'x'); APPLY BATCH",
	} {
		a := w.query(w.v5, w.text(0, text))
		if a.Kind != difftest.Error || a.Code != 0x2200 || !strings.Contains(a.Text, "its bucket was dropped") {
			return text + ": " + show(a)
		}
	}
	if a := w.must(w.v5, w.text(0, "SELECT c FROM TABLE WHERE p IN (1, 2)")); len(a.Rows) > 0 {
		return show(a)
	}
	return ""
}

// deletions is a session that counts the deletions of partitions.
type deletions struct {
	catalog.Session
	partitions, entries int
}

func (d *deletions) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	switch {
	case strings.HasPrefix(cql, "DELETE FROM evenkeel.buckets"):
		d.entries++
	case strings.HasPrefix(cql, "DELETE FROM"):
		d.partitions++
	}
	return d.Session.Query(ctx, cl, cql, values...)
}

// TestKeep checks that the doors drop buckets that are older than a table's keep, as a whole, with
// one deletion for each physical partition. Younger rows must stay, and the other door must refuse
// rows that are too old.
func TestKeep(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const lease = time.Second
		a := newSceneOf(t, st, startRouterOf(t, st, lease))
		b := newSceneOf(t, st, startRouterOf(t, st, lease))
		table := a.keyspace + ".log"
		a.must(a.v5, "CREATE TABLE "+table+" (k int, j text, ts timestamp, v int, PRIMARY KEY ((k, j), ts)) WITH write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'shards': '2', 'keep': '1000h'}")
		b.must(b.v5, "SELECT * FROM "+table)
		const keys, hours = 3, 20
		insert := func(s *scene, k, h int) *difftest.Answer {
			return s.query(s.v5, fmt.Sprintf("INSERT INTO %s (k, j, ts, v) VALUES (%d, 'x', %s, %d)", table, k, hoursAgo(h), h))
		}
		for k := range keys {
			for h := range hours {
				// Of the future as far as the store can tell: it is dropped with its bucket.
				a.must(a.v5, fmt.Sprintf("INSERT INTO %s (k, j, ts, v) VALUES (%d, 'x', %s, %d) USING TIMESTAMP %d", table, k, hoursAgo(h), h, time.Now().Add(1000*time.Hour).UnixMicro()))
			}
		}
		a.must(a.v5, "ALTER TABLE "+table+" WITH write_sharding = {'keep': '10h'}")
		keeper := buckets.NewKeeper(a.router.schema, a.router.definer.Movers.Ended)
		counted := &deletions{Session: a.router.schema.Session}
		keeper.Session, keeper.Buckets = counted, catalog.NewBuckets(counted)
		keeper.Round(t.Context())
		for k := range keys {
			x := b.must(b.v5, fmt.Sprintf("SELECT v FROM %s WHERE k = %d AND j = 'x'", table, k))
			// The bucket that the present hour of ten hours ago is in stays.
			if n := len(x.Rows); n != 11 && n != 10 {
				t.Errorf("key %d has %d rows: %s", k, n, show(x))
			}
			for _, r := range x.Rows {
				if be(r[0]) > 10 {
					t.Errorf("key %d has a row of %d hours ago", k, be(r[0]))
				}
			}
		}
		if most := keys * (hours - 10); counted.entries > most || counted.entries < most-keys || counted.partitions != 2*counted.entries {
			t.Errorf("%d buckets of %d and %d partitions were deleted", counted.entries, most, counted.partitions)
		}
		for n, s := range []*scene{a, b} {
			if x := insert(s, 1, 12); x.Kind != difftest.Error || !strings.Contains(x.Text, "which keeps rows for 10h ('keep'): its bucket was dropped") {
				t.Errorf("door %d: a late row: %s", n, show(x))
			}
			if x := insert(s, 1, 9); x.Kind == difftest.Error {
				t.Errorf("door %d: %s", n, show(x))
			}
			if x := s.query(s.v5, fmt.Sprintf("DELETE FROM %s WHERE k = 1 AND j = 'x' AND ts = %s", table, hoursAgo(12))); x.Kind == difftest.Error {
				t.Errorf("door %d: %s", n, show(x))
			}
		}
		// Again there is nothing to do.
		counted.partitions = 0
		keeper.Round(t.Context())
		if counted.partitions > 0 {
			t.Errorf("%d partitions are deleted again", counted.partitions)
		}
	})
}

// TestKeepThroughChanges changes how long a table keeps its rows, and then its buckets. What was dropped
// stays so, and rows below the floor are refused all the time.
func TestKeepThroughChanges(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		table := s.keyspace + ".log"
		s.must(s.v5, "CREATE TABLE "+table+" (k int, ts timestamp, v int, PRIMARY KEY (k, ts)) WITH write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'shards': '2', 'keep': '20h'}")
		insert := func(h int) string {
			return fmt.Sprintf("INSERT INTO %s (k, ts, v) VALUES (1, %s, %d)", table, hoursAgo(h), h)
		}
		for h := range 15 {
			s.must(s.v5, insert(h))
		}
		keeper := func() { buckets.NewKeeper(s.router.schema, s.router.definer.Movers.Ended).Round(t.Context()) }
		alter := func(options string, keeps bool) {
			t.Helper()
			s.must(s.v5, "ALTER TABLE "+table+" WITH write_sharding = {"+options+"}")
			for deadline := time.Now().Add(patience); !strings.Contains(show(s.must(s.v5, "ALTER TABLE "+table+" WITH write_sharding = {'change': 'status'}")), `"phase":"none"`); {
				if keeper(); time.Now().After(deadline) {
					t.Fatalf("%s does not end", options)
				}
				if !keeps {
					continue
				}
				if late := s.query(s.v5, insert(12)); late.Kind != difftest.Error || !strings.Contains(late.Text, "its bucket was dropped") {
					t.Fatalf("a late row during %s: %s", options, show(late))
				}
			}
		}
		rows := func(least, most int) {
			t.Helper()
			x := s.must(s.v5, "SELECT v FROM "+table+" WHERE k = 1")
			if n := len(x.Rows); n < least || n > most {
				t.Errorf("%d rows, and not %d or %d: %s", n, least, most, show(x))
			}
		}
		keeper()
		rows(15, 15)
		s.must(s.v5, "ALTER TABLE "+table+" WITH write_sharding = {'keep': '9h'}")
		rows(15, 15)
		keeper()
		rows(9, 10)
		alter("'bucket': '3h', 'shards': '1'", true)
		rows(9, 10)
		if x := s.query(s.v5, insert(12)); x.Kind != difftest.Error || !strings.Contains(x.Text, "its bucket was dropped") {
			t.Errorf("a late row after the change: %s", show(x))
		}
		s.must(s.v5, "ALTER TABLE "+table+" WITH write_sharding = {'keep': '4h'}")
		keeper()
		rows(4, 7) // buckets of three hours
		if x := s.query(s.v5, "ALTER TABLE "+table+" WITH write_sharding = {'keep': '2h'}"); x.Kind != difftest.Error || !strings.Contains(x.Text, "shorter than a bucket") {
			t.Error(show(x))
		}
		alter("'strategy': 'calculated', 'shards': '3'", false)
		s.must(s.v5, insert(12))
		rows(5, 8)
	})
}

// TestKeepAndTTL refuses times to live that are longer than rows are kept.
func TestKeepAndTTL(t *testing.T) {
	s := newScene(t, embedded(t))
	const columns, with = ".t (k int, ts timestamp, v int, PRIMARY KEY (k, ts)) WITH ", "write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'keep': '2h'}"
	refused := func(text, words string) {
		t.Helper()
		a := s.query(s.v5, strings.ReplaceAll(text, "KS", s.keyspace))
		if a.Kind != difftest.Error || !strings.Contains(a.Text, words) {
			t.Errorf("%s: %s", text, show(a))
		}
	}
	refused("CREATE TABLE KS"+columns+with+" AND default_time_to_live = 7201", "default_time_to_live is 7201, longer than 'keep', which is 2h")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+columns+with+" AND default_time_to_live = 7200")
	refused("ALTER TABLE KS.t WITH default_time_to_live = 8000", "default_time_to_live is 8000, longer than 'keep'")
	for _, text := range []string{
		"INSERT INTO KS.t (k, ts, v) VALUES (1, toTimestamp(now()), 1) USING TTL 7201",
		"UPDATE KS.t USING TTL 7201 SET v = 1 WHERE k = 1 AND ts IN (0, 1)",
		"BEGIN BATCH INSERT INTO KS.t (k, ts, v) VALUES (1, 0, 1) USING TTL 7201; APPLY BATCH",
		"UPDATE KS.t USING TTL 7201 SET v = 1 WHERE k = 1 AND ts = 0 IF v = 1",
	} {
		refused(text, "USING TTL 7201 is longer than "+s.keyspace+".t keeps rows, which is 2h")
	}
	s.must(s.v5, strings.ReplaceAll("INSERT INTO KS.t (k, ts, v) VALUES (1, "+hoursAgo(0)+", 1) USING TTL 7200", "KS", s.keyspace))
}

// TestKeepAsksTheStoreForItsTime drops nothing by a clock that is wrong.
func TestKeepAsksTheStoreForItsTime(t *testing.T) {
	st := embedded(t)
	var ahead atomic.Int64 // of the right time, in ns
	s := newSceneOf(t, st, startRouterBy(t, st, 0, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, ts timestamp, PRIMARY KEY (k, ts)) WITH write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'keep': '24h'}")
	s.must(s.v5, "INSERT INTO "+s.keyspace+".t (k, ts) VALUES (1, "+hoursAgo(1)+")")
	k := buckets.NewKeeper(s.router.schema, s.router.definer.Movers.Ended)
	ahead.Store(int64(1000 * time.Hour))
	err := k.Table(t.Context(), s.router.schema.View.Load().Tables[s.keyspace]["t"])
	ahead.Store(0)
	if err == nil || !strings.Contains(err.Error(), "clocks") {
		t.Error(err)
	}
	if a := s.must(s.v5, "SELECT * FROM "+s.keyspace+".t"); len(a.Rows) != 1 {
		t.Error(show(a))
	}
}

// TestFloorRisesUnderWrites checks that the answer to a write says what the write did, even if the
// floor of its table has risen while it was under way.
func TestFloorRisesUnderWrites(t *testing.T) {
	st := embedded(t)
	s := newSceneOf(t, st, startRouterOf(t, st, 2*time.Second))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, ts timestamp, PRIMARY KEY (k, ts)) WITH write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'keep': '20h'}")
	s.must(s.v5, "ALTER TABLE "+s.keyspace+".t WITH write_sharding = {'keep': '2h'}")
	write, err := s.router.queries.statements.Statement(s.keyspace, "INSERT INTO t (k, ts) VALUES (1, 0)")
	if err != nil {
		t.Fatal(err)
	}
	buckets.NewKeeper(s.router.schema, s.router.definer.Movers.Ended).Round(t.Context())
	if s.router.state.Load().Under == write.Under {
		t.Fatal("the floor has not risen")
	}
	if stands, err := s.router.attempts.Premises.Stands(t.Context(), write, math.MinInt64); !stands || err != nil {
		t.Errorf("%v, %v", stands, err)
	}
}
