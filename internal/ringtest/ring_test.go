// SPDX-License-Identifier: Apache-2.0

package ringtest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/door"
)

// launch starts a ring of n nodes, which ends with the test.
func launch(t *testing.T, n int, o cassandra.Options) []*cassandra.Instance {
	t.Helper()
	o.HeapMB = 384
	nodes, err := cassandra.LaunchRing(t.Context(), n, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		t.Cleanup(node.Close)
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
	// The nodes and the door share an address and differ by their ports. The driver looks a node up
	// by its address, so when it hears that one of them is down it closes its connections to another.
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

// In front of two nodes, which tests share because it takes long to start them.
func TestRing(t *testing.T) {
	nodes := launch(t, 2, cassandra.Options{})
	t.Run("locality", func(t *testing.T) { locality(t, nodes) })
}

// locality checks that the shards of a read are read by the node that coordinates: nineteen
// of twenty at least.
func locality(t *testing.T, nodes []*cassandra.Instance) {
	direct := session(t, nodes[0].Addr(), nil)
	exec(t, direct, "CREATE KEYSPACE local WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}")
	cl := connect(t, cluster.Options{}, nodes)
	client := session(t, door.Start(t, cl), func(c *gocql.ClusterConfig) { c.Consistency = gocql.LocalOne })
	exec(t, client, "CREATE TABLE local.blogs (day int, title text, body text, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': '40'}")
	const days, titles = 5, 200
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
	for _, n := range nodes {
		if out, err := n.Tools().Nodetool("-pp", "settraceprobability", "1"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for day := range days {
		read("SELECT title, body FROM local.blogs WHERE day = ?", day)
		read("SELECT count(*) FROM local.blogs WHERE day = ?", day)
		read("SELECT body FROM local.blogs WHERE day = ? AND title = ?", day, "title 7")
	}
	for _, n := range nodes {
		if out, err := n.Tools().Nodetool("-pp", "settraceprobability", "0"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	here, all, requests := reads(t, direct, "local", "blogs", days*40*2)
	t.Logf("%d of %d shards were read by the node that was asked, in %d requests", here, all, requests)
	if here*20 < all*19 {
		t.Errorf("%d of %d shards were read by the node that was asked", here, all)
	}
}

// reads counts the reads of single partitions that traces tell of: those at the node that
// was asked, all, which are least or more, and the requests that they were of.
func reads(t *testing.T, s *gocql.Session, keyspace, table string, least int) (here, all, requests int) {
	t.Helper()
	// A node writes its traces after its answers.
	await(t, "the nodes have written their traces", time.Second, func() (bool, error) {
		before := all
		here, all, requests = 0, 0, 0
		var id gocql.UUID
		var port int
		sessions := s.Query("SELECT session_id, coordinator_port FROM system_traces.sessions").Iter()
		for sessions.Scan(&id, &port) {
			var at int
			var activity string
			of := 0
			events := s.Query("SELECT source_port, activity FROM system_traces.events WHERE session_id = ?", id).Iter()
			for events.Scan(&at, &activity) {
				if activity != "Executing single-partition query on "+table {
					continue
				}
				of++
				if at == port {
					here++
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
	return here, all, requests
}
