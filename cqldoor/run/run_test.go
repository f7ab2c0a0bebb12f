// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// blogs is tracker.blogs in a keyspace of the test's own, over n shards.
type blogs struct {
	direct, door *gocql.Session
	keyspace     string
	router       *Router
}

func newBlogs(t *testing.T, n int) *blogs {
	t.Helper()
	addr := cassandra.Shared(t)
	ks := cassandra.Keyspace(t, "run")
	b := &blogs{keyspace: ks, direct: session(t, addr, 5)}
	exec(t, b.direct, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, b.direct, "CREATE TABLE "+ks+".plain (publish_date date, title text, description text, words int, PRIMARY KEY (publish_date, title))")
	st, err := cluster.Connect(context.Background(), cluster.Options{Contacts: []string{addr}, ConnectTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	b.router = startRouter(t, st)
	b.door = session(t, serveDoor(t, st, b.router), 4+n%2)
	exec(t, b.door, fmt.Sprintf("CREATE TABLE %s.blogs (publish_date date, title text, description text, words int, PRIMARY KEY (publish_date, title)) "+
		"WITH write_sharding = {'shards': '%d'}", ks, n))
	t.Cleanup(func() { exec(t, b.direct, "DROP KEYSPACE "+ks) })
	return b
}

func session(t *testing.T, addr string, version int) *gocql.Session {
	t.Helper()
	c := gocql.NewCluster(addr)
	c.ProtoVersion = version
	c.Timeout, c.ConnectTimeout = time.Minute, time.Minute // a loaded machine is slow
	c.DisableInitialHostLookup = true
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func exec(t *testing.T, s *gocql.Session, text string, values ...any) {
	t.Helper()
	if err := s.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// rowsOf reads all rows, page by page, as text.
func rowsOf(s *gocql.Session, pageSize int, text string, values ...any) ([]string, error) {
	it := s.Query(text, values...).PageSize(pageSize).Iter()
	var out []string
	for {
		row := map[string]any{}
		if !it.MapScan(row) {
			break
		}
		var names []string
		for n := range row {
			names = append(names, n)
		}
		slices.Sort(names)
		var b strings.Builder
		for _, n := range names {
			fmt.Fprintf(&b, "%s=%v ", n, row[n])
		}
		out = append(out, b.String())
	}
	return out, it.Close()
}

// TestSameAnswers writes the same rows to a plain table directly and to a sharded
// one through the door, and compares what reads of them give.
func TestSameAnswers(t *testing.T) {
	for _, n := range []int{1, 3, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBlogs(t, n)
			plain, sharded := b.keyspace+".plain", b.keyspace+".blogs"
			write := func(text string, values ...any) {
				t.Helper()
				exec(t, b.direct, strings.ReplaceAll(text, "TABLE", plain), values...)
				exec(t, b.door, strings.ReplaceAll(text, "TABLE", sharded), values...)
			}
			for i := range 300 {
				write("INSERT INTO TABLE (publish_date, title, description, words) VALUES (?, ?, ?, ?) USING TIMESTAMP 1000",
					time.Date(2020, 7, 9+i%3, 0, 0, 0, 0, time.UTC), fmt.Sprintf("title %03d", i*7%300), fmt.Sprint("about ", i), i)
			}
			write("DELETE FROM TABLE USING TIMESTAMP 2000 WHERE publish_date = '2020-07-09' AND title >= 'title 100' AND title < 'title 120'")
			write("UPDATE TABLE USING TIMESTAMP 2000 SET description = 'changed' WHERE publish_date = '2020-07-09' AND title IN ('title 000', 'title 003', 'nothing')")
			write("BEGIN BATCH USING TIMESTAMP 3000 INSERT INTO TABLE (publish_date, title) VALUES ('2020-07-09', 'a'); DELETE FROM TABLE WHERE publish_date = '2020-07-09' AND title = 'title 006'; APPLY BATCH")
			write("DELETE FROM TABLE USING TIMESTAMP 2000 WHERE publish_date = '2020-07-11'")
			write(`INSERT INTO TABLE JSON '{"publish_date": "2020-07-09", "title": "json \" }", "words": 5}'`)

			for _, q := range []string{
				"SELECT * FROM TABLE WHERE publish_date = '2020-07-09'",
				"SELECT title, words FROM TABLE WHERE publish_date = '2020-07-09' ORDER BY title DESC",
				"SELECT title FROM TABLE WHERE publish_date = '2020-07-09' AND title = 'title 003'",
				"SELECT description FROM TABLE WHERE publish_date = '2020-07-09' AND title > 'title 050' AND title <= 'title 200'",
				"SELECT description FROM TABLE WHERE publish_date = '2020-07-09' AND title > 'title 050' ORDER BY title DESC LIMIT 13",
				"SELECT title FROM TABLE WHERE publish_date IN ('2020-07-10', '2020-07-09') LIMIT 120",
				"SELECT title FROM TABLE WHERE publish_date IN ('2020-07-10', '2020-07-09') PER PARTITION LIMIT 7",
				"SELECT title FROM TABLE WHERE publish_date = '2020-07-10' AND title IN ('title 001', 'title 007', 'x', 'title 004')",
				"SELECT words, writetime(words), ttl(words) FROM TABLE WHERE publish_date = '2020-07-10' AND words > 100 ALLOW FILTERING",
				"SELECT count(*), max(title), min(words), sum(words) FROM TABLE WHERE publish_date = '2020-07-09'",
				"SELECT count(*), avg(words) FROM TABLE WHERE publish_date IN ('2020-07-09', '2020-07-10')",
				"SELECT count(*) FROM TABLE WHERE publish_date = '1999-01-01'",
				"SELECT max(words) FROM TABLE WHERE publish_date = '1999-01-01'",
				"SELECT publish_date, count(*) FROM TABLE WHERE publish_date IN ('2020-07-09', '2020-07-10', '2020-07-11') GROUP BY publish_date",
				"SELECT JSON title, words FROM TABLE WHERE publish_date = '2020-07-09' LIMIT 50",
				"SELECT count(*) FROM TABLE",
				"SELECT title FROM TABLE WHERE publish_date = '2020-07-11'",
			} {
				for _, page := range []int{1, 7, 100, 5000} {
					want, err1 := rowsOf(b.direct, page, strings.ReplaceAll(q, "TABLE", plain))
					got, err2 := rowsOf(b.door, page, strings.ReplaceAll(q, "TABLE", sharded))
					if err1 != nil || err2 != nil {
						t.Errorf("%s: %v, %v", q, err1, err2)
						break
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s in pages of %d:\ngot  %d %q\nwant %d %q", q, page, len(got), got, len(want), want)
						break
					}
				}
			}
		})
	}
}

// TestConditions holds conditional writes to one shard and to the logical row.
func TestConditions(t *testing.T) {
	b := newBlogs(t, 16)
	cas := func(text string) string {
		row := map[string]any{}
		applied, err := b.door.Query(strings.ReplaceAll(text, "TABLE", b.keyspace+".blogs")).MapScanCAS(row)
		return fmt.Sprint(applied, row, err)
	}
	for _, c := range []struct{ text, want string }{
		{"INSERT INTO TABLE (publish_date, title, words) VALUES ('2020-07-09', 'x', 1) IF NOT EXISTS", "true map[] <nil>"},
		{"INSERT INTO TABLE (publish_date, title, words) VALUES ('2020-07-09', 'x', 2) IF NOT EXISTS", "false map[description: publish_date:2020-07-09 00:00:00 +0000 UTC title:x words:1] <nil>"},
		{"UPDATE TABLE SET words = 3 WHERE publish_date = '2020-07-09' AND title = 'x' IF words = 1", "true map[] <nil>"},
		{"UPDATE TABLE SET words = 4 WHERE publish_date = '2020-07-09' AND title = 'x' IF words = 1", "false map[words:3] <nil>"},
		{"DELETE FROM TABLE WHERE publish_date = '2020-07-09' AND title = 'x' IF EXISTS", "true map[] <nil>"},
	} {
		if got := cas(c.text); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestPlacement looks at the backend: rows are where the layout says.
func TestPlacement(t *testing.T) {
	b := newBlogs(t, 16)
	for i := range 400 {
		exec(t, b.door, "INSERT INTO "+b.keyspace+".blogs (publish_date, title) VALUES ('2020-07-09', ?)", fmt.Sprint("title ", i))
	}
	table := b.router.state.Load().Table(b.keyspace, "blogs")
	it := b.direct.Query("SELECT shard, title FROM " + b.keyspace + ".blogs").Iter()
	var n, rows int
	var title string
	used := map[int]bool{}
	for it.Scan(&n, &title) {
		rows++
		used[n] = true
		if want := table.ShardOf([][]byte{{0x80, 0, 0x48, 0x16}}, [][]byte{[]byte(title)}); n != want {
			t.Errorf("%q is in shard %d, not %d", title, n, want)
		}
	}
	if err := it.Close(); err != nil || rows != 400 || len(used) != 16 {
		t.Fatalf("%d rows in %d shards, %v", rows, len(used), err)
	}
}

// TestSerial reads a partition at a serial consistency level, which is of one
// partition at a time.
func TestSerial(t *testing.T) {
	b := newBlogs(t, 16)
	for i := range 20 {
		exec(t, b.door, "INSERT INTO "+b.keyspace+".blogs (publish_date, title, words) VALUES ('2020-07-09', ?, 1)", fmt.Sprintf("title %02d", i))
	}
	it := b.door.Query("SELECT title FROM " + b.keyspace + ".blogs WHERE publish_date = '2020-07-09'").Consistency(gocql.Serial).PageSize(7).Iter()
	var title string
	rows := 0
	for ; it.Scan(&title); rows++ {
		if want := fmt.Sprintf("title %02d", rows); title != want {
			t.Fatalf("row %d is %q", rows, title)
		}
	}
	if err := it.Close(); err != nil || rows != 20 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	var sum int
	if err := b.door.Query("SELECT sum(words) FROM " + b.keyspace + ".blogs WHERE publish_date = '2020-07-09'").Consistency(gocql.Serial).Scan(&sum); err != nil || sum != 20 {
		t.Fatalf("sum %d, %v", sum, err)
	}
}
