// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/shard"
)

// TestPaceComparesLikeWithLike observes quick reads and slow writes. The mover keeps its speed as long
// as the writes take as long as before.
func TestPaceComparesLikeWithLike(t *testing.T) {
	p := newPace(time.Now, nil)
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

// TestPaceGivesWayToClients lets clients wait longer the more the mover does. The mover slows down,
// but it never stops, and it is fast where they wait no longer than without it.
func TestPaceGivesWayToClients(t *testing.T) {
	now, served := time.Unix(1000, 0), Served{}
	p := newPace(func() time.Time { return now }, func() Served { return served })
	// spend lets the mover work for 100 windows of glance, and each gives how long a client's request
	// takes in the window i. spend returns the average level.
	spend := func(each func(i int) time.Duration) (level float64) {
		for i := range 100 {
			for range 20 {
				if p.update() {
					t.Error("the mover waits again")
				}
				p.observe(look, 100*time.Microsecond, false)
				now = now.Add(glance / 20)
			}
			served.Requests += 100
			served.Took += 100 * each(i)
			level += p.level / 100
		}
		return level
	}
	if !p.update() {
		t.Error("before its work the mover does not wait to see how clients are served")
	}
	unsteady := func(i int) time.Duration { return []time.Duration{700, 1300, 900, 1100}[i%4] * time.Microsecond }
	spend(unsteady)
	if got := p.parallel(); got != maxParallel {
		t.Errorf("clients wait no longer than without the mover, which handles %d units at a time, not %d", got, maxParallel)
	}
	disturbed := func(int) time.Duration { return time.Duration(p.level * float64(time.Millisecond)) }
	spend(disturbed)
	if got := spend(disturbed); got > 0.5 || p.level < lowest {
		t.Errorf("clients wait a millisecond for each unit; the mover handles %.2f at a time", got)
	}
	twice := func(int) time.Duration {
		return 4*time.Millisecond + time.Duration(p.level*float64(50*time.Microsecond))
	}
	spend(twice)
	if got := spend(twice); got < maxParallel/3 {
		t.Errorf("the clients' requests take longer themselves; the mover handles %.1f units at a time", got)
	}
	spend(unsteady)
	if got := p.parallel(); got != maxParallel {
		t.Errorf("clients no longer wait: %d units at a time", got)
	}
}

// TestPaceRests checks that the mover rests in proportion to its requests if its level is below 1.
func TestPaceRests(t *testing.T) {
	p := newPace(time.Now, func() Served { return Served{} })
	const took = 5 * time.Millisecond
	began := time.Now()
	if err := p.rest(t.Context(), took); err != nil || time.Since(began) < 3*took {
		t.Errorf("at the lowest level the mover rests %v after a request of %v: %v", time.Since(began), took, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.rest(ended, time.Hour); err == nil {
		t.Error("the mover rests although nobody waits for it")
	}
	p.set(1)
	if err := p.rest(ended, time.Hour); err != nil {
		t.Errorf("at level 1 the mover rests: %v", err)
	}
}

// pairing is a store that answers its first INSERT only when a second one is under way.
type pairing struct {
	store.Store
	ids      sync.Map     // of prepared INSERTs
	inserts  atomic.Int64 // rows
	requests atomic.Int64 // those with such rows
	second   chan struct{}
}

type pairingLink struct {
	store.Link
	of *pairing
}

func (p *pairing) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := p.Store.Open(ctx, o)
	return pairingLink{l, p}, err
}

// inserts returns how many prepared INSERT statements a request executes.
func (l pairingLink) inserts(req wire.Message) (n int64) {
	var ids [][]byte
	switch req.Op {
	case wire.OpExecute:
		if e, err := wire.ParseExecute(wire.V5, req.Body); err == nil {
			ids = [][]byte{e.ID}
		}
	case wire.OpBatch:
		if b, err := wire.ParseBatch(wire.V5, req.Body); err == nil {
			for it := b.Iter(); it.Next(); {
				ids = append(ids, it.ID)
			}
		}
	}
	for _, id := range ids {
		if _, known := l.of.ids.Load(string(id)); known {
			n++
		}
	}
	return n
}

func (l pairingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	switch {
	case req.Op == wire.OpPrepare && bytes.Contains(req.Body, []byte("INSERT INTO k.t ")):
		l.Link.Send(ctx, req, func(resp wire.Message) {
			if p, err := wire.ParsePrepared(wire.V5, resp.Body); err == nil {
				l.of.ids.Store(string(p.ID), true)
			}
			reply(resp)
		})
		return
	case l.inserts(req) > 0:
		l.of.inserts.Add(l.inserts(req))
		switch l.of.requests.Add(1) {
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

// TestPartitionsMoveTogether moves partitions of one row each. The mover does not wait for some of
// them before it begins the next, writes each row once, and writes those of several partitions together.
func TestPartitionsMoveTogether(t *testing.T) {
	from := &shard.Layout{N: 1, Column: "shard"}
	w := newWorld(t, from)
	want := w.fill(from, 100, 1)
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
	if n := st.inserts.Load(); n != s.RowsMoved || n < 60 {
		t.Errorf("%d rows of 100 moved, with %d INSERT statements", s.RowsMoved, n)
	}
	if n := st.requests.Load(); n > s.RowsMoved/5 {
		t.Errorf("%d partitions of one row moved with %d requests", s.RowsMoved, n)
	}
}

// TestOrderGivenTwice gives each order twice. The mover publishes only the first order. A publication
// would interrupt the mover's pass.
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
