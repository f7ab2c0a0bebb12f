// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// counted is a session that counts its statements by their first word.
type counted struct {
	catalog.Session
	mu sync.Mutex
	n  map[string]int
}

func (c *counted) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	c.mu.Lock()
	c.n[strings.Fields(cql)[0]]++
	c.mu.Unlock()
	return c.Session.Query(ctx, cl, cql, values...)
}

// count has a scene's door count what it says to the directory.
func (s *scene) count() *counted {
	c := &counted{Session: s.router.schema.Session, n: map[string]int{}}
	s.router.reads.Buckets.Catalogue = catalog.NewBuckets(c)
	return c
}

const hourly = " WITH CLUSTERING ORDER BY (ts DESC) AND write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h'}"

// TestRefusedTimed names what strategy time cannot have, before anything is made.
func TestRefusedTimed(t *testing.T) {
	s := newScene(t, embedded(t))
	for _, c := range []struct{ columns, options, words string }{
		{"k int, ts timestamp, PRIMARY KEY (k, ts)", "'bucket': '1h'", "needs the one column that tells the time"},
		{"k int, ts timestamp, PRIMARY KEY (k, ts)", "'by': 'ts'", "needs the length of a bucket"},
		{"k int, ts timestamp, PRIMARY KEY (k, ts)", "'by': 'ts', 'bucket': 'soon'", "is not a length of time; write a whole number and a unit"},
		{"k int, ts timestamp, PRIMARY KEY (k, ts)", "'by': 'ts', 'bucket': '1s'", "too many until the year 2200"},
		{"k int, ts timestamp, PRIMARY KEY (k, ts)", "'by': 'at', 'bucket': '1h'", "is not a column of the table"},
		{"k int, ts timestamp, PRIMARY KEY (k, ts)", "'by': 'k', 'bucket': '1h'", "which is a partition key column"},
		{"k int, ts int, PRIMARY KEY (k, ts)", "'by': 'ts', 'bucket': '1h'", "tells no time; strategy 'time' needs a column of type timestamp, date or timeuuid"},
		{"k int, c int, ts timestamp, PRIMARY KEY (k, c, ts)", "'by': 'ts', 'bucket': '1h'", "which is not the first clustering column"},
		{"k int, d date, PRIMARY KEY (k, d)", "'by': 'd', 'bucket': '1h'", "take whole days, such as 1d"},
		{"k int, ts timestamp, s int static, PRIMARY KEY (k, ts)", "'by': 'ts', 'bucket': '1h'", "does not support static columns"},
	} {
		a := s.query(s.v5, "CREATE TABLE "+s.keyspace+".t ("+c.columns+") WITH write_sharding = {'strategy': 'time', "+c.options+"}")
		if a.Kind != difftest.Error || !strings.Contains(a.Text, c.words) {
			t.Errorf("%s, %s: %s", c.columns, c.options, show(a))
		}
	}
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, ts timestamp, v int, PRIMARY KEY (k, ts))"+hourly)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".c (k int, ts timestamp, v int, PRIMARY KEY (k, ts)) WITH write_sharding = {'shards': '4'}")
	for text, words := range map[string]string{
		"ALTER TABLE KS.t ADD s int static":                                                      "does not support static columns",
		"ALTER TABLE KS.t WITH write_sharding = {'bucket': '1h'}":                                "has this layout already",
		"ALTER TABLE KS.t WITH write_sharding = {'shards': '8', 'from': '2199-01-01'}":           "mean nothing under strategy 'time'",
		"ALTER TABLE KS.t WITH write_sharding = {'shards': '8', 'key': '1'}":                     "mean nothing under strategy 'time'",
		"ALTER TABLE KS.t WITH write_sharding = {'strategy': 'calculated'}":                      "number of shards is missing",
		"ALTER TABLE KS.c WITH write_sharding = {'strategy': 'time', 'by': 'k', 'bucket': '1h'}": "which is a partition key column",
		"ALTER TABLE KS.c WITH write_sharding = {'strategy': 'time', 'by': 'ts'}":                "needs the length of a bucket",
		"ALTER TABLE KS.t RENAME ts TO at":                                                       "cannot be renamed",
		"TRUNCATE KS.t":                                                                          "TRUNCATE of a table of strategy 'time' is not supported",
		"BEGIN BATCH DELETE FROM KS.t WHERE k = 1; APPLY BATCH":                                  "a BATCH cannot delete a range of many buckets",
		"BEGIN BATCH UPDATE KS.t SET v = 1 WHERE k = 1 AND ts = 0 IF EXISTS; UPDATE KS.t SET v = 1 WHERE k = 1 AND ts = 3600000; APPLY BATCH": "cannot span multiple partitions",
	} {
		a := s.query(s.v5, strings.ReplaceAll(text, "KS", s.keyspace))
		if a.Kind != difftest.Error || !strings.Contains(a.Text, words) {
			t.Errorf("%s: %s", text, show(a))
		}
	}
	s.must(s.v5, "ALTER TABLE "+s.keyspace+".t ADD w int")
}

// TestTwoDoorsAddBuckets has two doors write to new buckets and read: what one has
// acknowledged the other shows at once, and each adds a bucket to the directory once.
func TestTwoDoorsAddBuckets(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const lease = 2 * time.Second
		a := newSceneOf(t, st, startRouterOf(t, st, lease))
		b := newSceneOf(t, st, startRouterOf(t, st, lease))
		table := a.keyspace + ".log"
		a.must(a.v5, "CREATE TABLE "+table+" (k int, ts timestamp, v int, PRIMARY KEY (k, ts))"+hourly)
		b.must(b.v5, "SELECT * FROM "+table)
		counts := []*counted{a.count(), b.count()}
		const hours = 12
		var wait sync.WaitGroup
		for n, s := range []*scene{a, b} {
			other := []*scene{b, a}[n]
			wait.Go(func() {
				for i := range 2 * hours {
					// Both write to each bucket, and each then reads at the other.
					at := (i%hours)*3_600_000 + n*1000 + i
					if x := s.query(s.v5, fmt.Sprintf("INSERT INTO %s (k, ts, v) VALUES (1, %d, %d)", table, at, i)); x.Kind == difftest.Error {
						t.Errorf("door %d: %s", n, show(x))
					}
					conn := other.v4
					for _, where := range []string{fmt.Sprintf("ts = %d", at), fmt.Sprintf("ts >= %d", at), fmt.Sprintf("ts <= %d", at)} {
						x := other.paged(conn, "SELECT ts FROM "+table+" WHERE k = 1 AND "+where, 0)
						found := false
						for _, r := range x.Rows {
							found = found || int(be(r[0])) == at
						}
						if !found {
							t.Errorf("door %d does not show the row at %d with %s", 1-n, at, where)
						}
					}
				}
			})
		}
		wait.Wait()
		for n, c := range counts {
			if c.n["INSERT"] != hours {
				t.Errorf("door %d wrote the directory %d times for %d buckets", n, c.n["INSERT"], hours)
			}
		}
		for _, s := range []*scene{a, b} {
			if x := s.must(s.v5, "SELECT count(*) FROM "+table+" WHERE k = 1"); be(x.Rows[0][0]) != 4*hours {
				t.Errorf("%d rows, want %d", be(x.Rows[0][0]), 4*hours)
			}
		}
		// A deletion of all buckets at one door is of a bucket, too, that the other adds later.
		a.must(a.v5, "DELETE FROM "+table+" USING TIMESTAMP 9 WHERE k = 2")
		b.must(b.v5, "INSERT INTO "+table+" (k, ts, v) VALUES (2, 1, 1) USING TIMESTAMP 8")
		b.must(b.v5, "INSERT INTO "+table+" (k, ts, v) VALUES (2, 2, 1) USING TIMESTAMP 10")
		if x := a.must(a.v5, "SELECT ts FROM "+table+" WHERE k = 2"); len(x.Rows) != 1 || be(x.Rows[0][0]) != 2 {
			t.Errorf("after a deletion of all there is %s", show(x))
		}
	})
}

// TestFewBuckets counts what reads ask for: the newest rows take a look into the directory
// and one bucket or two, a range of two hours three buckets and no look.
func TestFewBuckets(t *testing.T) {
	s := newScene(t, embedded(t))
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".log (k int, ts timestamp, v int, PRIMARY KEY (k, ts))"+hourly)
	const hours, each = 200, 60
	for h := range hours {
		var rows []string
		for i := range each {
			rows = append(rows, fmt.Sprintf("INSERT INTO %s.log (k, ts, v) VALUES (1, %d, %d)", s.keyspace, h*3_600_000+i*1000, i))
		}
		s.must(s.v5, "BEGIN UNLOGGED BATCH "+strings.Join(rows, "; ")+"; APPLY BATCH")
	}
	c := s.count()
	newest := s.paged(s.v5, "SELECT ts FROM "+s.keyspace+".log WHERE k = 1 LIMIT 100", 0)
	if len(newest.Rows) != 100 || be(newest.Rows[0][0]) != (hours-1)*3_600_000+(each-1)*1000 || c.n["SELECT"] != 1 {
		t.Errorf("the newest 100 rows are %d, with %d looks into the directory", len(newest.Rows), c.n["SELECT"])
	}
	for text, buckets := range map[string]int{
		"SELECT v FROM KS.log WHERE k = 1 AND ts >= 36000000 AND ts <= 43199999":                                              2,
		"SELECT v FROM KS.log WHERE k = 1 AND ts >= 37800000 AND ts < 45000000":                                               3,
		"SELECT v FROM KS.log WHERE k = 1 AND ts = 36000000":                                                                  1,
		"SELECT v FROM KS.log WHERE k = 1 AND ts IN (0, 3600000)":                                                             2,
		"SELECT v FROM KS.log WHERE k = 1":                                                                                    hours,
		"SELECT v FROM KS.log WHERE k = 1 AND ts > 709200000":                                                                 3,
		"BEGIN BATCH DELETE FROM KS.log WHERE k = 1 AND ts = 0; DELETE FROM KS.log WHERE k = 1 AND ts = 3600000; APPLY BATCH": 2,
	} {
		a, payload, err := s.v5.SendPayload(&message.Prepare{Query: strings.ReplaceAll(text, "KS", s.keyspace)}, map[string][]byte{definitions.ExplainPayload: nil})
		if err != nil || a.Kind == difftest.Error {
			t.Fatal(err, show(a))
		}
		var e plan.Explained
		if err := json.Unmarshal(payload[definitions.ExplainPayload], &e); err != nil || len(e.Buckets) != buckets || e.Buckets[0][:4] != "1970" {
			t.Errorf("%s visits %v, %v; want %d buckets", text, e.Buckets, err, buckets)
		}
	}
}

// TestTimedCounters compares counters in buckets of time with those of a plain table.
func TestTimedCounters(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: timedLayouts}
		w.create("p int, c timestamp, d int, n counter, PRIMARY KEY (p, c, d)", " WITH CLUSTERING ORDER BY (c DESC, d ASC)")
		var rows []string
		for i := range 24 {
			rows = append(rows, fmt.Sprintf("UPDATE TABLE SET n = n + %d WHERE p = %d AND c = %d AND d = %d", i+1, i%2, i/4*1_800_000, i%4))
		}
		for _, text := range append(rows[:20:20], append([]string{
			"BEGIN COUNTER BATCH " + strings.Join(rows, "; ") + "; APPLY BATCH",
			"BEGIN UNLOGGED BATCH " + strings.Join(rows[:8], "; ") + "; APPLY BATCH",
			"DELETE FROM TABLE WHERE p = 1 AND c = 0 AND d = 1",
			"DELETE FROM TABLE WHERE p = 1 AND c = 1800000",
			"DELETE FROM TABLE WHERE p = 0 AND c > 7200000",
			"DELETE FROM TABLE WHERE p = 3",
		}, "UPDATE TABLE SET n = n + 5 WHERE p = 3 AND c = 0 AND d = 1")...) {
			if fault := w.write(text); fault != "" {
				t.Fatal(fault)
			}
		}
		for _, text := range []string{
			"SELECT * FROM TABLE WHERE p = 0", "SELECT * FROM TABLE WHERE p = 1 ORDER BY c ASC", "SELECT c, sum(n) FROM TABLE WHERE p = 1 GROUP BY c",
			"SELECT count(*), sum(n) FROM TABLE WHERE p IN (0, 1, 3)", "SELECT p, c, n FROM TABLE WHERE p IN (3, 0, 1) PER PARTITION LIMIT 3", "SELECT DISTINCT p FROM TABLE",
			"SELECT * FROM TABLE WHERE p = 0 AND (c, d) < (7200000, 2)", "SELECT n FROM TABLE WHERE p = 0 AND c = 0", "SELECT p, count(*) FROM TABLE GROUP BY p",
			"SELECT c, n FROM TABLE WHERE p = 1 AND n > 10 ALLOW FILTERING",
		} {
			if fault := w.read(text); fault != "" {
				t.Error(fault)
			}
		}
	})
}
