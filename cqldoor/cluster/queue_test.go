// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// reluctant is a server whose requests wait at a gate. came records the order in which they pass
// it.
type reluctant struct {
	*server
	gate chan struct{}
	came chan byte // the last byte of each text
}

func newReluctant(t *testing.T) *reluctant {
	s := &reluctant{newServer(t), make(chan struct{}), make(chan byte, 10_000)}
	s.handle = func(ss *session, h wire.Header, body []byte) {
		<-s.gate
		text, _ := wire.QueryText(body)
		s.came <- text[len(text)-1]
		ss.reply(h, wire.OpResult, nil)
	}
	return s
}

// guest sends requests and counts their answers.
type guest struct {
	store.Link
	ctx           context.Context
	leave         context.CancelFunc
	sent          int32
	rows, refused atomic.Int32
}

func newGuest(t *testing.T, cl *Cluster, ctx context.Context) *guest {
	g := &guest{Link: open(t, cl, store.LinkOptions{})}
	g.ctx, g.leave = context.WithCancel(ctx)
	t.Cleanup(g.leave)
	return g
}

func (g *guest) ask(text string) {
	g.sent++
	g.Send(g.ctx, wire.Message{Op: wire.OpQuery, Body: query(wire.V5, text)}, func(resp wire.Message) {
		if resp.Op == wire.OpResult {
			g.rows.Add(1)
		} else {
			g.refused.Add(1)
		}
	})
}

func (g *guest) answered() bool { return g.rows.Load()+g.refused.Load() == g.sent }

// TestWhatWaitsForAHostThatDoesNotRead lets one client send more than its host reads, and another
// client a little. The clients take turns. After the first has gone, none of its waiting requests
// is sent. The store reports how many requests wait.
func TestWhatWaitsForAHostThatDoesNotRead(t *testing.T) {
	s := newReluctant(t)
	cl := connectTo(t, Options{ConnsPerHost: 1}, s.server)
	a, b := newGuest(t, cl, t.Context()), newGuest(t, cl, t.Context())
	large := "SELECT " + strings.Repeat("x", 100<<10)
	waiting := func() int { _, n := cl.Work(); return n }
	for waiting() < 100 {
		if a.ask(large + "a"); a.sent == 2000 {
			t.Fatal("all of 200 MB is on its way")
		}
	}
	before := a.sent - int32(waiting())
	b.ask("SELECT b")
	if inFlight, _ := cl.Work(); inFlight != int(before) {
		t.Errorf("%d requests are in flight, of %d that were sent", inFlight, before)
	}
	a.leave()
	a.Close()
	if n := waiting(); n > 1 {
		t.Errorf("%d requests wait, of one client that is there", n)
	}
	if n := a.refused.Load(); n != a.sent-before {
		t.Errorf("%d requests of the client that has gone have ended, of %d that wait", n, a.sent-before)
	}
	close(s.gate)
	eventually(t, "all is answered", func() bool { return a.answered() && b.answered() })
	if n := a.rows.Load(); n != before || b.rows.Load() != 1 {
		t.Errorf("%d requests of the client that has gone were carried out, %d of them had been sent; %d of the other", n, before, b.rows.Load())
	}
	if inFlight, n := cl.Work(); inFlight != 0 || n != 0 {
		t.Errorf("then %d requests are in flight and %d wait", inFlight, n)
	}
}

// TestLinksTakeTurns lets two clients send more than a host reads. Once the host reads, it serves
// them in turn.
func TestLinksTakeTurns(t *testing.T) {
	s := newReluctant(t)
	cl := connectTo(t, Options{ConnsPerHost: 1}, s.server)
	a, b := newGuest(t, cl, t.Context()), newGuest(t, cl, t.Context())
	large := "SELECT " + strings.Repeat("x", 100<<10)
	for _, n := cl.Work(); n < 50; _, n = cl.Work() {
		a.ask(large + "a")
	}
	sent := int(a.sent) - 50
	for range 10 {
		b.ask(large + "b")
	}
	close(s.gate)
	eventually(t, "all is answered", func() bool { return a.answered() && b.answered() })
	last := 0
	for i := range int(a.sent + b.sent) {
		if c := <-s.came; c == 'b' {
			last = i
		}
	}
	if last > sent+25 {
		t.Errorf("the second client's ten requests are through after %d of the first's, of which %d had been sent before", last-10, sent)
	}
}

// TestFanOutsTakeTurns lets one client send many parts of a fan-out. The host gets only a few of
// them at a time, so that others' requests do not wait behind all of them. Once the client has
// gone, none of its waiting parts is sent.
func TestFanOutsTakeTurns(t *testing.T) {
	s := newReluctant(t)
	cl := connectTo(t, Options{ConnsPerHost: 1}, s.server)
	a, b, c := newGuest(t, cl, store.Wide(t.Context())), newGuest(t, cl, store.Wide(t.Context())), newGuest(t, cl, t.Context())
	for range 1000 {
		a.ask("SELECT a")
	}
	if inFlight, waiting := cl.Work(); inFlight != widePerHost/2 || waiting != 1000-widePerHost/2 {
		t.Errorf("%d parts are in flight, %d wait", inFlight, waiting)
	}
	b.ask("SELECT b")
	c.ask("SELECT c")
	for range widePerHost/2 + 2 {
		s.gate <- struct{}{}
	}
	eventually(t, "the others are answered", func() bool { return b.answered() && c.answered() })
	before := a.sent - func() int32 { _, n := cl.Work(); return int32(n) }()
	a.leave()
	a.Close()
	close(s.gate)
	eventually(t, "all is answered", a.answered)
	if n := a.rows.Load(); n > before+widePerHost {
		t.Errorf("%d parts were carried out for a client that had gone when %d had been sent", n, before)
	}
	eventually(t, "nothing is in flight", func() bool { n, waiting := cl.Work(); return n == 0 && waiting == 0 })
}

// TestInFlight checks that a host has at most InFlight requests in flight, that 16 times as many
// wait, and that the others are refused at once. All requests that are not refused get an answer.
func TestInFlight(t *testing.T) {
	s := newReluctant(t)
	const most, waits, more = 10, 16 * 10, 7
	cl := connectTo(t, Options{ConnsPerHost: 2, InFlight: most}, s.server)
	g := newGuest(t, cl, t.Context())
	eventually(t, "both connections are there", func() bool { return cl.HostStats()[0].Connections == 2 })
	for range most + waits + more {
		g.ask("SELECT a")
	}
	if n := g.refused.Load(); n != more {
		t.Errorf("%d requests were refused, not %d", n, more)
	}
	if inFlight, waiting := cl.Work(); inFlight != most || waiting != waits {
		t.Errorf("%d requests are in flight and %d wait", inFlight, waiting)
	}
	close(s.gate)
	eventually(t, "all is answered", g.answered)
	if n := g.rows.Load(); n != most+waits {
		t.Errorf("%d requests were carried out", n)
	}
}

// TestInFlightElsewhere checks that, if one host has its limit in flight, another host gets the
// rest.
func TestInFlightElsewhere(t *testing.T) {
	r := newSlowRing(t, Options{ConnsPerHost: 1, InFlight: 5})
	r.holdNode(1)
	var answers []<-chan wire.Op
	keys := r.keysOf(1, 30)
	for _, key := range keys {
		answers = append(answers, r.send(t.Context(), conditional, wire.LocalQuorum, key))
		// Otherwise the other replica would soon have its limit in flight too, and the third node
		// would get a request.
		eventually(t, "the other replica has answered", func() bool {
			inFlight, _ := r.cl.Work()
			return len(r.nodesOf(string(key))) > 0 && inFlight <= 5
		})
	}
	at := map[int]int{}
	for _, key := range keys {
		at[r.nodesOf(string(key))[0]]++
	}
	if at[1] != 5 || at[1]+at[2] != 30 {
		t.Errorf("the requests came to nodes %v", at)
	}
	r.release()
	for _, answer := range answers {
		<-answer
	}
	r.settled()
}

// TestEachFlushReachesAllConnections sends requests together, more than one connection takes. A
// flush then sends all of them, also those on the connection that the link has left.
func TestEachFlushReachesAllConnections(t *testing.T) {
	s := newReluctant(t)
	close(s.gate)
	cl := connectTo(t, Options{ConnsPerHost: 2, InFlight: 10}, s.server)
	l := open(t, cl, store.LinkOptions{})
	eventually(t, "both connections are there", func() bool { return cl.HostStats()[0].Connections == 2 })
	answers := make(chan wire.Op, 20)
	for range 10 {
		l.Forward(t.Context(), wire.Message{Op: wire.OpQuery, Body: query(wire.V5, "SELECT a")}, &replier{func(m wire.Message) { answers <- m.Op }}, 0)
	}
	l.Flush()
	for n := range 10 {
		select {
		case op := <-answers:
			if op != wire.OpResult {
				t.Errorf("a request is answered by %s", op)
			}
		case <-time.After(patience):
			t.Fatalf("%d of 10 requests are answered", n)
		}
	}
}
