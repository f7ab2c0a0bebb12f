// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// crowd is an engine with a table, and clients that take their answers one by one.
type crowd struct {
	*local
	next chan struct{} // lets one answer be taken
}

func newCrowd(t *testing.T, rows int) *crowd {
	e := openMemory(t)
	c := &crowd{newLocal(t, e, wire.V4), make(chan struct{})}
	c.must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	c.must("CREATE TABLE ks.t (k int, c int, v text, PRIMARY KEY (k, c))")
	for i := range rows {
		c.must(fmt.Sprintf("INSERT INTO ks.t (k, c, v) VALUES (1, %d, 'x')", i))
	}
	return c
}

func (c *crowd) must(text string) {
	c.t.Helper()
	if resp := c.do(ask(text)); resp.Op != wire.OpResult {
		e, _ := wire.ParseError(wire.V4, resp.Body)
		c.t.Fatalf("%.200s: %v", text, e)
	}
}

// allocates executes a statement and returns how many bytes the process allocated meanwhile.
func (c *crowd) allocates(text string) uint64 {
	c.t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c.must(text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// numbered returns a text n times, with sep between. Each $ becomes the number of the repetition.
func numbered(n int, each, sep string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(each, "$", strconv.Itoa(i))
	}
	return strings.Join(all, sep)
}

// batchOf returns a BATCH of n numbered statements.
func batchOf(each string) func(n int) string {
	return func(n int) string { return "BEGIN BATCH " + numbered(n, each, "; ") + "; APPLY BATCH" }
}

func ask(text string) wire.Message {
	q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
	return wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &q)}
}

// guest is one client's link, and the answers that came.
type guest struct {
	store.Link
	c       *crowd
	slow    bool // its answers are taken when crowd.next says so
	pending sync.WaitGroup
	rows    atomic.Int32
	errors  atomic.Int32
}

func (c *crowd) guest(slow bool) *guest {
	l, err := c.e.Open(c.t.Context(), store.LinkOptions{Version: wire.V4})
	if err != nil {
		c.t.Fatal(err)
	}
	return &guest{Link: l, c: c, slow: slow}
}

func (g *guest) ask(ctx context.Context, text string) {
	g.pending.Add(1)
	g.Send(ctx, ask(text), func(resp wire.Message) {
		if resp.Op == wire.OpResult {
			g.rows.Add(1)
			if g.slow {
				<-g.c.next
			}
		} else {
			g.errors.Add(1)
		}
		g.pending.Done()
	})
}

const (
	page = "SELECT * FROM ks.t LIMIT 5000"
	scan = "SELECT count(*) FROM ks.t"
)

// TestLongReadsAtOnce has clients ask for far more than is carried out at a time: what
// waits takes no goroutine, and all is answered in the end.
func TestLongReadsAtOnce(t *testing.T) {
	const n = 2000
	for _, text := range []string{page, scan} {
		c := newCrowd(t, 5)
		before := runtime.NumGoroutine()
		a, b := c.guest(true), c.guest(true)
		for range n {
			a.ask(t.Context(), text)
			b.ask(t.Context(), text)
		}
		running, waiting := c.e.Work()
		places := 2 * runtime.GOMAXPROCS(0)
		if running == 0 || running > max(8, places) || running+waiting != 2*n {
			t.Errorf("%s: %d are carried out at once, %d wait", text, running, waiting)
		}
		if more := runtime.NumGoroutine() - before; more > running+10 {
			t.Errorf("%s: %d goroutines for %d requests that are carried out", text, more, running)
		}
		close(c.next)
		a.pending.Wait()
		b.pending.Wait()
		if a.rows.Load() != n || b.rows.Load() != n {
			t.Errorf("%s: %d and %d answers", text, a.rows.Load(), b.rows.Load())
		}
	}
}

// TestClientsThatHaveGone has a client ask for much and go: what it asked for and has
// not begun ends there, and each request is answered once all the same.
func TestClientsThatHaveGone(t *testing.T) {
	const n = 1000
	c := newCrowd(t, 5)
	a := c.guest(true)
	ctx, leave := context.WithCancel(t.Context())
	for range n {
		a.ask(ctx, page)
		a.ask(ctx, scan)
	}
	running, _ := c.e.Work()
	leave()
	a.Close()
	if now, waiting := c.e.Work(); waiting != 0 || now != running {
		t.Errorf("after the client has gone %d are carried out, of %d, and %d wait", now, running, waiting)
	}
	close(c.next)
	a.pending.Wait()
	if rows, errors := int(a.rows.Load()), int(a.errors.Load()); rows+errors != 2*n || rows > running {
		t.Errorf("%d results and %d errors to %d requests, %d of which had begun", rows, errors, 2*n, running)
	}
	a.ask(ctx, "SELECT v FROM ks.t WHERE k = 1 AND c = 1")
	if a.errors.Load() == 0 {
		t.Error("a request that nobody waits for was carried out")
	}
}

// TestClientsTakeTurns has one client ask for much, and another for one thing: the
// other's turn comes with the next place.
func TestClientsTakeTurns(t *testing.T) {
	for _, text := range []string{page, scan} {
		c := newCrowd(t, 5)
		crowding := []*guest{c.guest(true), c.guest(true), c.guest(true)}
		for _, g := range crowding {
			for range 500 {
				g.ask(t.Context(), text)
			}
		}
		other := c.guest(false)
		other.ask(t.Context(), text)
		// Each of the four has its turn when four have come free.
		for range len(crowding) + 1 {
			c.next <- struct{}{}
		}
		other.pending.Wait()
		close(c.next)
		for _, g := range crowding {
			g.pending.Wait()
		}
	}
}

// TestShortRequestsDoNotWait asks for what is over soon while all places for long
// reads are taken, and many wait for them.
func TestShortRequestsDoNotWait(t *testing.T) {
	c := newCrowd(t, 5)
	c.must("CREATE TABLE ks.n (k int PRIMARY KEY, n counter)")
	var crowding []*guest
	for range 5 {
		g := c.guest(true)
		crowding = append(crowding, g)
		for range 100 {
			g.ask(t.Context(), page)
			g.ask(t.Context(), scan)
		}
	}
	for _, text := range []string{
		"SELECT * FROM system.local",
		"SELECT * FROM system_schema.columns",
		"SELECT * FROM ks.t WHERE k = 1 AND c = 1",
		"SELECT * FROM ks.t WHERE k = 1 LIMIT 10",
		"DESCRIBE KEYSPACE ks",
		"INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'y') IF NOT EXISTS",
		"UPDATE ks.n SET n = n + 1 WHERE k = 1",
		"CREATE TABLE ks.other (k int PRIMARY KEY)",
	} {
		c.must(text)
	}
	close(c.next)
	for _, g := range crowding {
		g.pending.Wait()
	}
}

// patient is a context that is done when it has been asked so often.
type patient struct {
	context.Context
	left atomic.Int64
}

func (p *patient) Err() error {
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestReadsEndWhenNobodyWaits ends reads in the middle: of rows, of rows that a filter
// leaves out, of rows that are deleted, of partitions, of keys that are named.
func TestReadsEndWhenNobodyWaits(t *testing.T) {
	const rows = 1200
	c := newCrowd(t, rows)
	c.must("CREATE TABLE ks.deleted (k int, c int, PRIMARY KEY (k, c))")
	c.must("CREATE TABLE ks.many (k int PRIMARY KEY)")
	var keys []string
	for i := range rows {
		c.must(fmt.Sprintf("INSERT INTO ks.deleted (k, c) VALUES (1, %d)", i))
		c.must(fmt.Sprintf("DELETE FROM ks.deleted WHERE k = 1 AND c = %d", i))
		c.must(fmt.Sprintf("INSERT INTO ks.many (k) VALUES (%d)", i))
		keys = append(keys, fmt.Sprint(-i))
	}
	for _, text := range []string{
		"SELECT * FROM ks.t",
		"SELECT count(*) FROM ks.t WHERE k = 1",
		"SELECT * FROM ks.t WHERE k = 1 AND v = 'y' ALLOW FILTERING",
		"SELECT * FROM ks.deleted",
		"SELECT * FROM ks.deleted WHERE k = 1",
		"SELECT DISTINCT k FROM ks.many",
		"SELECT * FROM ks.many WHERE k IN (" + strings.Join(keys, ", ") + ")",
		"SELECT c FROM ks.t WHERE k IN (1, 2) ORDER BY c",
	} {
		asked := func(left int64) (op wire.Op, times int64) {
			ctx := &patient{Context: t.Context()}
			ctx.left.Store(left)
			done := make(chan wire.Op, 1)
			c.link.Send(ctx, ask(text), func(resp wire.Message) { done <- resp.Op })
			return <-done, left - ctx.left.Load()
		}
		op, times := asked(math.MaxInt32)
		if op != wire.OpResult || times < rows/300 {
			t.Errorf("%s: %s; whether anybody waits was asked %d times", text, op, times)
		}
		if op, more := asked(times / 2); op != wire.OpError || more > times/2+1 {
			t.Errorf("%s, given up in the middle: %s; was asked %d times, and %d of the whole", text, op, more, times)
		}
	}
}

// TestRequestsEndInTime has requests wait for longer than a request may take, behind
// some that go on: they are answered as Cassandra answers, while those go on.
func TestRequestsEndInTime(t *testing.T) {
	c := newCrowd(t, 5)
	ended := func(text string) *wire.Error {
		t.Helper()
		resp := c.do(ask(text))
		e, err := wire.ParseError(wire.V4, resp.Body)
		if resp.Op != wire.OpError || err != nil {
			t.Fatalf("%s: %s %v", text, resp.Op, err)
		}
		return e
	}
	for _, test := range []struct {
		text      string
		code      wire.Code
		writeType string
	}{
		{page, wire.CodeReadTimeout, ""},
		{scan, wire.CodeReadTimeout, ""},
		{"UPDATE ks.t SET v = 'y' WHERE k = 1 AND c = 1 IF v = 'x'", wire.CodeWriteTimeout, wire.WriteSimple},
	} {
		c.e.options.Timeout = 0
		a, b := c.guest(true), c.guest(true)
		for range 40 { // more than there are places
			a.ask(t.Context(), test.text)
			b.ask(t.Context(), test.text)
		}
		c.e.options.Timeout = 20 * time.Millisecond
		e := ended(test.text)
		if e.Code != test.code || e.WriteType != test.writeType || e.Consistency != wire.One || e.Message != "Operation timed out - received only 0 responses." {
			t.Errorf("%s: %v, write type %q at %v", test.text, e, e.WriteType, e.Consistency)
		}
		for range 80 {
			c.next <- struct{}{}
		}
		a.pending.Wait()
		b.pending.Wait()
		if n := a.rows.Load() + b.rows.Load(); n != 80 {
			t.Errorf("%s: %d of those before it were answered", test.text, n)
		}
	}
}
