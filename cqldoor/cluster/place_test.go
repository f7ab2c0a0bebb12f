// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// placed returns a tokenRing of three nodes in the given data centres and racks.
func placed(t testing.TB, replicas int, places ...place) *tokenRing {
	r := newTokenRing(t, replicas)
	at := map[string]place{}
	for i, s := range r.servers {
		at[s.addr] = places[i]
	}
	for _, s := range r.servers {
		s.places = at
	}
	return r
}

// nodes returns the nodes that executed a request with one of the first n keys.
func (r *tokenRing) nodes(n int) (all []int) {
	for i := range n {
		all = append(all, r.nodesOf(string(keyOf(i)))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestLocalDC checks that requests go only to hosts of one data centre, replicas or not, even if
// all its hosts are down.
func TestLocalDC(t *testing.T) {
	r := placed(t, 3, place{"north", "a"}, place{"south", "a"}, place{"south", "b"})
	cl := connectTo(t, Options{LocalDC: "south"}, r.servers[0])
	if got, want := slices.Sorted(slices.Values(cl.Hosts())), slices.Sorted(slices.Values([]string{r.servers[1].addr, r.servers[2].addr})); !slices.Equal(got, want) {
		t.Fatalf("hosts are %v, not %v", got, want)
	}
	l := r.open(t, cl)
	const n = 60
	for i := range n {
		for _, consistency := range []wire.Consistency{wire.LocalQuorum, wire.LocalSerial, wire.Serial} {
			ask(t, l, wire.OpExecute, executeWith(byKey, consistency, keyOf(i), []byte("v")))
		}
		ask(t, l, wire.OpExecute, executeWith(conditional, wire.LocalQuorum, keyOf(i), []byte("v")))
	}
	if got := r.nodes(n); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("requests came to nodes %v", got)
	}
	r.servers[1].stop()
	r.servers[2].stop()
	eventually(t, "no host is left", func() bool {
		resp := ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalQuorum, keyOf(0), []byte("v")))
		return resp.Op == wire.OpError && strings.Contains(string(resp.Body), "there is no connection to the cluster")
	})
	if got := r.nodes(n); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("requests left the data centre: they came to nodes %v", got)
	}
}

// TestDCOfTheContactPoint checks that, without a name, the door uses the contact point's data
// centre and logs it.
func TestDCOfTheContactPoint(t *testing.T) {
	r := placed(t, 3, place{"north", "a"}, place{"south", "a"}, place{"south", "b"})
	var log strings.Builder
	cl := connectTo(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, r.servers[2])
	if got := cl.Hosts(); len(got) != 2 || slices.Contains(got, r.servers[0].addr) {
		t.Errorf("hosts are %v", got)
	}
	cl.Close() // stops the logging
	if !strings.Contains(log.String(), `"data centre"=south others=[north]`) {
		t.Errorf("the log does not say which data centre is used:\n%s", log.String())
	}
}

func TestUnknownPlaces(t *testing.T) {
	r := placed(t, 3, place{"north", "a"}, place{"south", "b"}, place{"south", "c"})
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{LocalDC: "east"}, `the cluster has no data centre "east"; it has north, south`},
		{Options{LocalDC: "south", Rack: "a"}, `the cluster has no rack "a"; it has b, c`},
	} {
		c.o.Contacts, c.o.ConnectTimeout = []string{r.servers[0].addr, r.servers[1].addr}, patience
		_, err := Connect(t.Context(), c.o)
		var unknown *UnknownPlaceError
		if !errors.As(err, &unknown) || err.Error() != c.want {
			t.Errorf("%q is not %q", err, c.want)
		}
	}
}

// TestRack checks that the replica in the door's rack serves reads, and another if that is down.
// Requests that must meet go to the first replica, whichever rack it is in.
func TestRack(t *testing.T) {
	r := placed(t, 3, place{"dc1", "a"}, place{"dc1", "b"}, place{"dc1", "c"})
	cl := connectTo(t, Options{Rack: "b"}, r.servers[0])
	l := r.open(t, cl)
	const n = 30
	for i := range n {
		ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalQuorum, keyOf(i), []byte("v")))
		ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalSerial, keyOf(n+i), []byte("v")))
	}
	if got := r.nodes(n); !slices.Equal(got, []int{1}) {
		t.Errorf("with a replica in the rack reads came to nodes %v", got)
	}
	for i := n; i < 2*n; i++ {
		if got := r.nodesOf(string(keyOf(i))); !slices.Equal(got, []int{r.owner(keyOf(i))}) {
			t.Errorf("a serial read of a partition of node %d came to %v", r.owner(keyOf(i)), got)
		}
	}
	r.servers[1].stop()
	eventually(t, "another replica answers", func() bool {
		return ask(t, l, wire.OpExecute, executeWith(byKey, wire.LocalQuorum, keyOf(2*n), []byte("v"))).Op == wire.OpResult
	})
	if got := r.nodesOf(string(keyOf(2 * n))); len(got) != 1 || got[0] == 1 {
		t.Errorf("without its rack a read came to nodes %v", got)
	}
}

// TestRackWithASilentReplica checks that another rack's replica serves reads while the one in the
// door's rack is silent, even if the link has just used that one. If all replicas are silent, the
// one in the rack is asked.
func TestRackWithASilentReplica(t *testing.T) {
	r := placed(t, 3, place{"dc1", "a"}, place{"dc1", "b"}, place{"dc1", "c"})
	cl := connectTo(t, Options{Rack: "b", ConnsPerHost: 1}, r.servers[0])
	l := r.open(t, cl)
	near := cl.hostAt(r.servers[1].addr)
	quiet := func(hosts []*host, seconds uint32) {
		for _, h := range hosts {
			h.quiet.Store(seconds)
		}
	}
	read := func(first string) <-chan struct{} {
		got := make(chan struct{})
		req := wire.Message{Op: wire.OpExecute, Body: executeWith(byKey, wire.LocalQuorum, []byte(first), []byte("v"))}
		l.Forward(t.Context(), req, &replier{func(wire.Message) { close(got) }}, 0)
		return got
	}
	first := read("before")
	quiet([]*host{near}, 2)
	second := read("while it is silent")
	l.Flush()
	<-first
	<-second
	quiet(cl.hostList(), 2)
	third := read("while all are silent")
	l.Flush()
	<-third
	for key, want := range map[string][]int{"before": {1}, "while it is silent": {0, 2}, "while all are silent": {1}} {
		if got := r.nodesOf(key); len(got) != 1 || !slices.Contains(want, got[0]) {
			t.Errorf("%s: the read came to nodes %v, not to one of %v", key, got, want)
		}
	}
}
