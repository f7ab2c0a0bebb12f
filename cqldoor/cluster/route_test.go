// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
	"github.com/evenkeel/evenkeel/partitioner"
)

// tokenRing is three nodes, each with a third of the tokens. It records the executions at each
// node.
type tokenRing struct {
	servers []*server
	mu      sync.Mutex
	at      map[string][]int                              // the nodes that received an execution, by its first value
	hold    func(node int, answer func(*wire.Error)) bool // takes over the answer to an execution; nil: the node answers at once
}

const (
	byKey       = "0123456789abcdef" // the ids of statements: WHERE k = ?,
	byTwo       = "two-key-columns!" // WHERE b = ? AND a = ?, of the key (a, b),
	conditional = "UPDATE k, IF v=?" // and one with a condition on v
	selecting   = "SELECT v WHERE k" // the id of a read
)

func newTokenRing(t testing.TB, replicas int) *tokenRing {
	r := &tokenRing{at: map[string][]int{}}
	for range 3 {
		r.servers = append(r.servers, newServer(t))
	}
	tokens := map[string]int64{}
	for i, s := range r.servers {
		tokens[s.addr] = math.MinInt64 + int64(i+1)*(math.MaxInt64/3*2)
	}
	for i, s := range r.servers {
		s.tokens, s.replicas = tokens, replicas
		for _, o := range r.servers {
			if o != s {
				s.peers = append(s.peers, o.addr)
			}
		}
		s.handle = func(ss *session, h wire.Header, body []byte) {
			switch h.Op {
			case wire.OpPrepare:
				p, _ := wire.ParsePrepare(h.Version, body)
				ss.reply(h, wire.OpResult, preparedAs(h.Version, string(p.Text)))
			case wire.OpExecute:
				e, _ := wire.ParseExecute(h.Version, body)
				v, _ := e.Params.Values.At(0)
				r.mu.Lock()
				r.at[string(v.Bytes)] = append(r.at[string(v.Bytes)], i)
				hold := r.hold
				r.mu.Unlock()
				if hold != nil && hold(i, func(e *wire.Error) {
					if e != nil {
						ss.fail(h, e)
						return
					}
					ss.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
				}) {
					return
				}
				ss.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
			default:
				ss.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
			}
		}
	}
	return r
}

// preparedAs returns the RESULT Prepared of a statement whose text is its id.
func preparedAs(v wire.Version, id string) []byte {
	names, key := []string{"k", "v"}, []uint16{0}
	if id == byTwo {
		names, key = []string{"b", "a"}, []uint16{1, 0}
	}
	var columns []wire.Column
	for _, n := range names {
		columns = append(columns, wire.Column{Keyspace: "ks", Table: "t", Name: n, Type: value.Native(value.Blob)})
	}
	p := wire.Prepared{ID: []byte(id), MetadataID: []byte(id), KeyIndexes: key, Variables: wire.EncodeColumns(v, columns)}
	p.Result.Flags = wire.MetadataNone
	return wire.AppendPrepared(nil, v, &p)
}

// open returns a link that has connections to all nodes and has prepared the statements.
func (r *tokenRing) open(t testing.TB, cl *Cluster) store.Forwarder {
	l := open(t, cl, store.LinkOptions{})
	eventually(t, "all nodes are connected to", func() bool { return len(l.(*link).p.live.Load().hosts) == len(cl.Hosts()) })
	for _, id := range []string{byKey, byTwo, conditional, selecting} {
		m := wire.Prepare{Text: []byte(id)}
		if resp := ask(t, l, wire.OpPrepare, wire.AppendPrepare(nil, wire.V5, &m)); resp.Op != wire.OpResult {
			t.Fatalf("PREPARE: %s %q", resp.Op, resp.Body)
		}
	}
	return l
}

func (r *tokenRing) nodesOf(first string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.at[first])
}

// owner returns the node that owns the partition of a serialized key.
func (r *tokenRing) owner(key []byte) int {
	token := partitioner.Murmur3(key)
	for i, s := range r.servers {
		if token <= s.tokens[s.addr] {
			return i
		}
	}
	return 0
}

func executeWith(id string, consistency wire.Consistency, values ...[]byte) []byte {
	e := wire.Execute{ID: []byte(id), MetadataID: []byte(id)}
	e.Params.Consistency = consistency
	var vs wire.Values
	for _, v := range values {
		vs.Raw = wire.AppendBytes(vs.Raw, v)
		vs.Count++
	}
	e.Params.SetValues(vs)
	return wire.AppendExecute(nil, wire.V5, &e)
}

func keyOf(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15) }

// TestExecutionsGoToReplicas checks that each execution goes to the node that stores its partition,
// even if a link sends several before it flushes, and that each gets an answer.
func TestExecutionsGoToReplicas(t *testing.T) {
	r := newTokenRing(t, 1)
	l := r.open(t, connectTo(t, Options{}, r.servers[0]))
	const n = 300
	var answered atomic.Int32
	counts := make(chan struct{}, n)
	for i := range n {
		body := executeWith(byKey, wire.LocalQuorum, keyOf(i), []byte("v"))
		if i%2 == 1 {
			body = executeWith(byTwo, wire.LocalQuorum, keyOf(i), []byte("a"))
		}
		l.Forward(t.Context(), wire.Message{Op: wire.OpExecute, Body: body}, &replier{func(wire.Message) {
			answered.Add(1)
			counts <- struct{}{}
		}}, 0)
		if i%7 == 6 {
			l.Flush()
		}
	}
	l.Flush()
	for range n {
		<-counts
	}
	nodes := map[int]int{}
	for i := range n {
		key := keyOf(i)
		if i%2 == 1 {
			key = partitioner.AppendComposite(nil, []byte("a"), keyOf(i))
		}
		want := r.owner(key)
		if got := r.nodesOf(string(keyOf(i))); len(got) != 1 || got[0] != want {
			t.Fatalf("execution %d came to nodes %v, its partition is at %d", i, got, want)
		}
		nodes[want]++
	}
	if len(nodes) != 3 {
		t.Errorf("all partitions are at nodes %v", nodes)
	}
}

// TestReplicasShareReads checks that two replicas both serve reads. Reads at SERIAL and conditions
// go to only one of them.
func TestReplicasShareReads(t *testing.T) {
	r := newTokenRing(t, 2)
	l := r.open(t, connectTo(t, Options{}, r.servers[0]))
	key, serial, condition := keyOf(1), keyOf(2), keyOf(3)
	for range 50 {
		ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalQuorum, key, []byte("v")))
		ask(t, l, wire.OpExecute, executeWith(byKey, wire.Serial, serial, []byte("v")))
		ask(t, l, wire.OpExecute, executeWith(conditional, wire.LocalQuorum, condition, []byte("v")))
	}
	of := func(k []byte) []int {
		nodes := r.nodesOf(string(k))
		slices.Sort(nodes)
		return slices.Compact(nodes)
	}
	want := []int{r.owner(key), (r.owner(key) + 1) % 3}
	slices.Sort(want)
	if got := of(key); !slices.Equal(got, want) {
		t.Errorf("reads came to nodes %v, not to %v", got, want)
	}
	for _, k := range [][]byte{serial, condition} {
		if got := of(k); !slices.Equal(got, []int{r.owner(k)}) {
			t.Errorf("what has to meet at one node came to nodes %v, not to %d alone", got, r.owner(k))
		}
	}
}

// TestAReplicaThatIsDown checks that another node coordinates if the replica cannot be reached.
func TestAReplicaThatIsDown(t *testing.T) {
	r := newTokenRing(t, 1)
	l := r.open(t, connectTo(t, Options{}, r.servers[0]))
	i := 0
	for r.owner(keyOf(i)) != 2 {
		i++
	}
	r.servers[2].stop()
	eventually(t, "another node answers", func() bool {
		return ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalQuorum, keyOf(i), []byte("v"))).Op == wire.OpResult
	})
	for _, node := range r.nodesOf(string(keyOf(i))) {
		if node == 2 {
			t.Error("a node that was stopped has executed")
		}
	}
}

// TestAnyHost checks that AnyHost, and requests without a token, use any node.
func TestAnyHost(t *testing.T) {
	r := newTokenRing(t, 1)
	cl := connectTo(t, Options{AnyHost: true}, r.servers[0])
	l := r.open(t, cl)
	for range 30 {
		ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalQuorum, keyOf(1), []byte("v")))
	}
	nodes := r.nodesOf(string(keyOf(1)))
	slices.Sort(nodes)
	if len(slices.Compact(nodes)) != 3 {
		t.Errorf("with AnyHost only nodes %v are used", nodes)
	}
}

func TestRoutingAllocatesNothing(t *testing.T) {
	r := newTokenRing(t, 1)
	cl := connectTo(t, Options{}, r.servers[0])
	r.open(t, cl)
	for _, id := range []string{byKey, byTwo} {
		req := wire.Message{Op: wire.OpExecute, Body: executeWith(id, wire.LocalQuorum, keyOf(1), []byte("v"))}
		if cl.target(wire.V5, req).topology == nil {
			t.Fatalf("%s has no target", id)
		}
		if n := allocs.PerRun(100, func() { cl.target(wire.V5, req) }); n != 0 {
			t.Errorf("%s: a target allocates %v times", id, n)
		}
	}
}

// BenchmarkTarget measures the time that routing adds to a forwarded EXECUTE.
func BenchmarkTarget(b *testing.B) {
	r := newTokenRing(b, 1)
	cl := connectTo(b, Options{}, r.servers[0])
	r.open(b, cl)
	req := wire.Message{Op: wire.OpExecute, Body: executeWith(byKey, wire.LocalQuorum, keyOf(1), []byte("v"))}
	for b.Loop() {
		cl.target(wire.V5, req)
	}
}

// TestPartsGoToTheirNode checks that a part of a fan-out goes to the node that it names, or to
// another if that is down. AppendNodes returns the nodes that store the partition and are up.
func TestPartsGoToTheirNode(t *testing.T) {
	r := newTokenRing(t, 2)
	cl := connectTo(t, Options{}, r.servers[0])
	l := r.open(t, cl)
	part := func(key []byte) {
		t.Helper()
		nodes, _ := cl.AppendNodes(nil, "ks", key)
		if len(nodes) == 0 {
			t.Fatalf("no node is told for %x", key)
		}
		// The request itself names no partition, like a statement that binds several shards.
		req := wire.Message{Op: wire.OpExecute, Body: executeWith("an id that no PREPARE told", wire.LocalQuorum, key)}
		got := make(chan struct{})
		l.Forward(store.AtNodes(store.Wide(t.Context()), nodes[0], -1), req, &replier{func(wire.Message) { close(got) }}, 0)
		l.Flush()
		<-got
	}
	want := map[int]int{}
	for i := range 60 {
		part(keyOf(i))
		at := r.nodesOf(string(keyOf(i)))
		if len(at) != 1 || at[0] != r.owner(keyOf(i)) {
			t.Fatalf("part %d came to nodes %v; its partition is at %d", i, at, r.owner(keyOf(i)))
		}
		want[at[0]]++
	}
	if len(want) != 3 {
		t.Errorf("all parts came to nodes %v", want)
	}
	i := 100
	for r.owner(keyOf(i)) != 2 {
		i++
	}
	r.servers[2].stop()
	eventually(t, "the node that is down is not told", func() bool {
		nodes, _ := cl.AppendNodes(nil, "ks", keyOf(i))
		return len(nodes) == 1
	})
	part(keyOf(i))
	if at := r.nodesOf(string(keyOf(i))); len(at) != 1 || at[0] != 0 {
		t.Errorf("with its first node down a part came to %v, not to the second", at)
	}
	if got, _ := cl.AppendNodes(nil, "unknown", keyOf(i)); len(got) != 0 {
		t.Errorf("nodes of an unknown keyspace: %v", got)
	}
}

func TestLocatingAllocatesNothing(t *testing.T) {
	r := newTokenRing(t, 2)
	cl := connectTo(t, Options{}, r.servers[0])
	r.open(t, cl)
	key, room := keyOf(1), make([]int, 0, 8)
	if n := allocs.PerRun(100, func() { room, _ = cl.AppendNodes(room[:0], "ks", key) }); n != 0 {
		t.Errorf("the nodes of a partition allocate %v times", n)
	}
}
