// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/cluster/ring"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestTwoNodes checks, in front of two real nodes, that replicas are those of `nodetool
// describering`, and that a cluster's executions stay at the node to which they are sent.
func TestTwoNodes(t *testing.T) {
	nodes, err := cassandra.LaunchRing(t.Context(), 2, cassandra.Options{HeapMB: 384})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		t.Cleanup(n.Close)
	}
	cfg := gocql.NewCluster(nodes[0].Addr())
	cfg.DisableInitialHostLookup, cfg.Timeout, cfg.ConnectTimeout = true, time.Minute, time.Minute
	// A node that hears of another's status makes the driver close its connections in the middle of a statement.
	cfg.Events.DisableNodeStatusEvents, cfg.Events.DisableTopologyEvents = true, true
	session, err := cfg.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	for name, replication := range map[string]string{
		"one": "{'class': 'SimpleStrategy', 'replication_factor': 1}",
		"two": "{'class': 'SimpleStrategy', 'replication_factor': 2}",
		"dc":  "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
	} {
		for _, text := range []string{
			"CREATE KEYSPACE " + name + " WITH replication = " + replication,
			"CREATE TABLE " + name + ".t (k int, l text, v int, PRIMARY KEY ((k, l)))",
		} {
			if err := session.Query(text).Exec(); err != nil {
				t.Fatal(err)
			}
		}
	}
	replicas(t, session, nodes)
	local(t, session, nodes)
}

// peers returns what a node says of the n other nodes. A node of a busy machine lists another node some time after that node
// serves.
func peers(t *testing.T, session *gocql.Session, n int) []map[string]any {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		rows, err := session.Query("SELECT * FROM system.peers_v2").Iter().SliceMap()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == n {
			return rows
		}
		if time.Now().After(deadline) {
			t.Fatalf("a node knows %d other nodes, of %d", len(rows), n)
		}
	}
}

// replicas compares placements with a node's description of the ring.
func replicas(t *testing.T, session *gocql.Session, nodes []*cassandra.Instance) {
	var members []ring.Node
	var addresses []string // of the nodes, for each other
	add := func(m map[string]any, address any, port any) {
		n := ring.Node{Datacenter: m["data_center"].(string), Rack: m["rack"].(string)}
		for _, text := range m["tokens"].([]string) {
			token, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n.Tokens = append(n.Tokens, token)
		}
		members = append(members, n)
		addresses = append(addresses, net.JoinHostPort(fmt.Sprint(address), fmt.Sprint(port)))
	}
	self := map[string]any{}
	if err := session.Query("SELECT * FROM system.local").MapScan(self); err != nil {
		t.Fatal(err)
	}
	add(self, self["listen_address"], self["listen_port"])
	for _, p := range peers(t, session, len(nodes)-1) {
		add(p, p["peer"], p["peer_port"])
	}
	r := ring.New(members)
	described := regexp.MustCompile(`TokenRange\(start_token:(-?\d+), end_token:(-?\d+), endpoints:\[([^\]]*)\]`)
	for _, keyspace := range []string{"one", "two", "dc"} {
		var replication map[string]string
		if err := session.Query("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?", keyspace).Scan(&replication); err != nil {
			t.Fatal(err)
		}
		rep, known := ring.ParseReplication(replication)
		if !known {
			t.Fatalf("%v is not known", replication)
		}
		p := r.Place(rep)
		out, err := nodes[0].Tools().Nodetool("-pp", "describering", keyspace)
		if err != nil {
			t.Fatal(err)
		}
		ranges := described.FindAllStringSubmatch(string(out), -1)
		if len(ranges) != 32 {
			t.Fatalf("%s: nodetool tells of %d ranges, not of 32:\n%s", keyspace, len(ranges), out)
		}
		for _, m := range ranges {
			token, err := strconv.ParseInt(m[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range p.Of(token) {
				got = append(got, addresses[n])
			}
			want := strings.Split(m[3], ", ")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: token %d is at %v, not at %v", keyspace, token, got, want)
			}
		}
	}
}

// local executes a statement with tracing, and counts the nodes that took part.
func local(t *testing.T, session *gocql.Session, nodes []*cassandra.Instance) {
	cl, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{nodes[0].Addr()}, ConnectTimeout: time.Minute, Heartbeat: time.Minute}) // a loaded machine is slow
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	if n := len(cl.Hosts()); n != 2 {
		t.Fatalf("%d hosts are known", n)
	}
	l, err := cl.Open(t.Context(), store.LinkOptions{Version: wire.V5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	for connected := 0; connected < 2; time.Sleep(10 * time.Millisecond) {
		connected = 0
		for _, h := range cl.HostStats() {
			if h.Connections > 0 {
				connected++
			}
		}
	}
	ask := func(req wire.Message) (wire.Message, []byte) {
		got := make(chan wire.Message, 1)
		l.Send(t.Context(), req, func(resp wire.Message) {
			resp.Body = slices.Clone(resp.Body)
			got <- resp
		})
		resp := <-got
		p, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
		if err != nil || resp.Op != wire.OpResult {
			t.Fatalf("%s %q: %v", resp.Op, resp.Body, err)
		}
		return wire.Message{Op: resp.Op, Body: body}, p.TracingID
	}
	m := wire.Prepare{Text: []byte("SELECT v FROM one.t WHERE l = ? AND k = ?")}
	resp, _ := ask(wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V5, &m)})
	prepared, err := wire.ParsePrepared(wire.V5, resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	const n = 40
	coordinators := map[int]int{}
	for i := range n {
		e := wire.Execute{ID: prepared.ID, MetadataID: prepared.MetadataID}
		e.Params.Consistency = wire.LocalOne
		vs := wire.Values{Count: 2}
		vs.Raw = wire.AppendBytes(vs.Raw, []byte("a"))
		vs.Raw = wire.AppendBytes(vs.Raw, []byte{0, 0, 0, byte(i)})
		e.Params.SetValues(vs)
		_, id := ask(wire.Message{Op: wire.OpExecute, Flags: wire.FlagTracing, Body: wire.AppendExecute(nil, wire.V5, &e)})
		trace, err := gocql.UUIDFromBytes(id)
		if err != nil {
			t.Fatal(err)
		}
		// A node writes its traces after its answer.
		for ended := 0; ended == 0; time.Sleep(50 * time.Millisecond) {
			if err := session.Query("SELECT duration FROM system_traces.sessions WHERE session_id = ?", trace).Scan(&ended); err != nil && err != gocql.ErrNotFound {
				t.Fatal(err)
			}
		}
		var ports []int
		events := session.Query("SELECT source_port FROM system_traces.events WHERE session_id = ?", trace).Iter()
		for port := 0; events.Scan(&port); {
			if !slices.Contains(ports, port) {
				ports = append(ports, port)
			}
		}
		if err := events.Close(); err != nil {
			t.Fatal(err)
		}
		if len(ports) != 1 {
			t.Errorf("execution %d took the nodes at ports %v", i, ports)
			continue
		}
		coordinators[ports[0]]++
	}
	if len(coordinators) != 2 {
		t.Errorf("all of %d partitions are at one node", n)
	}
}
