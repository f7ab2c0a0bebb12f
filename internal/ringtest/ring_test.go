// SPDX-License-Identifier: Apache-2.0

package ringtest

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/door"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

const heapMB = 384 // of each node

// launch starts a ring of n nodes, which ends with the test. It returns when each node knows all
// others.
func launch(t *testing.T, n int, o cassandra.Options) []*cassandra.Instance {
	t.Helper()
	o.HeapMB = heapMB
	nodes, err := cassandra.LaunchRing(t.Context(), n, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, node := range nodes {
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the end of the log of node %d:\n%s", i+1, node.LogTail(20))
			}
			node.Close()
		})
	}
	for i, node := range nodes {
		s := session(t, node.Addr(), nil)
		await(t, fmt.Sprintf("node %d knows all others", i+1), 100*time.Millisecond, func() (bool, error) {
			var peers int
			err := s.Query("SELECT count(*) FROM system.peers_v2").Scan(&peers)
			return peers == n-1, err
		})
	}
	return nodes
}

// connect connects a cluster, and waits until all of its nodes are known.
func connect(t *testing.T, o cluster.Options, nodes []*cassandra.Instance) *cluster.Cluster {
	t.Helper()
	o.Contacts, o.Log, o.ConnectTimeout = []string{nodes[0].Addr()}, door.Log(t), time.Minute
	var cl *cluster.Cluster
	await(t, "the cluster knows all nodes", 100*time.Millisecond, func() (bool, error) {
		var err error
		if cl, err = cluster.Connect(t.Context(), o); err != nil {
			return false, err
		}
		if len(cl.Hosts()) == len(nodes) {
			return true, nil
		}
		return false, cl.Close()
	})
	return cl
}

// patience is how long await waits.
const patience = 3 * time.Minute

// await calls f until it returns true. An error, or patience that ends, fails the test.
func await(t *testing.T, what string, pause time.Duration, f func() (bool, error)) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		switch done, err := f(); {
		case err != nil:
			t.Fatalf("%s: %v", what, err)
		case done:
			return
		case time.Now().After(deadline):
			t.Fatalf("not after %s: %s", patience, what)
		}
	}
}

// session is a driver's, of the one host at addr.
func session(t *testing.T, addr string, change func(c *gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	cfg := gocql.NewCluster(addr)
	cfg.DisableInitialHostLookup, cfg.Timeout, cfg.ConnectTimeout = true, time.Minute, time.Minute
	cfg.RetryPolicy = nil
	// The driver looks hosts up by their addresses, and the first node has the door's: when it hears
	// that the node is down, it would close its connections to the door.
	cfg.Events.DisableNodeStatusEvents, cfg.Events.DisableTopologyEvents = true, true
	if change != nil {
		change(cfg)
	}
	s, err := cfg.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// allConnected waits until the door has connections to all nodes for its clients.
func allConnected(t *testing.T, cl *cluster.Cluster, nodes int) {
	t.Helper()
	await(t, "the door has connections to all nodes", 10*time.Millisecond, func() (bool, error) {
		up := 0
		for _, h := range cl.HostStats() {
			if h.Connections >= 4 { // of its own account, and of clients
				up++
			}
		}
		return up == nodes, nil
	})
}

func exec(t *testing.T, s *gocql.Session, text string, values ...any) {
	t.Helper()
	if err := s.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

var full = flag.Bool("ring.full", false, "in front of three nodes: kill, pause, add and remove nodes under load")

// TestRing puts doors in front of two nodes, or with -ring.full of three. Its parts share the nodes
// because it takes long to start them.
func TestRing(t *testing.T) {
	if !*full {
		nodes := launch(t, 2, cassandra.Options{})
		t.Run("local", func(t *testing.T) { locality(t, 1, nodes) })
		return
	}
	o := cassandra.Options{Durable: true}
	nodes, binary := launch(t, 3, o), build(t)
	t.Run("faults", func(t *testing.T) { faults(t, binary, nodes) })
	t.Run("layouts", func(t *testing.T) { layouts(t, binary, nodes) })
	t.Run("untouched", func(t *testing.T) { untouched(t, binary, nodes) })
	t.Run("changes", func(t *testing.T) { nodes = changes(t, binary, nodes, o) })
	t.Cleanup(func() { nodes[len(nodes)-1].Close() }) // the node that joined
	t.Run("local", func(t *testing.T) {
		// The dynamic snitch passes reads on to a replica that seems faster. What the door chose would not be seen.
		for _, n := range nodes {
			if err := errors.Join(n.Set("dynamic_snitch: false"), n.Restart(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		locality(t, 2, nodes)
	})
}

// under starts a door and puts a load on it: on a plain table and on a sharded one.
func under(t *testing.T, binary, keyspace string, nodes []*cassandra.Instance) *load {
	addr := loopback.FreeAddr(t)
	serve(t, binary, addr, "--cassandra", nodes[0].Addr())
	client := session(t, addr, func(c *gocql.ClusterConfig) { c.NumConns = 4 })
	exec(t, client, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}")
	exec(t, client, "CREATE TABLE "+keyspace+".plain (day int, id int, body text, PRIMARY KEY (day, id))")
	exec(t, client, "CREATE TABLE "+keyspace+".sharded (day int, id int, body text, PRIMARY KEY (day, id)) WITH write_sharding = {'shards': '20'}")
	return startLoad(t, client, keyspace+".plain", keyspace+".sharded")
}

var (
	// ofCluster lists the errors that Cassandra itself gives while it does not know yet which nodes are
	// there.
	ofCluster = []string{"write: the cluster's write timeout", "read: the cluster's read timeout", "write: the cluster's unavailable", "read: the cluster's unavailable"}
	// unanswered adds what a door answers to a request that was sent to a node and not answered.
	unanswered = append([]string{"write: the door's write timeout", "read: the door's overloaded"}, ofCluster...)
)

// faults kills, restarts and pauses nodes under load.
func faults(t *testing.T, binary string, nodes []*cassandra.Instance) {
	l := under(t, binary, "faults", nodes)
	l.learn(t)
	for i, n := range nodes[:2] { // the first is the door's contact point
		name := fmt.Sprintf("node %d ", i+1)
		l.during(t, name+"is killed", n.Kill, unanswered...)
		l.during(t, name+"starts again", func() error { return n.Restart(t.Context()) }, ofCluster...)
	}
	l.during(t, "node 3 stands still", nodes[2].Pause, unanswered...)
	l.during(t, "node 3 goes on", nodes[2].Continue, unanswered...)
	l.verify(t)
}

// changes lets a node join and another leave under load. It returns the nodes that are left.
func changes(t *testing.T, binary string, nodes []*cassandra.Instance, o cassandra.Options) []*cassandra.Instance {
	o.HeapMB = heapMB
	l := under(t, binary, "changes", nodes)
	l.during(t, "a node joins", func() error {
		n, err := cassandra.Join(t.Context(), o, nodes)
		if err == nil {
			nodes = append(nodes, n)
		}
		return err
	}, unanswered...)
	l.during(t, "node 2 leaves", func() error {
		out, err := nodes[1].Tools().Nodetool("-pp", "decommission")
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nodes[1].Stop()
	}, unanswered...)
	l.verify(t)
	return slices.Delete(nodes, 1, 2)
}

// locality checks that the shards of a read are read by the node that coordinates: nineteen
// of twenty at least.
func locality(t *testing.T, replicas int, nodes []*cassandra.Instance) {
	direct := session(t, nodes[0].Addr(), nil)
	exec(t, direct, fmt.Sprintf("CREATE KEYSPACE local WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': %d}", replicas))
	cl := connect(t, cluster.Options{}, nodes)
	client := session(t, door.Start(t, cl), func(c *gocql.ClusterConfig) { c.Consistency = gocql.LocalOne })
	exec(t, client, "CREATE TABLE local.blogs (day int, title text, body text, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': '40'} AND speculative_retry = 'NEVER'")
	const titles = 200
	for day := range days {
		for i := range titles {
			exec(t, client, "INSERT INTO local.blogs (day, title, body) VALUES (?, ?, 'b')", day, fmt.Sprintf("title %d", i))
		}
	}
	allConnected(t, cl, len(nodes))
	read := func(text string, values ...any) {
		t.Helper()
		rows := client.Query(text, values...).PageSize(titles / 2).Iter()
		n := rows.NumRows()
		if err := rows.Close(); err != nil || n == 0 {
			t.Fatalf("%s: %d rows are read, %v", text, n, err)
		}
	}
	for range 3 { // until it is known how long rows are
		read("SELECT title, body FROM local.blogs WHERE day = ?", 0)
	}
	trace(t, "1", nodes...)
	for day := range days {
		read("SELECT title, body FROM local.blogs WHERE day = ?", day)
		read("SELECT count(*) FROM local.blogs WHERE day = ?", day)
		read("SELECT body FROM local.blogs WHERE day = ? AND title = ?", day, "title 7")
	}
	trace(t, "0", nodes...)
	pairs, requests := reads(t, direct, "blogs", days*40*2)
	here, all := 0, 0
	for p, n := range pairs {
		all += n
		if p.asked == p.reader {
			here += n
		}
	}
	t.Logf("%d of %d shards were read by the node that was asked, in %d requests", here, all, requests)
	if here*20 < all*19 {
		t.Errorf("%d of %d shards were read by the node that was asked; by that node and the reader: %v", here, all, pairs)
	}
}

// pair is the node that a door asked for partitions, and the node that read them.
type pair struct{ asked, reader string }

// reads counts the traced reads of single partitions of a table, and the requests that caused them. It
// waits until there are at least least reads.
func reads(t *testing.T, s *gocql.Session, table string, least int) (counts map[pair]int, requests int) {
	t.Helper()
	all := 0
	// A node writes its traces after its answers.
	await(t, "the nodes have written their traces", time.Second, func() (bool, error) {
		before := all
		counts, all, requests = map[pair]int{}, 0, 0
		var id gocql.UUID
		var coordinator net.IP
		sessions := s.Query("SELECT session_id, coordinator FROM system_traces.sessions").Iter()
		for sessions.Scan(&id, &coordinator) {
			var at net.IP
			var activity string
			of := 0
			events := s.Query("SELECT source, activity FROM system_traces.events WHERE session_id = ?", id).Iter()
			for events.Scan(&at, &activity) {
				if activity == "Executing single-partition query on "+table {
					counts[pair{coordinator.String(), at.String()}]++
					of++
				}
			}
			if err := events.Close(); err != nil {
				return false, errors.Join(err, sessions.Close())
			}
			if of > 0 {
				requests++
				all += of
			}
		}
		return all >= least && all == before, sessions.Close()
	})
	return counts, requests
}
