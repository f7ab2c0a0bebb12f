// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/engine/cassandra"
)

// benchSession is a driver's session with a door on an embedded engine.
func benchSession(b *testing.B) *gocql.Session {
	e, err := cassandra.Open(b.TempDir(), cassandra.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	r := New(Options{Store: e, Now: time.Now, Timeuuid: random, UUID: random, IntN: mathrand.IntN})
	if err := r.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Close)
	d, err := cqldoor.New(context.Background(), cqldoor.Options{Store: e, Router: r})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = d.Run() }()
	go func() { _ = d.Serve(ln) }()
	b.Cleanup(func() { _ = d.Shutdown(context.Background()) })
	c := gocql.NewCluster(ln.Addr().String())
	c.Timeout, c.DisableInitialHostLookup = time.Minute, true
	s, err := c.CreateSession()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

// BenchmarkNewest reads the newest 100 rows of a key. The key is an unsharded partition of 100
// rows, or it has 10,000 buckets of strategy time. Then the rows are in the newest bucket, in the
// newest ten, or in one behind a thousand buckets whose rows were deleted. It also reads an hour by
// its bounds. In turn, it reads the first three tables one after the other, divides the median time of each
// by that of the unsharded one, and reports the ratio.
//
//	go test ./cqldoor/run -run '^$' -bench Newest
func BenchmarkNewest(b *testing.B) {
	s := benchSession(b)
	exec := func(text string, values ...any) {
		if err := s.Query(text, values...).Exec(); err != nil {
			b.Fatal(err)
		}
	}
	exec("CREATE KEYSPACE bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	const columns = " (k int, ts timestamp, v text, PRIMARY KEY (k, ts)) WITH CLUSTERING ORDER BY (ts DESC)"
	for table, sharding := range map[string]string{
		"plain": "", "dense": " AND write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h'}", "sparse": " AND write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h'}",
		"emptied": " AND write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h'}",
	} {
		exec("CREATE TABLE bench." + table + columns + sharding)
	}
	const buckets = 10_000
	hour := func(h, i int) time.Time { return time.Unix(int64(h)*3600+int64(i), 0) }
	put := func(table string, at time.Time) {
		exec("INSERT INTO bench."+table+" (k, ts, v) VALUES (1, ?, 'a line of a log, as long as many')", at)
	}
	for i := range 100 {
		put("plain", hour(buckets, i))
		put("dense", hour(buckets, i))
		put("sparse", hour(buckets-i/10, i))
		put("emptied", hour(0, i))
	}
	for h := range 1000 {
		put("emptied", hour(h+1, 0))
		exec("DELETE FROM bench.emptied WHERE k = 1 AND ts = ?", hour(h+1, 0))
	}
	for h := range buckets {
		put("dense", hour(h, 0))
		if h < buckets-10 {
			put("sparse", hour(h, 0))
		}
	}
	hundred := func(b *testing.B, text string, values ...any) {
		it := s.Query(text, values...).Iter()
		n := 0
		for scan := it.Scanner(); scan.Next(); {
			n++
		}
		if err := it.Close(); err != nil || n != 100 {
			b.Fatal(n, err)
		}
	}
	read := func(name, text string, values ...any) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				hundred(b, text, values...)
			}
		})
	}
	read("unsharded", "SELECT * FROM bench.plain WHERE k = 1 LIMIT 100")
	read("newest/one bucket has them", "SELECT * FROM bench.dense WHERE k = 1 LIMIT 100")
	read("newest/ten buckets have them", "SELECT * FROM bench.sparse WHERE k = 1 LIMIT 100")
	read("newest/behind a thousand without rows", "SELECT * FROM bench.emptied WHERE k = 1 LIMIT 100")
	read("an hour", "SELECT * FROM bench.dense WHERE k = 1 AND ts >= ? AND ts < ?", hour(buckets, 0), hour(buckets, 1000))
	b.Run("in turn", func(b *testing.B) {
		tables := []string{"plain", "dense", "sparse"}
		took := map[string][]time.Duration{}
		for b.Loop() {
			for _, table := range tables {
				from := time.Now()
				hundred(b, "SELECT * FROM bench."+table+" WHERE k = 1 LIMIT 100")
				took[table] = append(took[table], time.Since(from))
			}
		}
		median := func(table string) float64 {
			slices.Sort(took[table])
			return float64(took[table][len(took[table])/2])
		}
		for _, table := range tables[1:] {
			b.ReportMetric(median(table)/median("plain"), table+"/plain")
		}
	})
	for _, table := range []string{"plain", "dense"} {
		b.Run("insert/"+table, func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				exec(fmt.Sprintf("INSERT INTO bench.%s (k, ts, v) VALUES (2, ?, 'a line of a log, as long as many')", table), hour(buckets, i%3600))
			}
		})
	}
}

// BenchmarkLog writes a log that never ends, in order of time, in batches of 100 rows: 100,000 rows an
// hour, for a key with buckets of an hour. It reports how many rows a partition has at most.
//
//	go test ./cqldoor/run -run '^$' -bench Log -benchtime 1000000x -timeout 0    # 100 million rows
func BenchmarkLog(b *testing.B) {
	s := benchSession(b)
	for _, text := range []string{
		"CREATE KEYSPACE bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE bench.log (k int, ts timestamp, v text, PRIMARY KEY (k, ts)) WITH CLUSTERING ORDER BY (ts DESC) AND write_sharding = {'strategy': 'time', 'by': 'ts', 'bucket': '1h'}",
	} {
		if err := s.Query(text).Exec(); err != nil {
			b.Fatal(err)
		}
	}
	const perBatch, perHour = 100, 100_000
	at := func(row int) time.Time { return time.UnixMilli(int64(row) * 3_600_000 / perHour) }
	var rows atomic.Int64
	b.RunParallel(func(each *testing.PB) {
		for each.Next() {
			from := int(rows.Add(perBatch)) - perBatch
			batch := s.Batch(gocql.UnloggedBatch)
			for i := range perBatch {
				batch.Query("INSERT INTO bench.log (k, ts, v) VALUES (1, ?, 'a line of a log, as long as many')", at(from+i))
			}
			if err := batch.Exec(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	most, all := 0, 0
	for hour := 0; hour*perHour < int(rows.Load()); hour++ {
		n := 0
		from := time.Unix(int64(hour)*3600, 0)
		if err := s.Query("SELECT count(*) FROM bench.log WHERE k = 1 AND ts >= ? AND ts < ?", from, from.Add(time.Hour)).Scan(&n); err != nil {
			b.Fatal(err)
		}
		most, all = max(most, n), all+n
	}
	if all != int(rows.Load()) {
		b.Errorf("%d of %d rows are there", all, rows.Load())
	}
	b.ReportMetric(float64(rows.Load())/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(most), "rows/partition")
}
