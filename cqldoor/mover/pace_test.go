// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/shard"
)

// TestPaceComparesLikeWithLike observes quick reads beside writes that wait for the disk. The writes
// are no sign of a busy store, until they get slower themselves.
func TestPaceComparesLikeWithLike(t *testing.T) {
	p := newPace()
	observe := func(n int, writes time.Duration) {
		for range n {
			p.observe(look, 100*time.Microsecond, false)
			p.observe(write, writes, false)
		}
	}
	observe(1000, 8*time.Millisecond)
	if got := p.parallel(); got != maxParallel {
		t.Errorf("writes of 8 ms beside quick reads: %d rows at a time, not %d", got, maxParallel)
	}
	observe(200, 80*time.Millisecond)
	if got := p.parallel(); got > maxParallel/2 {
		t.Errorf("writes take ten times as long as before: %d rows at a time", got)
	}
	if got := p.latency(); got[0] < 0.07 || got[1] > 0.02 {
		t.Errorf("the store's response times are %v, not those of the writes", got)
	}
}

// pairing is a store that answers its first INSERT only when a second one is under way.
type pairing struct {
	store.Store
	inserts atomic.Int64
	second  chan struct{}
}

type pairingLink struct {
	store.Link
	of *pairing
}

func (p *pairing) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := p.Store.Open(ctx, o)
	return pairingLink{l, p}, err
}

func (l pairingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if bytes.Contains(req.Body, []byte("INSERT INTO k.t ")) {
		switch l.of.inserts.Add(1) {
		case 1:
			go func() {
				select {
				case <-l.of.second:
					l.Link.Send(ctx, req, reply)
				case <-ctx.Done():
				}
			}()
			return
		case 2:
			close(l.of.second)
		}
	}
	l.Link.Send(ctx, req, reply)
}

// TestPartitionsMoveTogether moves partitions of one row each. The mover does not wait for one of
// them before it begins the next, and writes each row once.
func TestPartitionsMoveTogether(t *testing.T) {
	from := &shard.Layout{N: 1, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 50, 1)
	st := &pairing{Store: w.store, second: make(chan struct{})}
	m := w.mover(st, alone{})
	w.start(m, &shard.Layout{N: 8, Column: "shard"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.Run(ctx, "k", "t"); err != nil {
		t.Fatal(err)
	}
	w.same("moved", want, w.entry().Layout)
	s, err := m.Status(ctx, w.entry())
	if err != nil {
		t.Fatal(err)
	}
	if n := st.inserts.Load(); n != s.RowsMoved || n < 30 {
		t.Errorf("%d rows of 50 moved, with %d INSERT statements", s.RowsMoved, n)
	}
}

// TestOrderGivenTwice gives each order twice. The second one publishes nothing, so it does not
// interrupt the pass that is under way.
func TestOrderGivenTwice(t *testing.T) {
	for _, o := range Orders {
		w := newWorld(t, &shard.Layout{N: 2, Column: "shard"})
		m := w.mover(w.store, alone{})
		w.start(m, &shard.Layout{N: 3, Column: "shard"})
		var generations [2]int64
		for i := range generations {
			if err := m.Give(t.Context(), "k", "t", o); err != nil {
				t.Fatalf("%s: %v", o, err)
			}
			generations[i] = w.entry().Layout.Generation
		}
		if generations[0] != generations[1] {
			t.Errorf("%s was published as generation %d, and again as %d", o, generations[0], generations[1])
		}
	}
}
