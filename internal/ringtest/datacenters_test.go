// SPDX-License-Identifier: Apache-2.0

package ringtest

import (
	"cmp"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// TestDatacenters puts a door in front of two data centres of one node each. The door's contact point
// is in the other data centre. Requests at LOCAL_QUORUM must stay in the door's own data centre. They
// must go on without an error when the other data centre fails.
func TestDatacenters(t *testing.T) {
	north := launch(t, 1, cassandra.Options{Datacenter: "north"})[0]
	south, err := cassandra.Join(t.Context(), cassandra.Options{Datacenter: "south", HeapMB: heapMB}, []*cassandra.Instance{north})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(south.Close)
	binary, addr := build(t), loopback.FreeAddr(t)
	serve(t, binary, addr, "--cassandra", north.Addr(), "--local-dc", "south")
	client := session(t, addr, func(c *gocql.ClusterConfig) { c.Consistency = gocql.LocalQuorum })
	exec(t, client, "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'north': 1, 'south': 1}")
	exec(t, client, "CREATE TABLE k.plain (day int, id int, body text, PRIMARY KEY (day, id)) WITH speculative_retry = 'NEVER'")
	exec(t, client, "CREATE TABLE k.blogs (day int, id int, body text, PRIMARY KEY (day, id)) WITH write_sharding = {'shards': '20'} AND speculative_retry = 'NEVER'")
	const rows = 100
	write := func() error {
		for id := range rows {
			for _, table := range []string{"k.plain", "k.blogs"} {
				if err := client.Query("INSERT INTO "+table+" (day, id, body) VALUES (1, ?, 'b')", id).Exec(); err != nil {
					return fmt.Errorf("write row %d of %s: %w", id, table, err)
				}
			}
		}
		return nil
	}
	read := func() error {
		for _, table := range []string{"k.plain", "k.blogs"} {
			var n int
			if err := client.Query("SELECT count(*) FROM " + table + " WHERE day = 1").Scan(&n); err != nil || n != rows {
				return fmt.Errorf("%d rows of %s are counted, not %d: %w", n, table, rows, err)
			}
			if n := client.Query("SELECT id, body FROM " + table + " WHERE day = 1").Iter().NumRows(); n != rows {
				return fmt.Errorf("%d rows of %s are read, not %d", n, table, rows)
			}
		}
		return nil
	}
	work := func() error { return cmp.Or(write(), read()) }
	if err := work(); err != nil {
		t.Fatal(err)
	}
	trace(t, "1", north, south)
	for range 3 { // a node under load writes not all of its traces
		if err := read(); err != nil {
			t.Fatal(err)
		}
	}
	trace(t, "0", north, south)
	own := host(t, south)
	for table, least := range map[string]int{"plain": 2, "blogs": 40} {
		pairs, _ := reads(t, session(t, south.Addr(), nil), table, least)
		t.Logf("reads of %s: %v", table, pairs)
		if len(pairs) != 1 || pairs[pair{own, own}] == 0 {
			t.Errorf("reads of %s at LOCAL_QUORUM, by the node that was asked and the reader: %v; only %s is in the door's data centre", table, pairs, own)
		}
	}
	other := loopback.FreeAddr(t)
	serve(t, binary, other, "--cassandra", north.Addr(), "--local-dc", "north")
	createInBoth(t, client, session(t, other, func(c *gocql.ClusterConfig) { c.Consistency = gocql.LocalQuorum }))
	if err := north.Kill(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); { // longer than a lease of the door
		if err := work(); err != nil {
			t.Fatalf("while the other data centre is down: %v", err)
		}
	}
	if err := client.Query("CREATE TABLE k.late (day int, id int, PRIMARY KEY (day, id)) WITH write_sharding = {'shards': '20'}").Exec(); err == nil {
		t.Error("a table is created while the other data centre is down: that one's doors would not know its layout")
	} else {
		t.Logf("CREATE TABLE while the other data centre is down: %v", err)
	}
}

// createInBoth creates tables through the doors of two data centres at once, with different layouts.
// Of each table one CREATE must succeed, and both doors must go by its layout: each reads the
// rows of the other.
func createInBoth(t *testing.T, south, north *gocql.Session) {
	t.Helper()
	doors := []*gocql.Session{south, north}
	for n := range 5 {
		table := fmt.Sprintf("k.both%d", n)
		var errs [2]error
		var all sync.WaitGroup
		for i, door := range doors {
			all.Go(func() {
				errs[i] = door.Query(fmt.Sprintf("CREATE TABLE %s (day int, id int, PRIMARY KEY (day, id)) WITH write_sharding = {'shards': '%d'}", table, 3+20*i)).Exec()
			})
		}
		all.Wait()
		t.Logf("%s: %v", table, errs)
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("%s is created through two doors at once: %v", table, errs)
			continue
		}
		const rows = 50
		for id := range rows {
			exec(t, doors[id%2], "INSERT INTO "+table+" (day, id) VALUES (1, ?)", id)
		}
		for i, door := range doors {
			if n := door.Query("SELECT id FROM " + table + " WHERE day = 1").Consistency(gocql.All).Iter().NumRows(); n != rows {
				t.Errorf("%s: door %d reads %d of %d rows", table, i, n, rows)
			}
		}
	}
}

// trace sets the share of requests that the nodes trace.
func trace(t *testing.T, share string, nodes ...*cassandra.Instance) {
	t.Helper()
	for _, n := range nodes {
		if out, err := n.Tools().Nodetool("-pp", "settraceprobability", share); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// host returns the address of a node without its port.
func host(t *testing.T, n *cassandra.Instance) string {
	t.Helper()
	h, _, err := net.SplitHostPort(n.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return h
}
