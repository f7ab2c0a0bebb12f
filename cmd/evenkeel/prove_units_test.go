// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/workbench/advice"
)

// TestProveUnits creates the tables that are advised for Amazon Keyspaces, for drawn sets, on the
// embedded engine with Keyspaces' limits: 1,000 write units a second for each partition. It writes
// the rows at the stated rate, on a clock that runs as fast as they do, and compares the units of the
// hottest key in its busiest time, and the share of the writes that is throttled.
func TestProveUnits(t *testing.T) {
	seed := *proveSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	var now atomic.Int64
	now.Store(still().UnixNano())
	addr := loopback.FreeAddr(t)
	s := &serveCmd{
		ListenCQL: addr, ListenHTTP: "off", ListenDynamoDB: "off", Data: t.TempDir(), Drain: time.Second, LogLevel: "error",
		capacityFlags: capacityFlags{Capacity: []string{"keyspaces"}, CapacitySplitAfter: splitAfter, clock: func() time.Time { return time.Unix(0, now.Load()) }},
	}
	serveInBackground(t, s, &stdio{io.Discard, io.Discard})
	awaitAddr(t, addr)
	session := connect(t, addr)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "seed\trows\tunits of a write\tunits/s of the hottest key, by shard\tthrottled\tkey\tset")
	for done := 0; done < (*proveSets+2)/3; seed++ {
		set := drawn.New(seed)
		if set.Target != "keyspaces" {
			continue
		}
		done++
		replayRows(t, w, session, &now, set, advisedDrawn(t, set))
	}
	w.Flush()
	t.Logf("predicted = measured\n%s", table.String())
}

// replayRows writes the rows of a set into the table that is advised for it. The table is warm, so
// that each shard has a partition of its own from the start.
func replayRows(t *testing.T, w io.Writer, session *gocql.Session, now *atomic.Int64, s *drawn.Set, r *advice.Report) {
	t.Helper()
	keyspace, c := fmt.Sprintf("units%d", s.Seed), &r.Candidates[0]
	table := createAdvised(t, session, keyspace, s, r, "CUSTOM_PROPERTIES = {'warm_throughput': {'read_units_per_second': 12000, 'write_units_per_second': 40000}}")
	run := pacedRows(t, s, r, func(row []string) bool { return table.bound(t, row) != nil })
	keys := make(map[string]float64)
	begin := now.Load()
	var refused atomic.Int64
	var writers errgroup.Group
	writers.SetLimit(32)
	for _, x := range run.rows {
		if run.timed && c.Heat.Moment.Writes*run.length/run.faster >= fewestRows {
			now.Store(max(now.Load(), begin+run.after(x.at)))
		}
		bound := table.bound(t, x.row)
		writers.Go(func() error {
			for { // the application writes again what is throttled
				err := session.Query(table.insert, bound...).Exec()
				var timeout *gocql.RequestErrWriteTimeout
				if err == nil || !errors.As(err, &timeout) {
					return err
				}
				refused.Add(1)
				now.Add(int64(20 * time.Millisecond))
			}
		})
		if run.busiest(x.at) {
			keys[logicalKey(s, c, x.row)]++
		}
	}
	if err := writers.Wait(); err != nil {
		t.Fatalf("%d: %v\n%s", s.Seed, err, r.Verdict.DDL[0])
	}
	units := 0.0
	iter := session.Query("SELECT write_units_total FROM system_views.evenkeel_partitions WHERE keyspace_name = ? AND table_name = 't'", keyspace).Iter()
	for n := 0.0; iter.Scan(&n); {
		units += n
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	each, most := units/float64(len(run.rows)), 0.0
	for _, n := range keys {
		most = max(most, n*each*run.faster/run.length/float64(c.Shards))
	}
	line := []string{
		fmt.Sprint(s.Seed), fmt.Sprint(len(run.rows)),
		compare(t, s, "units of a write", c.Heat.WriteUnits/c.Heat.Writes, each, 0),
	}
	if run.timed && c.Heat.Moment.Writes*run.length/run.faster >= fewestRows {
		line = append(line, compare(t, s, "units of the hottest key", c.Heat.WriteUnits, most, 0))
	} else {
		line = append(line, fmt.Sprintf("%.4g, %.4g", c.Heat.WriteUnits, most))
	}
	line = append(line, compare(t, s, "throttled share", c.Heat.Throttled, float64(refused.Load())/float64(len(run.rows)+int(refused.Load())), 0.01))
	fmt.Fprintln(w, strings.Join(append(line, c.Design, s.What), "\t"))
}
