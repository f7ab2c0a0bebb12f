// SPDX-License-Identifier: Apache-2.0

package ringtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/watchdog"
)

// build builds the evenkeel binary.
func build(t *testing.T) string {
	t.Helper()
	root, err := deps.Root()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "evenkeel")
	cmd := osexec.Command("go", "build", "-o", binary, "./cmd/evenkeel")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build evenkeel: %v\n%s", err, out)
	}
	return binary
}

// serve starts a door as a process of its own and waits until it listens. The function that it
// returns kills it.
func serve(t *testing.T, binary, addr string, args ...string) (kill func() error) {
	t.Helper()
	guard, err := watchdog.Start("")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "door.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the door has its own copy
	cmd := osexec.Command(binary, append([]string{"serve", "--listen-cql", addr, "--listen-http", "off", "--listen-dynamodb", "off"}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard.Guard(cmd.Process.Pid)
	kill = func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		guard.Guard(0)
		return err
	}
	t.Cleanup(func() {
		_ = kill() // it may have been killed
		guard.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the door at %s printed:\n%s", addr, text)
		}
	})
	// Something else may listen at the address meanwhile, to keep it for this test.
	await(t, "the door at "+addr+" listens", 50*time.Millisecond, func() (bool, error) {
		text, err := os.ReadFile(log.Name())
		return bytes.Contains(text, []byte("CQL on ")), err
	})
	return kill
}

// application is a session as an application has it: it knows one host, and its statements are
// idempotent. So the driver repeats them at another host.
func application(t *testing.T, addr string) *gocql.Session {
	t.Helper()
	cfg := gocql.NewCluster(addr)
	cfg.Timeout, cfg.ConnectTimeout, cfg.ReconnectInterval = 20*time.Second, 20*time.Second, time.Second
	cfg.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	cfg.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 4}
	cfg.DefaultIdempotence = true
	s, err := cfg.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// untouched runs an application that does not know of sharding: first in front of the nodes, as it was
// written, and then through three doors, where a rule shards its hottest table. Meanwhile a node
// is killed, and a door. The application must see no error in either.
func untouched(t *testing.T, binary string, nodes []*cassandra.Instance) {
	start := func(t *testing.T, keyspace, addr string) *load {
		s := application(t, addr)
		exec(t, s, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}")
		for _, table := range []string{"plain", "hot"} {
			exec(t, s, "CREATE TABLE "+keyspace+"."+table+" (day int, id int, body text, PRIMARY KEY (day, id))")
		}
		return startLoad(t, s, keyspace+".plain", keyspace+".hot")
	}
	again := func() error { return nodes[1].Restart(t.Context()) }
	t.Run("directly", func(t *testing.T) {
		l := start(t, "direct", nodes[0].Addr())
		l.learn(t)
		l.during(t, "node 2 is killed", nodes[1].Kill)
		l.during(t, "node 2 starts again", again)
		l.verify(t)
	})
	t.Run("through three doors", func(t *testing.T) {
		rules := filepath.Join(t.TempDir(), "rules.yaml")
		if err := os.WriteFile(rules, []byte("doors.hot: {shards: 20}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(loopback.FreeAddr(t))
		if err != nil {
			t.Fatal(err)
		}
		var addrs []string
		var kill []func() error
		for i := range 3 {
			addrs = append(addrs, net.JoinHostPort(fmt.Sprintf("127.0.0.%d", i+1), port))
			kill = append(kill, serve(t, binary, addrs[i], "--cassandra", nodes[0].Addr(), "--shard-rules", rules))
		}
		l := start(t, "doors", addrs[0])
		var shards int
		if err := session(t, nodes[0].Addr(), nil).Query("SELECT count(*) FROM system_schema.columns WHERE keyspace_name = 'doors' AND table_name = 'hot' AND column_name = 'shard'").Scan(&shards); err != nil || shards != 1 {
			t.Fatalf("the rule has not sharded the table: %d columns, %v", shards, err)
		}
		l.learn(t)
		l.during(t, "node 2 is killed", nodes[1].Kill)
		l.during(t, "the door that the application was given is killed", kill[0])
		l.during(t, "node 2 starts again", again)
		l.during(t, "the door starts again", func() error {
			serve(t, binary, addrs[0], "--cassandra", nodes[0].Addr(), "--shard-rules", rules)
			return nil
		})
		l.verify(t)
	})
}
