// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

// slowRing is a tokenRing with each partition at two nodes, and a cluster that knows how long its
// nodes take. A test can hold back the nodes' answers.
type slowRing struct {
	*tokenRing
	t    testing.TB
	cl   *Cluster
	link store.Forwarder

	mu   sync.Mutex
	held []func(*wire.Error)
}

func newSlowRing(t testing.TB, o Options) *slowRing { return slowed(t, newTokenRing(t, 2), o) }

func slowed(t testing.TB, ring *tokenRing, o Options) *slowRing {
	r := &slowRing{tokenRing: ring, t: t}
	r.cl = connectTo(t, o, r.servers[0])
	r.link = r.open(t, r.cl)
	for range 6 * (latencyKnown + 1) {
		<-r.part(selecting, wire.LocalQuorum, keyOf(rand.Int()))
	}
	for _, h := range r.cl.hostList() {
		h.latency.slow.CompareAndSwap(0, int64(time.Millisecond)) // a host that other hosts come before answers little
	}
	r.cl.hedges.usual.Store(int64(usual(r.cl.hostList())))
	// On a busy machine, some of these were slow, and hedged.
	r.settled()
	r.cl.hedges.budget.Store(hedgeBurst * hedgeOneIn)
	return r
}

// holdNode makes a node answer nothing from now on. release sends the held answers.
func (r *slowRing) holdNode(node int) {
	r.tokenRing.mu.Lock()
	defer r.tokenRing.mu.Unlock()
	r.hold = func(at int, answer func(*wire.Error)) bool {
		if at != node {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.held = append(r.held, answer)
		return true
	}
}

func (r *slowRing) release() {
	r.tokenRing.mu.Lock()
	r.hold = nil
	r.tokenRing.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, answer := range r.held {
		answer(nil)
	}
	r.held = nil
}

// part sends a part of a fan-out to the first two nodes of a partition.
func (r *slowRing) part(id string, consistency wire.Consistency, key []byte) <-chan wire.Op {
	nodes, _ := r.cl.AppendNodes(nil, "ks", key)
	return r.send(store.AtNodes(store.Wide(r.t.Context()), nodes[0], nodes[1]), id, consistency, key)
}

func (r *slowRing) send(ctx context.Context, id string, consistency wire.Consistency, key []byte) <-chan wire.Op {
	got := make(chan wire.Op, 2)
	r.link.Forward(ctx, wire.Message{Op: wire.OpExecute, Body: executeWith(id, consistency, key, []byte("v"))}, &replier{func(m wire.Message) { got <- m.Op }}, 7)
	r.link.Flush()
	return got
}

// keysOf returns n keys that a node owns.
func (r *slowRing) keysOf(node, n int) (keys [][]byte) {
	for i := 1 << 20; len(keys) < n; i++ {
		if r.owner(keyOf(i)) == node {
			keys = append(keys, keyOf(i))
		}
	}
	return keys
}

// settled waits until no request is in flight and no stream is taken.
func (r *slowRing) settled() {
	r.t.Helper()
	eventually(r.t, "all streams are free", func() bool {
		if inFlight, waiting := r.cl.Work(); inFlight > 0 || waiting > 0 {
			return false
		}
		for _, c := range r.link.(*link).p.conns {
			c.mu.Lock()
			free := len(c.free) == len(c.slots) && c.kept == 0
			c.mu.Unlock()
			if !free {
				return false
			}
		}
		return true
	})
	r.cl.hedges.mu.Lock()
	defer r.cl.hedges.mu.Unlock()
	if n := len(r.cl.hedges.heap); n > 0 {
		r.t.Errorf("%d parts with their answers are still to be hedged", n)
	}
}

// TestHedge checks that a second node answers a request that the first does not answer in time. The
// second answer is dropped and frees its stream.
func TestHedge(t *testing.T) {
	r := newSlowRing(t, Options{})
	before := r.cl.Hedges()
	r.holdNode(1)
	var answers []<-chan wire.Op
	keys := r.keysOf(1, 5)
	for _, key := range keys {
		answers = append(answers, r.part(selecting, wire.LocalQuorum, key))
	}
	for i, answer := range answers {
		if op := <-answer; op != wire.OpResult {
			t.Errorf("read %d is answered by %s", i, op)
		}
		if at := r.nodesOf(string(keys[i])); !slices.Equal(at, []int{1, 2}) {
			t.Errorf("read %d came to nodes %v", i, at)
		}
	}
	if got := r.cl.Hedges(); got.Won-before.Won != 5 || got.Failed != 0 {
		t.Errorf("hedges are %+v after %+v", got, before)
	}
	r.release()
	r.settled()
	for i, answer := range answers {
		select {
		case <-answer:
			t.Errorf("read %d is answered twice", i)
		default:
		}
	}
}

// TestHedgeOfAHostThatIsOftenSlow makes one node slow in a tenth of its reads. The door must compare the
// node with the other nodes. It must hedge a read of that node as early as a read of the others.
func TestHedgeOfAHostThatIsOftenSlow(t *testing.T) {
	r := newSlowRing(t, Options{})
	for _, h := range r.cl.hostList() {
		for i := range 2 * latencyRecent {
			d := time.Millisecond
			if h == r.cl.topology.Load().host(1) && i%10 == 0 {
				d = time.Minute
			}
			r.cl.took(h, d)
		}
	}
	if got := r.cl.topology.Load().host(1).latency.slow.Load(); time.Duration(got) < 30*time.Second {
		t.Fatalf("for the node it is usual to take %v", time.Duration(got))
	}
	r.holdNode(1)
	key := r.keysOf(1, 1)[0]
	select {
	case op := <-r.part(selecting, wire.LocalQuorum, key):
		if at := r.nodesOf(string(key)); op != wire.OpResult || !slices.Equal(at, []int{1, 2}) {
			t.Errorf("the read came to nodes %v and is answered by %s", at, op)
		}
	case <-time.After(20 * time.Second):
		t.Error("the read is not hedged")
	}
	r.release()
	r.settled()
}

// TestHedgesAreOfReads checks that writes, conditions, serial reads and single reads are sent once,
// however long they take.
func TestHedgesAreOfReads(t *testing.T) {
	r := newSlowRing(t, Options{})
	r.holdNode(1)
	keys := r.keysOf(1, 6)
	answers := []<-chan wire.Op{
		r.part(byKey, wire.LocalQuorum, keys[0]),
		r.part(conditional, wire.LocalQuorum, keys[1]),
		r.part(selecting, wire.Serial, keys[2]),
		r.part(selecting, wire.LocalSerial, keys[3]),
		r.send(t.Context(), conditional, wire.LocalQuorum, keys[4]),
	}
	// This part is due after all of the requests above. It is hedged, so they would have been
	// hedged too.
	if op := <-r.part(selecting, wire.LocalQuorum, keys[5]); op != wire.OpResult {
		t.Errorf("a read is answered by %s", op)
	}
	for i := range answers {
		if at := r.nodesOf(string(keys[i])); len(at) > 1 {
			t.Errorf("request %d came to nodes %v", i, at)
		}
	}
	r.release()
	for _, answer := range answers {
		<-answer
	}
	r.settled()
}

// TestHedgesAreFew checks that at most one read in twenty is hedged, besides a few saved hedges.
func TestHedgesAreFew(t *testing.T) {
	r := newSlowRing(t, Options{})
	const n = 120
	before := r.cl.Hedges()
	r.holdNode(1)
	var answers []<-chan wire.Op
	for _, key := range r.keysOf(1, n) {
		answers = append(answers, r.part(selecting, wire.LocalQuorum, key))
	}
	eventually(t, "all are due", func() bool {
		h := r.cl.Hedges()
		return h.Won-before.Won+h.OverBudget-before.OverBudget+h.Nowhere-before.Nowhere >= n
	})
	if won := r.cl.Hedges().Won - before.Won; won > hedgeBurst+n/hedgeOneIn || won < hedgeBurst/2 {
		t.Errorf("%d reads were hedged of %d", won, n)
	}
	r.release()
	for _, answer := range answers {
		<-answer
	}
	r.settled()
}

// TestHedgeThatFails checks that an error of one host does not count while the other may have a
// result.
func TestHedgeThatFails(t *testing.T) {
	r := newSlowRing(t, Options{})
	key := r.keysOf(1, 1)[0]
	var first chan func(*wire.Error)
	var came chan struct{}
	overloaded := wire.Errorf(wire.CodeOverloaded, "too much")
	ask := func() <-chan wire.Op {
		held, refused := make(chan func(*wire.Error), 1), make(chan struct{})
		first, came = held, refused
		r.tokenRing.mu.Lock()
		r.hold = func(node int, answer func(*wire.Error)) bool {
			if node == 1 {
				held <- answer
				return true
			}
			answer(overloaded)
			close(refused)
			return true
		}
		r.tokenRing.mu.Unlock()
		return r.part(selecting, wire.LocalQuorum, key)
	}
	answer := ask()
	<-came
	(<-first)(nil)
	if op := <-answer; op != wire.OpResult {
		t.Errorf("with an error of the second host, and a result of the first, the answer is %s", op)
	}
	answer = ask()
	<-came
	(<-first)(overloaded)
	if op := <-answer; op != wire.OpError {
		t.Errorf("with two errors the answer is %s", op)
	}
	r.settled()
}

func TestNoHedge(t *testing.T) {
	r := &slowRing{tokenRing: newTokenRing(t, 2), t: t}
	r.cl = connectTo(t, Options{NoHedge: true}, r.servers[0])
	r.link = r.open(t, r.cl)
	for i := range 4 * latencyKnown {
		<-r.part(selecting, wire.LocalQuorum, keyOf(i))
	}
	for _, h := range r.cl.hostList() {
		if h.latency.slow.Load() != 0 {
			t.Error("without hedges it is measured what is slow")
		}
	}
}

// TestSilentHostIsAvoided checks that a host that answers nothing gets no requests if there is
// another, until it answers.
func TestSilentHostIsAvoided(t *testing.T) {
	r := newSlowRing(t, Options{})
	r.holdNode(1)
	keys := r.keysOf(1, 40)
	<-r.part(selecting, wire.LocalQuorum, keys[0]) // the second node answers the hedge
	for range 2 {
		r.cl.beat()
	}
	for _, h := range r.cl.hostList() {
		if want := h.addr == r.servers[1].addr; h.silent() != want {
			t.Errorf("%s is silent: %t", h.addr, h.silent())
		}
	}
	for _, key := range keys[1:] {
		<-r.part(selecting, wire.LocalQuorum, key)
		<-r.send(t.Context(), selecting, wire.LocalQuorum, key)
		<-r.send(t.Context(), conditional, wire.LocalQuorum, key)
	}
	r.release()
	eventually(t, "it is asked again", func() bool {
		<-r.part(selecting, wire.LocalQuorum, keys[0])
		return len(r.nodesOf(string(keys[0]))) > 1 && slices.Contains(r.nodesOf(string(keys[0]))[1:], 1)
	})
}

// TestNodesOfHostsThatFallSilent checks that AppendNodes returns each replica once while the
// replicas fall silent and speak again.
func TestNodesOfHostsThatFallSilent(t *testing.T) {
	r := newSlowRing(t, Options{})
	stop, stopped := make(chan struct{}), make(chan struct{})
	hosts := r.cl.topology.Load().hosts
	go func() {
		defer close(stopped)
		for quiet := uint32(0); ; quiet = 2 - quiet {
			select {
			case <-stop:
				return
			default:
			}
			for _, h := range hosts {
				h.quiet.Store(quiet)
			}
		}
	}()
	for i := range 200_000 {
		if nodes, best := r.cl.AppendNodes(nil, "ks", keyOf(i)); len(nodes) != 2 || nodes[0] == nodes[1] || best == 0 {
			t.Errorf("the nodes are %v, %d are best", nodes, best)
			break
		}
	}
	close(stop)
	<-stopped
}

// TestLatency checks that the 99th percentile is exact to within a quarter and follows the hosts'
// latency.
func TestLatency(t *testing.T) {
	var l latency
	for i := range 10_000 {
		l.add(time.Duration(i%100+1) * time.Millisecond)
	}
	if got := time.Duration(l.slow.Load()); got < 95*time.Millisecond || got > 130*time.Millisecond {
		t.Errorf("of 1 to 100 ms the 99th percentile is %v", got)
	}
	for range 20 * latencyRecent {
		l.add(time.Millisecond)
	}
	if got := time.Duration(l.slow.Load()); got > 2*time.Millisecond {
		t.Errorf("long after, when all take 1 ms, it is %v", got)
	}
	for b := range latencyBuckets - 1 {
		if end := endOf(b); b >= 8 && (bucketOf(end) != b+1 || bucketOf(end-time.Microsecond) != b) {
			t.Fatalf("bucket %d ends at %v, which is in %d", b, end, bucketOf(end))
		}
	}
}

// TestHedgeInARack checks that a door with a rack hedges a read whose only replica in the rack does
// not answer in time. The hedge goes to a replica in another rack, and to no node without the rows.
func TestHedgeInARack(t *testing.T) {
	r := slowed(t, placed(t, 2, place{"dc1", "a"}, place{"dc1", "b"}, place{"dc1", "c"}), Options{Rack: "b", ConnsPerHost: 1})
	r.holdNode(1)
	owned := map[string][]int{string(r.keysOf(0, 1)[0]): {1, 0}, string(r.keysOf(1, 1)[0]): {1, 2}}
	for key, want := range owned {
		if nodes, best := r.cl.AppendNodes([]int{9}, "ks", []byte(key)); best != 1 || len(nodes) != 3 || nodes[0] != 9 {
			t.Errorf("%d nodes of %v are best", best, nodes)
		}
		if op := <-r.part(selecting, wire.LocalQuorum, []byte(key)); op != wire.OpResult {
			t.Errorf("the read is answered by %s", op)
		}
		if at := r.nodesOf(key); !slices.Equal(at, want) {
			t.Errorf("the read came to nodes %v, not to %v", at, want)
		}
	}
	r.release()
	r.settled()

	near := r.cl.hostAt(r.servers[1].addr)
	near.quiet.Store(2)
	for key, want := range owned {
		if nodes, best := r.cl.AppendNodes(nil, "ks", []byte(key)); best != 1 || len(nodes) != 2 || r.servers[want[1]].addr != r.cl.topology.Load().host(nodes[0]).addr {
			t.Errorf("while the replica in the rack is silent, %d nodes of %v are best", best, nodes)
		}
	}
	for _, h := range r.cl.hostList() {
		h.quiet.Store(2)
	}
	for key := range owned {
		if nodes, best := r.cl.AppendNodes(nil, "ks", []byte(key)); best != 2 || len(nodes) != 2 {
			t.Errorf("while all are silent, %d nodes of %v are best", best, nodes)
		}
	}
}

// waitingHedge sends a part whose hedge is due long after the test, and returns the part. Its first
// node does not answer.
func (r *slowRing) waitingHedge() (*part, <-chan wire.Op) {
	for _, h := range r.cl.hostList() {
		h.latency.slow.Store(int64(time.Hour))
	}
	r.holdNode(1)
	answer := r.part(selecting, wire.LocalQuorum, r.keysOf(1, 1)[0])
	h := r.cl.hedges
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.heap) != 1 {
		r.t.Fatalf("%d parts wait to be hedged", len(h.heap))
	}
	return h.heap[0], answer
}

// TestCloseWhileAHedgeWaits closes the cluster while a part waits to be hedged. The part gets its
// answer, and nothing waits any more.
func TestCloseWhileAHedgeWaits(t *testing.T) {
	r := newSlowRing(t, Options{})
	_, answer := r.waitingHedge()
	r.cl.Close()
	if op := <-answer; op != wire.OpError {
		t.Errorf("a read that was lost is answered by %s", op)
	}
	if n := len(r.cl.hedges.heap); n != 0 {
		t.Errorf("%d parts wait to be hedged after the end", n)
	}
}

// TestAHedgeWithoutBudget checks that a hedge that may not be sent costs next to nothing. Many come
// due at once when a host stops.
func TestAHedgeWithoutBudget(t *testing.T) {
	r := newSlowRing(t, Options{})
	p, answer := r.waitingHedge()
	r.cl.hedges.budget.Store(hedgeOneIn - 1)
	before := r.cl.Hedges()
	if n := allocs.PerRun(100, func() { p.hedge(r.cl.hedges) }); n != 0 {
		t.Errorf("without budget a hedge allocates %v times", n)
	}
	if got := r.cl.Hedges(); got.OverBudget == before.OverBudget || got.Nowhere != before.Nowhere {
		t.Errorf("the hedges are counted as %+v after %+v", got, before)
	}
	r.release()
	<-answer
	r.settled()
}

// TestAHedgeToNowhere checks that a hedge that no host can take is not paid for.
func TestAHedgeToNowhere(t *testing.T) {
	r := newSlowRing(t, Options{})
	p, answer := r.waitingHedge()
	p.other = -1
	budget, before := r.cl.hedges.budget.Load(), r.cl.Hedges()
	p.hedge(r.cl.hedges)
	if got := r.cl.Hedges(); got.Nowhere != before.Nowhere+1 || r.cl.hedges.budget.Load() != budget {
		t.Errorf("the hedges are counted as %+v after %+v, and the budget is %d after %d", got, before, r.cl.hedges.budget.Load(), budget)
	}
	r.release()
	<-answer
	r.settled()
}
