// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestPaceOfKey reads the newest 100 rows of keys with ten rows a bucket. The first read of a key visits one
// bucket, then the others. The second read visits them at once. When the newest bucket gets more rows, the
// second read from then on visits it alone.
func TestPaceOfKey(t *testing.T) {
	c := &countedStore{Store: embedded(t)}
	s := newScene(t, c)
	for order, limit := range map[string]string{"DESC": "", "ASC": " ORDER BY ts DESC"} {
		table := s.keyspace + ".log" + order
		s.must(s.v5, "CREATE TABLE "+table+" (k int, ts timestamp, v int, PRIMARY KEY (k, ts))"+strings.Replace(hourly, "DESC", order, 1))
		fill := func(hour, n int) {
			for i := range n {
				s.must(s.v5, fmt.Sprintf("INSERT INTO %s (k, ts, v) VALUES (1, %d, %d)", table, hour*3_600_000+i*1000, i))
			}
		}
		for hour := range 40 {
			fill(hour, 10)
		}
		const uncounted = 0
		read := func(requests int64) {
			t.Helper()
			c.executed.Store(0)
			a := s.must(s.v5, "SELECT ts FROM "+table+" WHERE k = 1"+limit+" LIMIT 100")
			if len(a.Rows) != 100 || !slices.IsSortedFunc(a.Rows, func(a, b [][]byte) int { return int(be(b[0])) - int(be(a[0])) }) {
				t.Errorf("%s: %s", order, show(a))
			}
			if n := c.executed.Load(); n != requests && requests != uncounted {
				t.Errorf("%s: %d requests, want %d", order, n, requests)
			}
		}
		read(2)
		read(1)
		read(1)
		fill(40, 150)
		read(uncounted)
		read(1)
		c.executed.Store(0)
		if a := s.must(s.v5, "SELECT ts FROM "+table+" WHERE k = 1"+limit+" LIMIT 300"); len(a.Rows) != 300 || c.executed.Load() < 2 {
			t.Errorf("%s: %d rows in %d requests; the pace of the old buckets should be forgotten", order, len(a.Rows), c.executed.Load())
		}
	}
}

// TestLatestLies compares drawn reads with reads of a plain table. Before each read, the test replaces the notes of the
// earlier reads by drawn ones, which may be wrong.
func TestLatestLies(t *testing.T) {
	s := newScene(t, embedded(t))
	const seed = 5
	rnd := mathrand.New(mathrand.NewPCG(seed, seed))
	for name, sharding := range map[string]string{"plain": strings.Split(hourly, " AND")[0], "one": hourly, "two": strings.Replace(hourly, "'1h'", "'1h', 'shards': '2'", 1)} {
		s.must(s.v5, "CREATE TABLE "+s.keyspace+"."+name+" (k int, ts timestamp, v int, PRIMARY KEY (k, ts))"+sharding)
	}
	for hour := range 60 {
		for i := range rnd.IntN(4) * rnd.IntN(12) {
			for _, name := range []string{"plain", "one", "two"} {
				s.must(s.v5, fmt.Sprintf("INSERT INTO %s.%s (k, ts, v) VALUES (1, %d, %d)", s.keyspace, name, hour*3_600_000+i*1000, i))
			}
		}
	}
	latest := &s.router.reads.Buckets.Latest
	for range 60 {
		text := "SELECT ts, v FROM " + s.keyspace + ".TABLE WHERE k = 1"
		if rnd.IntN(2) == 0 {
			text += fmt.Sprintf(" AND ts >= %d AND ts < %d", rnd.IntN(30)*3_600_000, (20+rnd.IntN(41))*3_600_000)
		}
		text += []string{"", " ORDER BY ts ASC"}[rnd.IntN(2)]
		text += []string{"", fmt.Sprintf(" LIMIT %d", 1+rnd.IntN(200)), fmt.Sprintf(" PER PARTITION LIMIT %d", 1+rnd.IntN(200))}[rnd.IntN(3)]
		size := []int32{0, 7, 40, 100}[rnd.IntN(4)]
		var want *difftest.Answer
		for _, name := range []string{"plain", "one", "two", "one", "two"} { // the second time, the answers of the first are known
			for i := range latest {
				latest[i].Note(buckets.Pace{Rows: rnd.IntN(300), Buckets: rnd.IntN(20)})
				if l := latest[i].List.Load(); l != nil {
					latest[i].List.Store(lieAbout(rnd, l))
				}
			}
			got := s.paged(s.v5, strings.Replace(text, "TABLE", name, 1), size)
			if want == nil {
				want = got
			} else if show(got) != show(want) {
				t.Fatalf("seed %d: %s, pages of %d:\n%s\nwant %s", seed, strings.Replace(text, "TABLE", name, 1), size, show(got), show(want))
			}
		}
	}
}

// lieAbout returns a wrong answer of the directory: some buckets are missing, and others do not exist.
func lieAbout(rnd *mathrand.Rand, l *buckets.BucketList) *buckets.BucketList {
	lie := *l
	lie.Stable, lie.Buckets = true, nil
	for b := range int64(70) {
		if slices.Contains(l.Buckets, b) != (rnd.IntN(1+rnd.IntN(20)) == 0) {
			lie.Buckets = append(lie.Buckets, b)
		}
	}
	if l.Down {
		slices.Reverse(lie.Buckets)
	}
	if lie.Buckets = lie.Buckets[:min(l.Limit, len(lie.Buckets))]; len(lie.Buckets) == 0 {
		return l
	}
	return &lie
}

// listsLate is a session that calls list before it reads the directory, and waits until list returns.
type listsLate struct {
	catalog.Session
	list func()
}

func (l listsLate) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	if strings.HasPrefix(cql, "SELECT bucket ") {
		l.list()
	}
	return l.Session.Query(ctx, cl, cql, values...)
}

// TestGuessedList reads the newest rows of a key three times. The third time, the door asks for the rows before
// the directory answers. Then another door adds a bucket: the next read shows its row. Then the test deletes that
// row: the next read shows the older rows. At last the directory fails: the read returns an error.
func TestGuessedList(t *testing.T) {
	c := &countedStore{Store: embedded(t)}
	s := newScene(t, c)
	other := dial(t, serveDoor(t, c.Store, startRouter(t, c.Store)), primitive.ProtocolVersion5)
	table := s.keyspace + ".log"
	s.must(s.v5, "CREATE TABLE "+table+" (k int, ts timestamp, v int, PRIMARY KEY (k, ts))"+hourly)
	insert := func(door *difftest.Conn, hour int) {
		s.must(door, fmt.Sprintf("INSERT INTO %s (k, ts, v) VALUES (1, %d, %d)", table, hour*3_600_000, hour))
	}
	for hour := range 20 {
		insert(s.v5, hour)
	}
	var fails atomic.Bool
	list := func() {}
	s.router.reads.Buckets.Catalogue = catalog.NewBuckets(listsLate{failing{s.router.schema.Session, &fails}, func() { list() }})
	read := func(newest int) {
		t.Helper()
		a := s.must(s.v5, "SELECT v FROM "+table+" WHERE k = 1 LIMIT 3")
		if len(a.Rows) != 3 || be(a.Rows[0][0]) != uint64(newest) {
			t.Errorf("the newest rows are %s, want %d first", show(a), newest)
		}
	}
	read(19)
	read(19)
	c.executed.Store(0)
	list = func() {
		for c.executed.Load() == 0 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	read(19)
	list = func() {}
	insert(other, 30)
	read(30)
	read(30)
	s.must(s.v5, "DELETE FROM "+table+" WHERE k = 1 AND ts = "+fmt.Sprint(30*3_600_000))
	read(19)
	fails.Store(true)
	if a := s.query(s.v5, "SELECT v FROM "+table+" WHERE k = 1 LIMIT 3"); a.Kind != difftest.Error {
		t.Errorf("the directory fails: %s", show(a))
	}
	fails.Store(false)
	read(19)
}

// failing is a session whose queries fail while now is set.
type failing struct {
	catalog.Session
	now *atomic.Bool
}

func (f failing) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	if f.now.Load() {
		return nil, wire.Errorf(wire.CodeServer, "the store fails")
	}
	return f.Session.Query(ctx, cl, cql, values...)
}
