// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// TestLongBodiesWait sends a long request while others hold the memory. It is not executed: binding
// takes many times what the request has.
func TestLongBodiesWait(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v blob)")
	memory := budget.New(16<<20, 20*time.Millisecond)
	others := budget.Open(budget.WithClient(t.Context(), memory.Client()))
	ctx := budget.WithClient(t.Context(), memory.Client())
	params := wire.Params{Consistency: wire.One}
	params.SetValues(wire.Values{Count: 1, Raw: wire.AppendBytes(nil, make([]byte, 1<<20))})
	write := wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("INSERT INTO k.t (p, v) VALUES (1, ?)"), Params: params})}
	send := func() wire.Op {
		got := make(chan wire.Op, 1)
		c.link.Send(ctx, write, func(resp wire.Message) { got <- resp.Op })
		return <-got
	}
	others.Add(12 << 20)
	if op := send(); op != wire.OpError {
		t.Errorf("without room: %s", op)
	}
	others.Close()
	if op := send(); op != wire.OpResult {
		t.Errorf("with room: %s", op)
	}
}

// TestLongTextsWait sends statements with a long text while others hold the memory. They are not
// parsed: the tokens and the tree take many times the text.
func TestLongTextsWait(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v list<int>)")
	memory := budget.New(24<<20, 20*time.Millisecond)
	others := budget.Open(budget.WithClient(t.Context(), memory.Client()))
	insert := "INSERT INTO k.t (p, v) VALUES (1, [" + strings.Repeat("1,", 100<<10) + "1])"
	columns := "CREATE TABLE k.u (p int PRIMARY KEY" + strings.Repeat(" ", 200<<10) + ")"
	batch := wire.Batch{Params: wire.Params{Consistency: wire.One}, Count: 1, Raw: wire.AppendBatchStatement(nil, &wire.BatchStatement{Text: []byte(insert)})}
	for what, req := range map[string]wire.Message{
		"QUERY": ask(insert), "PREPARE": {Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(insert)})},
		"BATCH": {Op: wire.OpBatch, Body: wire.AppendBatch(nil, wire.V4, &batch)}, "CREATE TABLE": ask(columns),
	} {
		send := func() wire.Op {
			got := make(chan wire.Op, 1)
			c.link.Send(budget.WithClient(t.Context(), memory.Client()), req, func(resp wire.Message) { got <- resp.Op })
			return <-got
		}
		others.Add(12 << 20)
		if op := send(); op != wire.OpError {
			t.Errorf("%s, without room: %s", what, op)
		}
		others.Shrink(0)
		if op := send(); op != wire.OpResult {
			t.Errorf("%s, with room: %s", what, op)
		}
		for memory.Stats().Held != 0 { // it is given back after the answer
			runtime.Gosched()
		}
	}
}

// TestLanesOfLongRequests checks that a long request goes to the lane of its work: a SELECT must not
// take a place of the writes, nor be told of a write's timeout.
func TestLanesOfLongRequests(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v blob)")
	check := func(what string, req wire.Message, want kind, lane bool) {
		t.Helper()
		if k, ok := e.laneOf(wire.V4, req); ok != lane || ok && k != want {
			t.Errorf("%s: lane %d, %v", what, k, ok)
		}
	}
	for text, want := range map[string]kind{
		"SELECT * FROM k.t WHERE p IN ?": scans, "INSERT INTO k.t (p, v) VALUES (1, ?)": writes, "UPDATE k.t SET v = ? WHERE p = 1": writes,
		"DELETE FROM k.t WHERE p IN ?": writes,
	} {
		check(text, ask(text), want, true)
		p := prepareOn(t, c, text)
		check("EXECUTE "+text, wire.Message{Op: wire.OpExecute, Body: executeBody(wire.V4, p, nil, nil)}, want, true)
	}
	check("BEGIN BATCH", ask("BEGIN BATCH INSERT INTO k.t (p) VALUES (1) APPLY BATCH"), writes, true)
	check("BATCH", wire.Message{Op: wire.OpBatch}, writes, true)
	check("CREATE TABLE", ask("CREATE TABLE k.u (p int PRIMARY KEY)"), changes, true)
	check("PREPARE", wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte("SELECT * FROM k.t")})}, scans, true)
	check("unknown id", wire.Message{Op: wire.OpExecute, Body: executeBody(wire.V4, wire.Prepared{ID: make([]byte, 16)}, nil)}, 0, false)
}

// TestLongRowsWait reads a row with a long list while others hold the memory. The row is not loaded.
func TestLongRowsWait(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int, c int, n int, s list<int> static, l list<int>, PRIMARY KEY (p, c))")
	list := wire.AppendInt(nil, 50_000)
	for range 50_000 {
		list = wire.AppendBytes(list, make([]byte, 4))
	}
	for _, text := range []string{"UPDATE k.t SET l = ?, n = 1 WHERE p = 1 AND c = 1", "UPDATE k.t SET s = ? WHERE p = 2", "INSERT INTO k.t (p, c, s) VALUES (3, 1, ?)"} {
		p := prepareOn(t, c, text)
		if resp := c.do(wire.Message{Op: wire.OpExecute, Body: executeBody(wire.V4, p, nil, list)}); resp.Op != wire.OpResult {
			t.Fatalf("%s: %s", text, resp.Body)
		}
	}
	memory := budget.New(64<<20, 20*time.Millisecond)
	others := budget.Open(budget.WithClient(t.Context(), memory.Client()))
	send := func(req wire.Message) string {
		got := make(chan string, 1)
		c.link.Send(budget.WithClient(t.Context(), memory.Client()), req, func(resp wire.Message) {
			answer := resp.Op.String()
			if err, _ := wire.ParseError(wire.V4, resp.Body); resp.Op == wire.OpError && err != nil {
				answer = err.Message
			}
			got <- answer
		})
		return <-got
	}
	point := prepareOn(t, c, "SELECT l FROM k.t WHERE p = ? AND c = ?")
	requests := map[string]wire.Message{"point": {Op: wire.OpExecute, Body: executeBody(wire.V4, point, nil, integerValue(1), integerValue(1))}}
	for _, text := range []string{
		"SELECT n FROM k.t WHERE p = 1 AND c = 1", "SELECT l FROM k.t WHERE p = 1", "SELECT max(l) FROM k.t WHERE p = 1", "SELECT s FROM k.t WHERE p = 2",
		"UPDATE k.t SET l[3] = 1 WHERE p = 1 AND c = 1", "DELETE l[3] FROM k.t WHERE p = 1 AND c = 1", "UPDATE k.t SET l = l - [9] WHERE p = 1 AND c = 1",
		"UPDATE k.t SET n = 1 WHERE p = 1 AND c = 1 IF n = 7", "UPDATE k.t SET n = 1 WHERE p = 1 AND c = 1 IF l = [1]", "UPDATE k.t SET s = [1] WHERE p = 3 IF s = [4]",
		"BEGIN BATCH UPDATE k.t SET l[3] = 1 WHERE p = 1 AND c = 1; UPDATE k.t SET s[3] = 1 WHERE p = 2; APPLY BATCH",
	} {
		requests[text] = ask(text)
	}
	for text, req := range requests {
		// One request after another holds memory, so that no other is the eldest.
		others.Add(memory.Stats().Size*7/8 - 700<<10)
		if got := send(req); got != errNoRoom.Message {
			t.Errorf("%s, without room: %s", text, got)
		}
		time.AfterFunc(5*time.Millisecond, func() { others.Shrink(1 << 20) })
		if got := send(req); got != wire.OpResult.String() {
			t.Errorf("%s, with room: %s", text, got)
		}
		others.Shrink(0)
		for memory.Stats().Held != 0 { // it is given back after the answer
			runtime.Gosched()
		}
	}
}

// TestSystemReadsDoNotWait reads system tables while others hold all the memory. A driver that
// connects, or asks which nodes live, must not wait for them.
func TestSystemReadsDoNotWait(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int, c int, PRIMARY KEY (p, c))")
	memory := budget.New(16<<20, 20*time.Millisecond)
	long := memory.Stats().Size
	for _, bytes := range append(slices.Repeat([]int64{long / 64}, 8), long) { // an eighth is kept for short requests
		other := budget.Open(budget.WithClient(t.Context(), memory.Client()))
		defer other.Close()
		other.Add(bytes)
	}
	send := func(text string) wire.Op {
		got := make(chan wire.Op, 1)
		c.link.Send(budget.WithClient(t.Context(), memory.Client()), ask(text), func(resp wire.Message) { got <- resp.Op })
		return <-got
	}
	for _, text := range []string{
		"SELECT * FROM system.local", "SELECT * FROM system.peers_v2", "SELECT count(*) FROM system_schema.columns",
		"SELECT * FROM system_schema.tables WHERE keyspace_name = 'k'", "DESCRIBE KEYSPACE k",
	} {
		if op := send(text); op != wire.OpResult {
			t.Errorf("%s: %s", text, op)
		}
	}
	if op := send("SELECT count(*) FROM k.t"); op != wire.OpError {
		t.Errorf("a scan of a client's table: %s", op)
	}
}

// stored returns a table's storage.
func stored(e *Engine, keyspace, name string) *storage.Table {
	s := e.state.Load()
	return s.tables[s.schema.Table(keyspace, name)].store
}

// TestWritesHoldMemoryUntilDurable stops the commits. What is written then waits in memory, which
// counts until the commits go on; and a write waits whose product is long, not its text.
func TestWritesHoldMemoryUntilDurable(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int, c int, v blob, PRIMARY KEY (p, c))")
	memory := budget.New(512<<20, 20*time.Millisecond)
	ctx := budget.WithClient(t.Context(), memory.Client())
	long := make([]byte, 1<<20)
	var many, some []byte
	many, some = wire.AppendInt(many, 12_000), wire.AppendInt(some, 16)
	for i := range int32(12_000) {
		many = wire.AppendBytes(many, wire.AppendInt(nil, i))
	}
	for i := range int32(16) {
		some = wire.AppendBytes(some, wire.AppendInt(nil, i))
	}
	for _, test := range []struct {
		text   string
		values [][]byte
		least  int64 // bytes held
	}{
		{"INSERT INTO k.t (p, c, v) VALUES (1, 1, ?)", [][]byte{long}, 1 << 20},
		{"UPDATE k.t SET v = ? WHERE p IN (1, 2, 3, 4, 5, 6, 7, 8) AND c = 1", [][]byte{long}, 16 << 20},
		{"UPDATE k.t SET v = ? WHERE p = 1 AND c IN ?", [][]byte{long[:1000], many}, 24 << 20},
		{"UPDATE k.t SET v = ? WHERE p = 1 AND c IN ?", [][]byte{long[:60_000], some}, 1 << 20}, // a short body
		{"BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, 1, ?) APPLY BATCH", [][]byte{long}, 1 << 20},
	} {
		key := integerValue(1)
		guard := e.db.Guard(storage.PartitionRef{Table: stored(e, "k", "t"), Token: partitioner.Murmur3(key), Key: key})
		p := prepareOn(t, c, test.text)
		got := make(chan wire.Op, 1)
		c.link.Send(ctx, wire.Message{Op: wire.OpExecute, Body: executeBody(wire.V4, p, nil, test.values...)}, func(resp wire.Message) { got <- resp.Op })
		for running := 1; running > 0; running, _ = e.Work() {
			runtime.Gosched()
		}
		if held := memory.Stats().Held; held < test.least {
			t.Errorf("%s: %d bytes are held, want %d", test.text, held, test.least)
		}
		guard.Unlock()
		if op := <-got; op != wire.OpResult {
			t.Errorf("%s: %s", test.text, op)
		}
		for memory.Stats().Held != 0 {
			runtime.Gosched()
		}
	}
}

// TestGroupsOfLongWrites checks that writes which come together while the commits stand still do
// not become one long batch.
func TestGroupsOfLongWrites(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v blob)")
	p := prepareOn(t, c, "INSERT INTO k.t (p, v) VALUES (?, ?)")
	key := integerValue(0)
	guard := e.db.Guard(storage.PartitionRef{Table: stored(e, "k", "t"), Token: partitioner.Murmur3(key), Key: key})
	const many = 64
	got := make(chan wire.Op, many)
	for i := range many {
		c.link.Send(t.Context(), wire.Message{Op: wire.OpExecute, Body: executeBody(wire.V4, p, nil, integerValue(i), make([]byte, 1<<20))}, func(resp wire.Message) { got <- resp.Op })
	}
	e.commits.mu.Lock()
	for _, g := range append(e.commits.full, e.commits.open) {
		if n := g.batch.Size(); n > 2*fullGroup {
			t.Errorf("a group has %d bytes", n)
		}
	}
	e.commits.mu.Unlock()
	guard.Unlock()
	for range many {
		if op := <-got; op != wire.OpResult {
			t.Error(op)
		}
	}
	resp := c.do(ask("SELECT p FROM k.t"))
	if r, err := wire.ParseRows(resp.Body); err != nil || r.Count != many {
		t.Errorf("%d rows of %d, %v", r.Count, many, err)
	}
}
