// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestEachRequestIsAnsweredOnce sends requests, alone and as parts of fan-outs, more than may be in
// flight, to a host that answers some of them late and others never. Half of the clients go. After
// the time for a request each has one answer and none is counted as in flight, and what the host
// answers later reaches nobody.
func TestEachRequestIsAnsweredOnce(t *testing.T) {
	const requests, timeout = 600, 3
	s := newServer(t)
	late := make(chan struct{})
	var lately sync.WaitGroup
	var never atomic.Int32
	s.handle = func(ss *session, h wire.Header, body []byte) {
		text, _ := wire.QueryText(body)
		switch {
		case strings.HasSuffix(string(text), "late"):
			lately.Add(1)
			ss.srv.wg.Go(func() {
				defer lately.Done()
				<-late
				ss.reply(h, wire.OpResult, nil)
			})
		case strings.HasSuffix(string(text), "never"):
			never.Add(1)
		default:
			ss.reply(h, wire.OpResult, nil)
		}
	}
	cl := connectTo(t, Options{ConnsPerHost: 2, InFlight: 64}, s)
	var answers [requests]atomic.Int32
	var clients []*guest
	for i := range 6 {
		ctx := t.Context()
		if i%2 == 1 {
			ctx = store.Wide(ctx)
		}
		clients = append(clients, newGuest(t, cl, ctx))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range requests {
		text := []string{"SELECT now", "SELECT late", "SELECT never", "UPDATE never"}[r.IntN(4)]
		g := clients[r.IntN(len(clients))]
		g.Send(g.ctx, wire.Message{Op: wire.OpQuery, Body: query(wire.V5, text)}, func(wire.Message) { answers[i].Add(1) })
	}
	for _, g := range clients[:3] {
		g.leave()
		g.Close()
	}
	p := clients[0].Link.(*link).p
	beat := func() {
		for _, h := range p.live.Load().hosts {
			for _, c := range h {
				c.beat(timeout, 1_000_000)
			}
		}
	}
	done := func() bool {
		for i := range answers {
			if answers[i].Load() == 0 {
				return false
			}
		}
		return true
	}
	// Requests that waited in a queue begin when others are given up, and have their own time.
	eventually(t, "each request has an answer", func() bool { beat(); return done() })
	eventually(t, "none is in flight", func() bool {
		taken, _ := p.queues.wide.Counts()
		return taken == 0 && p.queues.waiting() == 0 && cl.HostStats()[0].InFlight == 0
	})
	close(late)
	lately.Wait()
	eventually(t, "the streams of late answers are free", func() bool {
		orphans := 0
		for _, c := range p.live.Load().hosts[0] {
			c.mu.Lock()
			orphans += c.orphans
			c.mu.Unlock()
		}
		return orphans == int(never.Load())
	})
	for i := range answers {
		if n := answers[i].Load(); n != 1 {
			t.Errorf("request %d has %d answers", i, n)
		}
	}
}
