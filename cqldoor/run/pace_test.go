// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestPaceAfter checks what a read says about the next one.
func TestPaceAfter(t *testing.T) {
	for _, c := range []struct {
		known         pace
		rows, buckets int
		want          pace
	}{
		{pace{}, 0, 0, pace{}},
		{pace{}, 100, 1, pace{}},
		{pace{}, 100, 10, pace{100, 10}},
		{pace{100, 10}, 0, 3, pace{100, 10}},
		{pace{100, 10}, 10, 1, pace{100, 10}},
		{pace{100, 10}, 11, 1, pace{}},
		{pace{100, 10}, 100, 2, pace{100, 2}},
	} {
		if got := c.known.after(c.rows, c.buckets); got != c.want {
			t.Errorf("%v, then %d rows in %d buckets: %v, want %v", c.known, c.rows, c.buckets, got, c.want)
		}
	}
}

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

// TestPacesLie compares drawn reads with those of a plain table, while the noted paces are drawn too.
func TestPacesLie(t *testing.T) {
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
	paces := &s.router.reads.buckets.paces
	for range 60 {
		text := "SELECT ts, v FROM " + s.keyspace + ".TABLE WHERE k = 1"
		if rnd.IntN(2) == 0 {
			text += fmt.Sprintf(" AND ts >= %d AND ts < %d", rnd.IntN(30)*3_600_000, (20+rnd.IntN(41))*3_600_000)
		}
		text += []string{"", " ORDER BY ts ASC"}[rnd.IntN(2)]
		text += []string{"", fmt.Sprintf(" LIMIT %d", 1+rnd.IntN(200)), fmt.Sprintf(" PER PARTITION LIMIT %d", 1+rnd.IntN(200))}[rnd.IntN(3)]
		size := []int32{0, 7, 40, 100}[rnd.IntN(4)]
		var want *difftest.Answer
		for _, name := range []string{"plain", "one", "two"} {
			for i := range paces {
				paces[i].Store(uint64(rnd.IntN(300))<<32 | uint64(rnd.IntN(20)))
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
