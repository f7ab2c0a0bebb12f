// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// A page over many shards waits for the slowest of them: over 200 shards, 87% of pages include one
// of the slowest hundredth of answers. So the door sends a read that is part of a fan-out to a
// second host if the first one is slow. A read is slow if it takes longer than 99 of 100 recent reads of
// that host. It is also slow if that is true of most hosts. The first answer counts. (Dean and Barroso, "The Tail at Scale", CACM 2013.)
//
// The door hedges only parts of fan-outs that execute a SELECT below SERIAL. It sends everything
// else once. At most one in twenty such reads is hedged, so that a cluster that is slow as a whole
// does not get more requests. The door drops the second answer when it comes. Until then the
// second answer holds its stream, as it would without a hedge.

const (
	// hedgeOneIn is the number of reads that earn one hedge.
	hedgeOneIn = 20
	// hedgeBurst is the largest number of saved hedges. It suffices for one page whose shards are
	// at a host that has just stopped.
	hedgeBurst = 32
	// hedgeLeast is the shortest time after which a read is hedged. Faster reads are not slow.
	hedgeLeast = time.Millisecond
)

// hedges holds the reads of a cluster that wait to be hedged, and the budget for hedges.
type hedges struct {
	budget              atomic.Int64 // in units of 1/hedgeOneIn of a hedge
	usual               atomic.Int64 // what usual returns, in nanoseconds; 0: not known yet
	won, lost, failed   atomic.Int64
	overBudget, nowhere atomic.Int64

	mu     sync.Mutex
	heap   byDue
	timer  *time.Timer
	armed  time.Time // when the timer fires; zero: it is stopped
	ended  bool
	firing sync.WaitGroup // calls of fire that send; none begins after ended is set
}

func newHedges() *hedges {
	h := &hedges{}
	h.budget.Store(hedgeBurst * hedgeOneIn)
	h.timer = time.AfterFunc(time.Hour, h.fire)
	h.timer.Stop()
	return h
}

// earn counts a read that may be hedged.
func (h *hedges) earn() {
	if h.budget.Load() < hedgeBurst*hedgeOneIn {
		h.budget.Add(1)
	}
}

// spend takes one hedge from the budget and reports whether there was one.
func (h *hedges) spend() bool {
	for {
		n := h.budget.Load()
		if n < hedgeOneIn {
			return false
		}
		if h.budget.CompareAndSwap(n, n-hedgeOneIn) {
			return true
		}
	}
}

// repay gives back what spend has taken for a hedge that was not sent.
func (h *hedges) repay() { h.budget.Add(hedgeOneIn) }

// add schedules the hedge of a part.
func (h *hedges) add(p *part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	heap.Push(&h.heap, p)
	h.arm(h.heap[0].due)
}

// arm makes the timer fire at a time, or earlier. The caller holds mu.
func (h *hedges) arm(at time.Time) {
	if !h.armed.IsZero() && !at.Before(h.armed) {
		return
	}
	h.armed = at
	h.timer.Reset(time.Until(at))
}

// remove removes a part that has its answer.
func (h *hedges) remove(p *part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.at >= 0 {
		heap.Remove(&h.heap, p.at)
	}
}

// fire hedges the parts that are due.
func (h *hedges) fire() {
	var due []*part
	now := time.Now()
	h.mu.Lock()
	h.armed = time.Time{}
	for !h.ended && len(h.heap) > 0 && !h.heap[0].due.After(now) {
		due = append(due, heap.Pop(&h.heap).(*part))
	}
	if !h.ended {
		h.firing.Add(1)
		defer h.firing.Done()
		if len(h.heap) > 0 {
			h.arm(h.heap[0].due)
		}
	}
	h.mu.Unlock()
	for _, p := range due {
		p.hedge(h)
	}
}

// close ends hedging. Each part stays in the heap until its answer comes, and then leaves it by its
// index.
func (h *hedges) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.timer.Stop()
}

// wait waits, after close, for the hedges that are being sent.
func (h *hedges) wait() { h.firing.Wait() }

// byDue is a heap of unanswered parts, ordered by due time.
type byDue []*part

func (b byDue) Len() int           { return len(b) }
func (b byDue) Less(i, j int) bool { return b[i].due.Before(b[j].due) }
func (b byDue) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].at, b[j].at = i, j
}

func (b *byDue) Push(x any) {
	p := x.(*part)
	p.at = len(*b)
	*b = append(*b, p)
}

func (b *byDue) Pop() any {
	last := len(*b) - 1
	p := (*b)[last]
	(*b)[last], p.at = nil, -1
	*b = (*b)[:last]
	return p
}

// part is the receiver for a part of a fan-out. Its response makes room for the next part.
type part struct {
	link        *link
	tag         uint32
	node, other int  // preferred node, and the node to use instead, see store.AtNodes; -1: none
	hedged      bool // it may be sent to a second host

	sent time.Time // to the first host
	due  time.Time // when to send it to a second host
	at   int       // index in hedges.heap, guarded by hedges.mu; -1: not in the heap

	mu       sync.Mutex
	to       store.Receiver // nil: it has its answer
	first    *conn          // the connection of the first host
	stream   int16          // the part's stream on that connection
	left     int            // requests without an answer
	second   second
	twice    bool // it was sent to a second host
	answered *answered
}

// second is the receiver for the hedge of a part.
type second struct {
	*part
	host *host
	sent time.Time
}

// answered says which receiver got the answer of a part, and from which host, for Flush.
type answered struct {
	to     store.Receiver
	second bool
}

// newPart makes the receiver for a part of a fan-out.
func (l *link) newPart(req wire.Message, to store.Receiver, tag uint32, node, other int) *part {
	p := &part{link: l, to: to, tag: tag, node: node, other: other, at: -1, left: 1}
	cl := l.p.cluster
	if p.hedged = !cl.opts.NoHedge && cl.mayHedge(l.p.options.Version, req); p.hedged {
		cl.hedges.earn()
	}
	return p
}

// mayHedge reports whether a request only reads and does not have to meet other requests at one
// host.
func (cl *Cluster) mayHedge(v wire.Version, req wire.Message) bool {
	if req.Op != wire.OpExecute || len(req.Body) > maxKeptBody {
		return false
	}
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return false
	}
	e, err := wire.ParseExecute(v, body)
	if err != nil || e.Params.Consistency.IsSerial() {
		return false
	}
	r, ok := cl.prepared.routes.get(e.ID)
	return ok && r.read
}

// put sends a request on a connection and schedules its hedge.
func (l *link) put(c *conn, req wire.Message, to store.Receiver, tag uint32) bool {
	p, ok := to.(*part)
	if !ok || !p.hedged {
		return c.forward(req, to, tag)
	}
	p.sent = time.Now()
	stream, ok := c.queue(req, to, tag)
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first, p.stream = c, stream
	h := l.p.cluster.hedges
	slow := time.Duration(min(c.host.latency.slow.Load(), h.usual.Load()))
	if p.to == nil || slow == 0 || len(l.p.live.Load().hosts) < 2 {
		return true // it has its answer, or it is unknown which reads are slow, or there is no other host
	}
	p.due = p.sent.Add(max(slow, hedgeLeast))
	h.add(p)
	return true
}

// hedge sends the part to a second host, unless it has its answer.
func (p *part) hedge(h *hedges) {
	c := p.resend(h)
	if c != nil {
		c.t.Flush()
	}
}

// resend does the work of hedge without the flush. It returns the connection to which it sent the
// request, or nil.
func (p *part) resend(h *hedges) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to == nil || p.left == 0 {
		return nil
	}
	if !h.spend() {
		h.overBudget.Add(1)
		return nil
	}
	req, ok := p.first.requestOf(p.stream, p)
	if !ok {
		h.repay()
		return nil
	}
	c := p.link.elsewhere(p, req)
	if c != nil {
		p.second = second{p, c.host, time.Now()}
		ok = c.forward(req, &p.second, p.tag)
	}
	if c == nil || !ok {
		h.repay()
		h.nowhere.Add(1)
		return nil
	}
	p.twice = true
	p.left++
	return c
}

// elsewhere returns a connection to another replica than the first host of a part, or to any other
// host if the replicas are not known. It returns nil if no other host would answer sooner.
func (l *link) elsewhere(p *part, req wire.Message) *conn {
	live, not := l.p.live.Load(), p.first.host
	t := l.p.cluster.topology.Load()
	for _, n := range []int{p.other, p.node} {
		if h := t.host(n); h != nil && h != not {
			if c := live.of[h].pick(); c != nil && !h.silent() {
				return c
			}
		}
	}
	if p.node >= 0 {
		return nil // no further node has the rows: another would ask the first one
	}
	of := live.hosts // if the replicas are not known
	to := l.p.cluster.target(l.p.options.Version, req)
	if replicas := to.replicas(); len(replicas) > 0 {
		of = nil
		for _, n := range replicas {
			of = append(of, live.of[n])
		}
	}
	c := lessBusy(len(of), l.p.next.Add(1), func(i int) hostConns {
		if len(of[i]) == 0 || of[i][0].host == not {
			return nil
		}
		return of[i]
	})
	if c != nil && !c.host.silent() {
		return c
	}
	return nil
}

// Receive takes the first host's answer.
func (p *part) Receive(_ uint32, resp wire.Message) { p.receive(resp, nil) }

// Receive takes the second host's answer.
func (s *second) Receive(_ uint32, resp wire.Message) { s.part.receive(resp, s) }

// receive passes on one answer: the first result, or the last error if there is no result.
func (p *part) receive(resp wire.Message, of *second) {
	p.mu.Lock()
	p.left--
	last := p.left == 0
	to := p.to
	if to != nil && (resp.Op != wire.OpError || last) {
		p.to, p.answered = nil, &answered{to, of != nil}
	} else {
		to = nil
	}
	first, twice := p.first, p.twice
	p.mu.Unlock()

	cl := p.link.p.cluster
	if p.hedged {
		switch {
		case resp.Op == wire.OpError:
		case of != nil:
			cl.took(of.host, time.Since(of.sent))
		case first != nil:
			cl.took(first.host, time.Since(p.sent))
		}
		if to != nil {
			cl.hedges.remove(p)
		}
		if to != nil && twice {
			cl.hedges.outcome(resp, of != nil)
		}
	}
	if to == nil {
		return
	}
	to.Receive(p.tag, resp)
	p.link.p.queues.wide.Leave(&p.link.wide)
}

// took records how long a host took to answer a part.
func (cl *Cluster) took(h *host, d time.Duration) {
	if h.latency.add(d) {
		cl.hedges.usual.Store(int64(usual(cl.hostList())))
	}
}

func (h *hedges) outcome(resp wire.Message, second bool) {
	switch {
	case resp.Op == wire.OpError:
		h.failed.Add(1)
	case second:
		h.won.Add(1)
	default:
		h.lost.Add(1)
	}
}

// Flush handles the flush after the first host's answer.
func (p *part) Flush() { p.flush(false) }

// Flush handles the flush after the second host's answer.
func (s *second) Flush() { s.part.flush(true) }

// flush passes on the flush that follows the answer that counted, and forgets its receiver.
func (p *part) flush(second bool) {
	p.mu.Lock()
	a := p.answered
	if a == nil || a.second != second {
		p.mu.Unlock()
		return
	}
	p.answered = nil
	p.mu.Unlock()
	a.to.Flush()
}

// HedgeStats counts the reads that came due for a hedge, by outcome.
type HedgeStats struct {
	Won        int64 // the second host's answer counted
	Lost       int64 // the first host's answer counted
	Failed     int64 // neither host had a result
	OverBudget int64 // reads that were not sent again because too many others were
	Nowhere    int64 // reads that were not sent again because no other host could take them
}

// Hedges returns the counts since Connect.
func (cl *Cluster) Hedges() HedgeStats {
	h := cl.hedges
	return HedgeStats{h.won.Load(), h.lost.Load(), h.failed.Load(), h.overBudget.Load(), h.nowhere.Load()}
}
