// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/google/go-cmp/cmp"
)

// TestGocql runs the session of python/session.py with gocql, in this process.
func TestGocql(t *testing.T) {
	want := gocqlSession(t, judge(t))
	for _, d := range doors(t) {
		t.Run(d.name, func(t *testing.T) {
			if diff := cmp.Diff(want, gocqlSession(t, d)); diff != "" {
				t.Errorf("what the session sees differs (- Cassandra, + %s):\n%s", d.name, diff)
			}
		})
	}
}

func gocqlSession(t *testing.T, s server) (seen []string) {
	say := func(what ...any) { seen = append(seen, fmt.Sprintln(what...)) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v; seen so far: %v", s.name, err, seen)
		}
	}
	host, port, err := net.SplitHostPort(s.addr)
	must(err)
	number, err := strconv.Atoi(port)
	must(err)
	keyspace := cassandra.Keyspace(t, "drv")

	config := gocql.NewCluster(host)
	config.Port = number
	config.Timeout, config.ConnectTimeout = time.Minute, time.Minute
	config.Consistency = gocql.One
	config.ReconnectInterval = time.Second
	config.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 100, Interval: 500 * time.Millisecond}
	config.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	session, err := config.CreateSession()
	must(err)
	defer session.Close()
	ctx := context.Background()
	exec := func(stmt string, values ...any) {
		t.Helper()
		must(session.Query(stmt, values...).ExecContext(ctx))
	}

	exec("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	table := keyspace + ".t"
	with := ""
	if s.properties != "" {
		with = " WITH " + s.properties
	}
	exec("CREATE TABLE " + table + " (day date, title text, n int, tags set<text>, PRIMARY KEY (day, title))" + with)

	// gocql learns of the table by an event.
	var tm *gocql.TableMetadata
	for deadline := time.Now().Add(patience); tm == nil; time.Sleep(100 * time.Millisecond) {
		meta, err := session.KeyspaceMetadata(keyspace)
		if err == nil {
			tm = meta.Tables["t"]
		}
		if tm == nil && time.Now().After(deadline) {
			t.Fatalf("%s: no metadata of the table: %v", s.name, err)
		}
	}
	say("partition key", len(tm.PartitionKey), "clustering", len(tm.ClusteringColumns))
	var columns []string
	for name, c := range tm.Columns {
		columns = append(columns, fmt.Sprint(name, c.Kind, c.Type))
	}
	slices.Sort(columns)
	say(columns)

	for i := range 105 {
		exec("INSERT INTO "+table+" (day, title, n, tags) VALUES (?, ?, ?, ?)", "2020-07-09", fmt.Sprintf("title %03d", i), i, []string{"a", fmt.Sprint(i % 3)})
	}
	one := func() (title string, n int, tags []string, err error) {
		err = session.Query("SELECT title, n, tags FROM "+table+" WHERE day = ? AND title = ?", "2020-07-09", "title 042").ScanContext(ctx, &title, &n, &tags)
		return
	}
	title, n, tags, err := one()
	must(err)
	say(title, n, tags)
	err = session.Query("SELECT n FROM "+table+" WHERE day = ? AND title = ?", "2020-07-09", "nothing").ScanContext(ctx, &n)
	say("none", errors.Is(err, gocql.ErrNotFound))

	pages := func() (titles []string) {
		iter := session.Query("SELECT title FROM "+table+" WHERE day = ?", "2020-07-09").PageSize(10).IterContext(ctx)
		for iter.Scan(&title) {
			titles = append(titles, title)
		}
		must(iter.Close())
		return titles
	}
	titles := pages()
	say("rows", len(titles), "in order", slices.IsSorted(titles), titles[0], titles[len(titles)-1])

	b := session.Batch(gocql.LoggedBatch)
	for i := range 3 {
		b.Query("INSERT INTO "+table+" (day, title, n) VALUES (?, ?, ?)", "2020-07-10", fmt.Sprintf("batched %d", i), i)
	}
	must(b.ExecContext(ctx))
	must(session.Query("SELECT count(*) FROM "+table+" WHERE day = ?", "2020-07-10").ScanContext(ctx, &n))
	say("batched", n)

	for range 2 {
		old := map[string]any{}
		applied, err := session.Query("INSERT INTO "+table+" (day, title) VALUES (?, ?) IF NOT EXISTS", "2020-07-11", "x").MapScanCASContext(ctx, old)
		must(err)
		say("applied", applied, old["title"])
	}

	for _, bad := range []string{"SELEC", "SELECT nothing FROM " + table, "SELECT * FROM " + keyspace + ".nothing"} {
		var e gocql.RequestError
		err := session.Query(bad).ExecContext(ctx)
		if !errors.As(err, &e) {
			t.Fatalf("%s: %q gives %v", s.name, bad, err)
		}
		say("error", e.Code())
	}

	if s.restart != nil {
		s.restart(t)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(300 * time.Millisecond) {
		if title, n, tags, err = one(); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v after the restart: %v", s.name, patience, err)
		}
	}
	say("after restart", title, n, tags, len(pages()))
	exec("DROP KEYSPACE " + keyspace)
	return seen
}
