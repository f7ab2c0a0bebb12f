// SPDX-License-Identifier: Apache-2.0

package run

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// givenBack waits until all of a budget has been given back.
func givenBack(t *testing.T, b *budget.Budget) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		switch s := b.Stats(); {
		case s.Held == 0 && s.Requests == 0 && s.Waiting == 0:
			return
		case time.Now().After(deadline):
			t.Fatalf("%d bytes are held by %d requests, %d wait", s.Held, s.Requests, s.Waiting)
		}
	}
}

// TestMemoryOverAllRequests has many clients ask for long pages at once, and read none of
// them until the door is done. What the door holds of them stays within the budget; each
// client gets its page, or is told that there is no room; and all is given back.
func TestMemoryOverAllRequests(t *testing.T) {
	const (
		rows    = 30
		size    = 1 << 20
		clients = 20
		budgets = 192 << 20
	)
	for _, sharding := range []string{"", " WITH write_sharding = {'shards': '8'}"} {
		ask := func(memory *budget.Budget) (most uint64, answered int) {
			st := embedded(t)
			s := newScene(t, st)
			s.must(s.v5, "CREATE TABLE "+s.keyspace+".large (p int, c int, v blob, PRIMARY KEY (p, c))"+sharding)
			door, addr := serveOptions(t, cqldoor.Options{Store: st, Router: s.router, Memory: memory})
			writer := plainClient(t, addr)
			for i := range rows {
				p := wire.Params{Consistency: wire.One}
				p.SetValues(wire.Values{Count: 2, Raw: wire.AppendBytes(wire.AppendBytes(nil, be32(i)), make([]byte, size))})
				writer.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("INSERT INTO " + s.keyspace + ".large (p, c, v) VALUES (1, ?, ?)"), Params: p}))
			}
			q := wire.Query{Text: []byte("SELECT c, v FROM " + s.keyspace + ".large WHERE p = 1"), Params: wire.Params{Consistency: wire.One}}
			q.Params.SetPageSize(100)
			page := wire.AppendQuery(nil, wire.V4, &q)
			all := make([]*plain, clients)
			for i := range all {
				all[i] = plainClient(t, addr)
			}
			before, requests := heap(), door.Stats().Requests+clients
			for _, c := range all {
				c.send(wire.OpQuery, page)
			}
			for door.Stats().Requests < requests || door.Stats().InFlight > 0 {
				most = max(most, heap())
				time.Sleep(time.Millisecond)
			}
			most = max(most, heap()) - before
			var mu sync.Mutex
			var reading sync.WaitGroup
			for _, c := range all {
				reading.Go(func() {
					h, body, err := c.dec.Next()
					if err != nil {
						t.Error(err)
						return
					}
					if h.Op == wire.OpResult && len(body) > rows*size {
						mu.Lock()
						answered++
						mu.Unlock()
					} else if e, err := wire.ParseError(wire.V4, body); h.Op != wire.OpError || err != nil || e.Code != wire.CodeOverloaded {
						t.Errorf("%s of %d bytes: %v", h.Op, len(body), e)
					}
				})
			}
			reading.Wait()
			if got := writer.call(wire.OpQuery, page); len(got) <= rows*size {
				t.Errorf("afterwards a page has %d bytes", len(got))
			}
			if memory != nil {
				givenBack(t, memory)
			}
			return most, answered
		}
		bounded, answered := ask(budget.New(budgets, 2*time.Second))
		unbounded, all := ask(nil)
		t.Logf("%s: %d MiB at most for %d answers; without a budget %d MiB for %d", sharding, bounded>>20, answered, unbounded>>20, all)
		const limit = 3 * budgets // buffers grow by more than is written
		if bounded > limit || answered == 0 {
			t.Errorf("%d pages of %d MiB took %d MiB", answered, rows*size>>20, bounded>>20)
		}
		if unbounded <= limit || all != clients {
			t.Errorf("without a budget %d pages took %d MiB: the test shows nothing", all, unbounded>>20)
		}
	}
}

// TestPhysicalBatchesWait sends writes that become a long BATCH, though each is short, while others
// hold the memory. The door makes no batch of them.
func TestPhysicalBatchesWait(t *testing.T) {
	st := embedded(t)
	s := newScene(t, st)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v blob, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '8'}")
	memory := budget.New(64<<20, 20*time.Millisecond)
	_, addr := serveOptions(t, cqldoor.Options{Store: st, Router: s.router, Memory: memory})
	client := plainClient(t, addr)
	others := budget.Open(budget.WithClient(t.Context(), memory.Client()))
	update := "UPDATE " + s.keyspace + ".t SET v = ? WHERE p = 1 AND c IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)"
	for _, text := range []string{update, "BEGIN BATCH " + update + "; APPLY BATCH"} {
		p := wire.Params{Consistency: wire.One}
		p.SetValues(wire.Values{Count: 1, Raw: wire.AppendBytes(nil, make([]byte, 60_000))})
		write := wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte(text), Params: p})
		others.Add(55 << 20)
		client.send(wire.OpQuery, write)
		h, body, err := client.dec.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e, err := wire.ParseError(wire.V4, body); h.Op != wire.OpError || err != nil || e.Message != request.ErrNoRoom.Message {
			t.Errorf("%s, without room: %s, %v", text, h.Op, e)
		}
		others.Shrink(0)
		givenBack(t, memory)
	}
}

// TestLongTextsWait sends statements on a sharded table, with a long text, while others hold the
// memory. The door does not parse them: the tokens and the tree take many times the text.
func TestLongTextsWait(t *testing.T) {
	st := embedded(t)
	s := newScene(t, st)
	memory := budget.New(64<<20, 50*time.Millisecond)
	_, addr := serveOptions(t, cqldoor.Options{Store: st, Router: s.router, Memory: memory})
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v list<int>, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '7'}")
	client := plainClient(t, addr)
	others := budget.Open(budget.WithClient(t.Context(), memory.Client()))
	insert := []byte("INSERT INTO " + s.keyspace + ".t (p, c, v) VALUES (1, 1, [" + strings.Repeat("1,", 100<<10) + "1])")
	params := wire.Params{Consistency: wire.One}
	batch := wire.Batch{Params: params, Count: 1, Raw: wire.AppendBatchStatement(nil, &wire.BatchStatement{Text: insert})}
	for _, req := range []wire.Message{
		{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &wire.Query{Text: insert, Params: params})},
		{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: insert})},
		{Op: wire.OpBatch, Body: wire.AppendBatch(nil, wire.V4, &batch)},
	} {
		others.Add(46 << 20)
		client.send(req.Op, req.Body)
		h, body, err := client.dec.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e, err := wire.ParseError(wire.V4, body); h.Op != wire.OpError || err != nil || e.Message != request.ErrNoRoom.Message {
			t.Errorf("%s, without room: %s, %v", req.Op, h.Op, e)
		}
		others.Shrink(0)
		client.call(req.Op, req.Body)
		givenBack(t, memory)
	}
}

// TestMemoryIsGivenBack has clients ask for all kinds of long answers, some of whom go in
// the middle, with little room. In the end nothing is held.
func TestMemoryIsGivenBack(t *testing.T) {
	st := embedded(t)
	s := newScene(t, st)
	memory := budget.New(4<<20, 200*time.Millisecond)
	_, addr := serveOptions(t, cqldoor.Options{Store: st, Router: s.router, Memory: memory})
	writer := plainClient(t, addr)
	write := func(c *plain, table string, p, n int) {
		v := wire.Params{Consistency: wire.One}
		v.SetValues(wire.Values{Count: 3, Raw: wire.AppendBytes(wire.AppendBytes(wire.AppendBytes(nil, be32(p)), be32(n)), make([]byte, 100<<10))})
		c.send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("INSERT INTO " + s.keyspace + "." + table + " (p, c, v) VALUES (?, ?, ?)"), Params: v}))
	}
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".plain (p int, c int, s blob static, v blob, PRIMARY KEY (p, c))")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".spread (p int, c int, s blob static, v blob, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '7'}")
	for _, table := range []string{"plain", "spread"} {
		for i := range 40 {
			write(writer, table, i%2, i)
			if h, body, err := writer.dec.Next(); err != nil || h.Op != wire.OpResult {
				t.Fatal(h.Op, string(body), err)
			}
		}
	}
	texts := []string{
		"SELECT * FROM t WHERE p = 1", "SELECT * FROM t WHERE p IN (0, 1)", "SELECT * FROM t", "SELECT * FROM t LIMIT 7",
		"SELECT p, c, v FROM t WHERE p IN (0, 1) ORDER BY c", "SELECT count(*), max(v) FROM t", "SELECT JSON * FROM t WHERE p = 0",
		"SELECT p, c, max(v) FROM t GROUP BY p, c", "SELECT * FROM t PER PARTITION LIMIT 3", "SELECT DISTINCT p, s FROM t",
		"SELECT * FROM t WHERE v >= 0x ALLOW FILTERING", "SELECT c FROM t WHERE p = 0", "SELECT v, v, v FROM t WHERE p = 0 AND c = 2",
	}
	var all sync.WaitGroup
	kinds := map[wire.Op]int{}
	var mu sync.Mutex
	for i := range 12 {
		draw := rand.New(rand.NewPCG(5, uint64(i)))
		clients := make([]*plain, 6)
		for i := range clients {
			clients[i] = plainClient(t, addr)
		}
		all.Go(func() {
			for _, c := range clients {
				sent := 1 + draw.IntN(4)
				for range sent {
					table := []string{"plain", "spread"}[draw.IntN(2)]
					if draw.IntN(5) == 0 {
						write(c, table, 2, draw.IntN(100))
						continue
					}
					q := wire.Query{Text: []byte(strings.Replace(texts[draw.IntN(len(texts))], "FROM t", "FROM "+s.keyspace+"."+table, 1)), Params: wire.Params{Consistency: wire.One}}
					if draw.IntN(2) == 0 && !strings.Contains(string(q.Text), "ORDER BY") {
						q.Params.SetPageSize(int32(1 + draw.IntN(60)))
					}
					c.send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &q))
				}
				if draw.IntN(3) == 0 {
					time.Sleep(time.Duration(draw.IntN(20)) * time.Millisecond)
					c.nc.Close()
					continue
				}
				for range sent {
					h, body, err := c.dec.Next()
					if err != nil {
						t.Error(err)
						break
					}
					mu.Lock()
					kinds[h.Op]++
					mu.Unlock()
					if h.Op == wire.OpError {
						_, body, err := wire.SplitPrefix(h.Op, h.Flags, body) // there may be warnings
						if err != nil {
							t.Error(err)
						} else if e, err := wire.ParseError(wire.V4, body); err != nil || e.Code != wire.CodeOverloaded {
							t.Error(e, err)
						}
					}
				}
			}
		})
	}
	all.Wait()
	t.Log(kinds, memory.Stats().Refused)
	if kinds[wire.OpResult] == 0 {
		t.Error("nobody has had an answer")
	}
	givenBack(t, memory)
}

// TestWhoWaitsForRoomAndLeaves has clients wait for room that others hold, and go.
func TestWhoWaitsForRoomAndLeaves(t *testing.T) {
	st := embedded(t)
	s := newScene(t, st)
	memory := budget.New(64<<20, time.Hour)
	door, addr := serveOptions(t, cqldoor.Options{Store: st, Router: s.router, Memory: memory})
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".plain (p int, c int, v blob, PRIMARY KEY (p, c))")
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".spread (p int, c int, v blob, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '7'}")
	writer := plainClient(t, addr)
	for _, table := range []string{"plain", "spread"} {
		for i := range 12 {
			p := wire.Params{Consistency: wire.One}
			p.SetValues(wire.Values{Count: 2, Raw: wire.AppendBytes(wire.AppendBytes(nil, be32(i)), make([]byte, 250<<10))})
			writer.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("INSERT INTO " + s.keyspace + "." + table + " (p, c, v) VALUES (1, ?, ?)"), Params: p}))
		}
	}
	others := memory.Client()
	others.Hold(64 << 20)
	held := budget.Open(budget.WithClient(t.Context(), others))
	held.Add(2 << 20)
	for _, table := range []string{"plain", "spread"} {
		c := plainClient(t, addr)
		q := wire.Query{Text: []byte("SELECT * FROM " + s.keyspace + "." + table + " WHERE p = 1"), Params: wire.Params{Consistency: wire.One}}
		c.send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &q))
		for memory.Stats().Waiting == 0 {
			time.Sleep(time.Millisecond)
		}
		c.nc.Close()
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			s := memory.Stats()
			if s.Held == 66<<20 && s.Requests == 1 && s.Waiting == 0 && door.Stats().InFlight == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v", table, s)
			}
		}
	}
	// Short requests go on.
	writer.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("SELECT c FROM " + s.keyspace + ".spread WHERE p = 1"), Params: wire.Params{Consistency: wire.One}}))
	held.Close()
	others.Hold(-64 << 20)
	givenBack(t, memory)
}

// TestMadeValues asks for values that functions make ever longer, of a plain table, which the
// engine computes, and of a sharded one, which the door computes. What is too long is refused by
// the function's name. What may be made takes room in the budget, and gives it back.
func TestMadeValues(t *testing.T) {
	st := embedded(t)
	s := newScene(t, st)
	memory := budget.New(96<<20, 50*time.Millisecond)
	_, addr := serveOptions(t, cqldoor.Options{Store: st, Router: s.router, Memory: memory})
	for _, sharding := range []string{"", " WITH write_sharding = {'shards': '7'}", " WITH write_sharding = {'shards': '7', 'strategy': 'random'}"} {
		s.must(s.v5, "DROP TABLE IF EXISTS "+s.keyspace+".made")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".made (p int, c int, v text, PRIMARY KEY (p, c))"+sharding)
		s.must(s.v5, "DROP TABLE IF EXISTS "+s.keyspace+".keyed")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".keyed (p text, c int, v int, PRIMARY KEY (p, c))"+sharding)
		s.must(s.v5, "INSERT INTO "+s.keyspace+`.made (p, c, v) VALUES (1, 1, '"')`)
		c := plainClient(t, addr)
		fill := func(text string, calls int) string {
			text = strings.ReplaceAll(text, "ks.", s.keyspace+".")
			text = strings.ReplaceAll(text, "MADE(", strings.Repeat("to_json(", calls))
			return strings.ReplaceAll(text, ")!", strings.Repeat(")", calls))
		}
		ask := func(text string, calls int) error {
			params := wire.Params{Consistency: wire.One}
			if !strings.Contains(text, "?") {
				q := wire.Query{Text: []byte(fill(text, calls)), Params: params}
				c.send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &q))
			} else {
				p, err := wire.ParsePrepared(wire.V4, c.call(wire.OpPrepare, wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(fill(text, calls))})))
				if err != nil {
					t.Fatal(err)
				}
				params.SetValues(wire.Values{Count: 1, Raw: wire.AppendBytes(nil, []byte(`"`))})
				c.send(wire.OpExecute, wire.AppendExecute(nil, wire.V4, &wire.Execute{ID: p.ID, Params: params}))
			}
			h, body, err := c.dec.Next()
			if err != nil {
				t.Fatal(err)
			}
			if h.Op != wire.OpError {
				return nil
			}
			e, err := wire.ParseError(wire.V4, body)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		others := memory.Client()
		for _, text := range []string{
			"SELECT MADE(v)! FROM ks.made WHERE p = 1",
			"SELECT MADE(v)! FROM ks.made WHERE p = 1 AND c = 1",
			"SELECT max(MADE(v)!) FROM ks.made WHERE p = 1 GROUP BY c",
			"SELECT * FROM ks.made WHERE p = 1 AND v = MADE('\"')! ALLOW FILTERING",
			"INSERT INTO ks.made (p, c, v) VALUES (1, 2, MADE('\"')!)",
			"BEGIN BATCH INSERT INTO ks.made (p, c, v) VALUES (1, 2, MADE('\"')!); APPLY BATCH",
			"INSERT INTO ks.made (p, c, v) VALUES (1, 2, MADE((text) ?)!)",
			"INSERT INTO ks.keyed (p, c, v) VALUES (MADE('\"')!, 1, 1)",
			"INSERT INTO ks.keyed (p, c, v) VALUES (MADE((text) ?)!, 1, 1)",
			"SELECT MADE(table_name)! FROM system_schema.tables",
		} {
			err := ask(text, 64)
			if e, ok := err.(*wire.Error); !ok || e.Code != wire.CodeInvalid || !strings.Contains(e.Message, "to_json makes a value that is too long") {
				t.Errorf("%s, %s: %v", sharding, text, err)
			}
			held := budget.Open(budget.WithClient(t.Context(), others))
			held.Add(95 << 20)
			err = ask(text, 20) // a megabyte
			if e, ok := err.(*wire.Error); !ok || e.Code != wire.CodeOverloaded {
				t.Errorf("%s, %s, without room: %v", sharding, text, err)
			}
			held.Close()
			if err := ask(text, 12); err != nil {
				t.Errorf("%s, %s: %v", sharding, text, err)
			}
			givenBack(t, memory)
		}
		held := budget.Open(budget.WithClient(t.Context(), others))
		held.Add(92 << 20)
		err := ask("SELECT MADE(column_name)! FROM system_schema.columns", 15) // together much longer
		if e, ok := err.(*wire.Error); !ok || e.Code != wire.CodeOverloaded {
			t.Errorf("%s, a result from the schema without room: %v", sharding, err)
		}
		held.Close()
		givenBack(t, memory)
	}
}
