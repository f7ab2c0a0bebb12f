// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// counting is a store that counts requests by their op. At each request it calls before, unless it is
// nil; an error is the answer.
type counting struct {
	store.Store
	requests [256]atomic.Int64
	before   func(req wire.Message) *wire.Error
}

type countingLink struct {
	store.Link
	of *counting
}

func (c *counting) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := c.Store.Open(ctx, o)
	return countingLink{l, c}, err
}

func (l countingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	l.of.requests[req.Op].Add(1)
	if l.of.before != nil {
		if e := l.of.before(req); e != nil {
			reply(wire.Message{Op: wire.OpError, Body: e.Append(nil, wire.Highest)})
			return
		}
	}
	l.Link.Send(ctx, req, reply)
}

// wide fills one partition with rows of some bytes.
func (w *world) wide(rows, size int) {
	w.t.Helper()
	for i := range rows {
		w.exec("INSERT INTO k.t (k, shard, c, d, a) VALUES (7, 1, ?, 0, ?) USING TIMESTAMP 1000", []byte(fmt.Sprint("row ", i)), []byte(strings.Repeat("a", size)))
	}
}

// TestRowsOfAPartitionMoveTogether moves a partition of many rows. The mover handles many of them with
// one request, and each request is of bounded size.
func TestRowsOfAPartitionMoveTogether(t *testing.T) {
	for _, c := range []struct{ rows, size, most int }{
		{rows: 600, size: 10, most: 400},
		{rows: 60, size: 5 << 10, most: 400}, // each row for itself
	} {
		from := &shard.Layout{N: 1, Column: "shard"}
		w := newWorld(t, from)
		w.wide(c.rows, c.size)
		want := w.contents(from)
		var longest atomic.Int64
		st := &counting{Store: w.store, before: func(req wire.Message) *wire.Error {
			if n := int64(len(req.Body)); req.Op == wire.OpBatch && n > longest.Load() {
				longest.Store(n)
			}
			return nil
		}}
		m := w.mover(st, alone{})
		w.start(m, &shard.Layout{N: 4, Column: "shard"})
		if err := m.Run(t.Context(), "k", "t"); err != nil {
			t.Fatal(err)
		}
		w.same("moved", want, w.entry().Layout)
		s, err := m.Status(t.Context(), w.entry())
		if err != nil {
			t.Fatal(err)
		}
		if s.RowsMoved < int64(c.rows)/2 || s.RowsMoved != s.RowsVerified {
			t.Errorf("%d rows of %d moved, %d verified", s.RowsMoved, c.rows, s.RowsVerified)
		}
		if n := st.requests[wire.OpExecute].Load() + st.requests[wire.OpBatch].Load(); n > int64(c.most) {
			t.Errorf("%d rows took %d requests", s.RowsMoved, n)
		}
		if n := longest.Load(); n > 30<<10 {
			t.Errorf("a batch of rows had %d bytes", n)
		}
	}
}

// TestLooksAtSeveralShards moves rows of some keys to shards that are new. The mover looks at a key's rows in several
// shards with one request.
func TestLooksAtSeveralShards(t *testing.T) {
	from := &shard.Layout{N: 7, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 6, 100)
	st := &counting{Store: w.store}
	m := w.mover(st, alone{})
	w.start(m, &shard.Layout{N: 40, Column: "shard"})
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	w.same("moved", want, w.entry().Layout)
	s, err := m.Status(t.Context(), w.entry())
	if err != nil {
		t.Fatal(err)
	}
	if n := st.requests[wire.OpExecute].Load(); n > s.RowsMoved || s.RowsMoved < 400 {
		t.Errorf("%d rows were verified twice, and swept, with %d requests", s.RowsMoved, n)
	}
}

// TestLateRowsOfSeveralShards lets a door that is a step behind write some rows of a key at their old places alone, when
// the mover has verified all. The rows come to their new places.
func TestLateRowsOfSeveralShards(t *testing.T) {
	from := &shard.Layout{N: 7, Column: "shard"}
	w := newWorld(t, from)
	old := w.plan(from)
	key := [][]byte{i32(1)}
	put := func(i, time int) {
		row := [][]byte{[]byte(fmt.Sprint("row ", i)), i32(0)}
		w.exec("INSERT INTO k.t (k, shard, c, d, b) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?", key[0], i32(old.ShardOfRow(key, row)), row[0], row[1], i32(time), bigint(int64(time)))
	}
	for i := range 100 {
		put(i, 1000)
	}
	late := false
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change != nil && e.Change.Step == reshard.Settled && !late {
			late = true
			for i := 0; i < 100; i += 5 {
				put(i, 2000)
			}
		}
	}})
	want := w.contents(from)
	w.start(m, &shard.Layout{N: 40, Column: "shard"})
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	for name, v := range want {
		var i int
		if _, err := fmt.Sscanf(name, "00000001 row %d", &i); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if i%5 == 0 {
			want[name] = strings.ReplaceAll(v, fmt.Sprintf("%08x", 1000), fmt.Sprintf("%08x", 2000))
		}
	}
	w.same("moved", want, w.entry().Layout)
}

// TestStoreForgetsStatements lets the store forget the mover's prepared statements again and again.
func TestStoreForgetsStatements(t *testing.T) {
	from := &shard.Layout{N: 2, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 4, 20)
	var mu sync.Mutex
	n, forgotten := 0, 0
	st := &counting{Store: w.store, before: func(req wire.Message) *wire.Error {
		mu.Lock()
		defer mu.Unlock()
		if req.Op != wire.OpExecute && req.Op != wire.OpBatch {
			return nil
		}
		if n++; n%15 == 0 {
			forgotten++
			return &wire.Error{Code: wire.CodeUnprepared, Message: "forgotten", ID: make([]byte, 16)}
		}
		return nil
	}}
	m := w.mover(st, alone{})
	w.start(m, &shard.Layout{N: 5, Column: "shard"})
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	w.same("moved", want, w.entry().Layout)
	if forgotten < 2 {
		t.Errorf("the store has forgotten statements %d times", forgotten)
	}
}

// TestMarkerOfRowThatIsWrittenAgain lets a client write a row again while the mover has yet to delete a marker that
// a deletion in the old place alone has left in the new one. The new row stays.
func TestMarkerOfRowThatIsWrittenAgain(t *testing.T) {
	for _, only := range []bool{false, true} { // only: the client's write has reached the new place only so far
		from := &shard.Layout{N: 2, Column: "shard"}
		w := newWorld(t, from)
		old, next := w.plan(from), w.plan(&shard.Layout{N: 9, Column: "shard"})
		key, c := [][]byte{i32(1)}, []byte(nil)
		for i := 0; c == nil; i++ {
			row := []byte(fmt.Sprint("row ", i))
			if old.ShardOfRow(key, [][]byte{row, i32(0)}) != next.ShardOfRow(key, [][]byte{row, i32(0)}) {
				c = row
			}
		}
		in := func(t *plan.Table) []byte { return i32(t.ShardOfRow(key, [][]byte{c, i32(0)})) }
		later := new(atomic.Int64)
		w.stamps = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		var started atomic.Int64
		var once sync.Once
		again := func(p *plan.Table) {
			w.exec("INSERT INTO k.t (k, shard, c, d, a) VALUES (1, ?, ?, 0, 'again') USING TIMESTAMP ?", in(p), c, bigint(started.Load()+3000))
		}
		st := &counting{Store: w.store, before: func(req wire.Message) *wire.Error {
			if req.Op == wire.OpPrepare && started.Load() > 0 && strings.Contains(string(req.Body), "DELETE FROM k.t USING TIMESTAMP") {
				once.Do(func() {
					if again(next); !only {
						again(old)
					}
				})
			}
			return nil
		}}
		m := w.mover(st, alone{at: func(e *catalog.Entry) {
			switch {
			case e.Change == nil:
			case e.Change.Step == reshard.Switching && started.Load() == 0:
				later.Store(int64(time.Hour))
				w.exec("INSERT INTO k.t (k, shard, c, d) VALUES (1, ?, ?, 0) USING TIMESTAMP ?", in(next), c, bigint(e.Change.Started+1000))
				w.exec("DELETE FROM k.t USING TIMESTAMP ? WHERE k = 1 AND shard = ? AND c = ? AND d = 0", bigint(e.Change.Started+2000), in(old), c)
				started.Store(e.Change.Started)
			case e.Change.Step == reshard.Switched && only:
				again(old)
			}
		}})
		w.start(m, &shard.Layout{N: 9, Column: "shard"})
		if err := m.Run(t.Context(), "k", "t"); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%x %s %x", key[0], c, i32(0))
		if got := w.contents(w.entry().Layout); !strings.HasPrefix(got[name], "again") {
			t.Errorf("only in the new place: %v: the row that was written again is gone: %q", only, got)
		}
	}
}

// TestBatchOfSeveralPartitions moves small partitions whose rows have many columns. Cassandra warns of no batch of
// theirs: it counts 20 bytes for each cell beside its value.
func TestBatchOfSeveralPartitions(t *testing.T) {
	from := &shard.Layout{N: 1, Column: "shard"}
	w := newWorld(t, from)
	names, values := "", ""
	for i := range 30 {
		w.exec(fmt.Sprintf("ALTER TABLE k.t ADD x%d int", i))
		names, values = names+fmt.Sprintf(", x%d", i), values+", 1"
	}
	for k := range 60 {
		w.exec("INSERT INTO k.t (k, shard, c, d"+names+") VALUES (?, 1, 'c', 0"+values+") USING TIMESTAMP 1000", i32(k))
	}
	var largest atomic.Int64
	st := &counting{Store: w.store, before: func(req wire.Message) *wire.Error {
		if req.Op != wire.OpBatch {
			return nil
		}
		b, err := wire.ParseBatch(wire.V5, req.Body)
		if err != nil {
			t.Error(err)
			return nil
		}
		var n int64
		for it := b.Iter(); it.Next(); {
			n += int64(len(it.Values.Raw)) + 16*int64(it.Values.Count) // Raw has 4 bytes for the length of each value
		}
		largest.Store(max(largest.Load(), n))
		return nil
	}}
	m := w.mover(st, alone{})
	w.start(m, &shard.Layout{N: 8, Column: "shard"})
	if err := m.Run(t.Context(), "k", "t"); err != nil {
		t.Fatal(err)
	}
	if n := largest.Load(); n == 0 || n > 5<<10 {
		t.Errorf("the largest batch has %d bytes as Cassandra counts them", n)
	}
}
