// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
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
