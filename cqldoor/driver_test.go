// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// The door in front of a real Cassandra, with a real driver.

// realDoor starts a door in front of the Cassandra at addr.
func realDoor(t testing.TB, addr string, o cluster.Options) (*cqldoor.Door, string) {
	t.Helper()
	o.Contacts, o.ConnectTimeout = []string{addr}, time.Minute // a loaded machine is slow
	cl, err := cluster.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return doorOf(t, cqldoor.Options{Store: cl})
}

func session(t testing.TB, addr string, adjust func(*gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	c := gocql.NewCluster(addr)
	c.ProtoVersion = 5
	c.Consistency = gocql.One
	c.Timeout, c.ConnectTimeout = time.Minute, time.Minute // a loaded machine is slow
	c.ReconnectInterval = 100 * time.Millisecond
	c.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 100, Interval: 100 * time.Millisecond}
	c.Logger = gocql.NewLogger(gocql.LogLevelNone)
	if adjust != nil {
		adjust(c)
	}
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func exec(t testing.TB, s *gocql.Session, text string, values ...any) {
	t.Helper()
	if err := s.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestDriver(t *testing.T) {
	backend := cassandra.Shared(t)
	_, addr := realDoor(t, backend, cluster.Options{})
	for _, v := range []int{4, 5} {
		for _, compressed := range []bool{false, true} {
			t.Run(fmt.Sprintf("v%d lz4 %v", v, compressed), func(t *testing.T) {
				keyspace := cassandra.Keyspace(t, "door")
				adjust := func(c *gocql.ClusterConfig) {
					c.ProtoVersion = v
					if compressed {
						c.Compressor = lz4.LZ4Compressor{}
					}
				}
				s := session(t, addr, adjust)
				exec(t, s, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
				defer exec(t, s, "DROP KEYSPACE "+keyspace)
				exec(t, s, "CREATE TABLE "+keyspace+".t (a int, b int, c text, PRIMARY KEY (a, b))")
				exec(t, s, "CREATE TABLE "+keyspace+".n (a int PRIMARY KEY, n counter)")

				in := session(t, addr, func(c *gocql.ClusterConfig) {
					adjust(c)
					c.Keyspace = keyspace
				})
				big := strings.Repeat("0123456789", 30_000) // more than a segment
				exec(t, in, "INSERT INTO t (a, b, c) VALUES (?, ?, ?)", 2, 1, big)
				var c string
				if err := in.Query("SELECT c FROM t WHERE a = 2").Scan(&c); err != nil || c != big {
					t.Errorf("%d bytes came back, %v", len(c), err)
				}
				for i := range 100 {
					b := in.Batch(gocql.UnloggedBatch)
					for j := range 10 {
						b.Query("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", 1, 10*i+j, "x")
					}
					b.Query(fmt.Sprintf("UPDATE t SET c = 'y' WHERE a = 1 AND b = %d", 10*i))
					if err := b.Exec(); err != nil {
						t.Fatal(err)
					}
				}
				next, pages := 0, 0
				it := in.Query("SELECT b FROM t WHERE a = ?", 1).PageSize(100).Iter()
				for b := 0; it.Scan(&b); next++ {
					if b != next {
						t.Fatalf("row %d has %d", next, b)
					}
					if next%100 == 0 {
						pages++
					}
				}
				if err := it.Close(); err != nil || next != 1000 || pages != 10 {
					t.Errorf("%d rows, %d pages, %v", next, pages, err)
				}
				n := in.Batch(gocql.CounterBatch)
				n.Query("UPDATE n SET n = n + ? WHERE a = 1", int64(3))
				if err := n.Exec(); err != nil {
					t.Error(err)
				}
				applied, err := in.Query("INSERT INTO t (a, b) VALUES (9, 9) IF NOT EXISTS").MapScanCAS(map[string]any{})
				if err != nil || !applied {
					t.Errorf("%v %v", applied, err)
				}
				m, err := in.KeyspaceMetadata(keyspace)
				if err != nil || m.Tables["t"] == nil || m.Tables["t"].Columns["c"] == nil {
					t.Errorf("metadata: %v", err)
				}
				var unknown gocql.RequestError
				if err := in.Query("SELECT * FROM nope").Exec(); !errors.As(err, &unknown) || unknown.Code() != gocql.ErrCodeInvalid {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// What drivers see of the cluster is the door.
func TestSystemTablesShowTheDoor(t *testing.T) {
	backend := cassandra.Shared(t)
	_, addr := realDoor(t, backend, cluster.Options{})
	direct := session(t, backend, nil)
	port := addr[strings.LastIndex(addr, ":")+1:]
	wanted := make(map[string]any)
	if err := direct.Query("SELECT data_center, rack, release_version, cluster_name, partitioner, cql_version FROM system.local").MapScan(wanted); err != nil {
		t.Fatal(err)
	}
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		s := session(t, addr, func(c *gocql.ClusterConfig) { c.ProtoVersion = int(v) })
		// gocql prepares: this is the way of PREPARE and EXECUTE.
		row := make(map[string]any)
		if err := s.Query("SELECT * FROM system.local WHERE key = ?", "local").MapScan(row); err != nil {
			t.Fatal(err)
		}
		for name, want := range wanted {
			if row[name] != want {
				t.Errorf("%s is %v, not the backend's %v", name, row[name], want)
			}
		}
		if got := fmt.Sprint(row["rpc_address"], row["rpc_port"], row["tokens"]); got != "127.0.0.1 "+port+" [0]" {
			t.Errorf("v%d: %s", v, got)
		}
		for _, table := range []string{"peers", "peers_v2"} {
			it := s.Query("SELECT * FROM system." + table).Iter()
			if n := it.NumRows(); n != 0 || len(it.Columns()) < 9 {
				t.Errorf("v%d: %d rows in %s, %d columns", v, n, table, len(it.Columns()))
			}
			if err := it.Close(); err != nil {
				t.Error(err)
			}
		}
		// Without a driver: QUERY, any columns, also with the table's name unqualified.
		c := connect(t, addr, v)
		h, body := c.ask(wire.OpQuery, query(v, "SELECT rpc_port AS p, host_id, rpc_port FROM system.local"))
		rows, err := wire.ParseRows(body)
		if h.Op != wire.OpResult || err != nil {
			t.Fatalf("%s %v", h.Op, err)
		}
		it := rows.Iter(nil)
		if !it.Next() || string(it.Cells[1]) != string(row["host_id"].(gocql.UUID).Bytes()) || fmt.Sprint(binary.BigEndian.Uint32(it.Cells[2])) != port {
			t.Errorf("v%d: %q", v, it.Cells)
		}
		c.ask(wire.OpQuery, query(v, "USE system"))
		if _, body = c.ask(wire.OpQuery, query(v, "SELECT count(*) FROM peers")); !strings.HasSuffix(string(body), "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00") {
			t.Errorf("v%d: count of peers: %q", v, body)
		}
	}
}

func TestManyStreams(t *testing.T) {
	backend := cassandra.Shared(t)
	d, addr := realDoor(t, backend, cluster.Options{})
	const n = 10_000
	c := connect(t, addr, wire.V5)
	go func() {
		for i := range int16(n) {
			c.Append(wire.Header{Version: wire.V5, Op: wire.OpQuery, Stream: i}, query(wire.V5, fmt.Sprintf("SELECT key, %d + 0 AS n FROM system.local", i)))
			if i%100 == 99 {
				c.Flush()
			}
		}
		c.Flush()
	}()
	seen := make(map[int16]bool)
	most := int64(0)
	for range n {
		h, body := c.next()
		if seen[h.Stream] || h.Op != wire.OpResult {
			t.Fatalf("stream %d: %s %q", h.Stream, h.Op, body)
		}
		seen[h.Stream] = true
		rows, err := wire.ParseRows(body)
		if err != nil {
			t.Fatal(err)
		}
		it := rows.Iter(nil)
		if !it.Next() || binary.BigEndian.Uint32(it.Cells[1]) != uint32(h.Stream) {
			t.Fatalf("stream %d has another's response: %q", h.Stream, body)
		}
		if len(seen)%500 == 0 {
			most = max(most, d.Stats().InFlight)
		}
	}
	t.Logf("%d requests were in flight at a time", most)
}

// downs gets a value when a driver has noted that a host is down.
type downs chan struct{}

func (downs) OnHostUp(gocql.HostUpEvent) {}

func (d downs) OnHostDown(gocql.HostDownEvent) {
	select {
	case d <- struct{}{}:
	default:
	}
}

// TestDoorRestarts ends the only door that a driver knows and starts another in its place: the
// driver's session goes on.
func TestDoorRestarts(t *testing.T) {
	backend := cassandra.Shared(t)
	cl, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{backend}, ConnectTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	start := func(addr string) (string, func()) {
		d, err := cqldoor.New(t.Context(), cqldoor.Options{Store: cl})
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- d.Serve(ln) }()
		return ln.Addr().String(), func() {
			ln.Close()
			if err := d.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	addr, stop := start(loopback.FreeAddr(t)) // where it can start again
	// gocql looks for a host that was down once a minute by default.
	noticed := make(downs, 1)
	s := session(t, addr, func(c *gocql.ClusterConfig) {
		c.ReconnectInterval, c.NumConns = time.Second, 1
		c.Metadata.HostListener.HostStateChangeListener = noticed
	})
	q := func() error { return s.Query("SELECT release_version FROM system.local WHERE key = ?", "local").Exec() }
	if err := q(); err != nil {
		t.Fatal(err)
	}
	stop()
	// gocql can lose a host that comes back while the driver notes that it was down. A query has
	// the host's pool filled (hostConnPool.Pick). If the pool is closed before the connection is
	// made, connect closes the connection and returns no error, and fill has the host called up.
	// The pool is gone by then (handleNodeDown). Nothing makes another: reconnectDownedHosts passes
	// hosts over that are up. So the door begins again after the driver has noted its end, and no
	// query is sent in between.
	select {
	case <-noticed:
	case <-time.After(patience):
		t.Fatal("the driver does not notice that the door is down")
	}
	_, stop = start(addr)
	defer stop()
	eventually(t, "the driver is back", func() bool { return q() == nil })
}

// A Cassandra with users: law 7 for real, and what a backend's end does.
func TestAuthenticatedBackend(t *testing.T) {
	backend := cassandra.Start(t, cassandra.Options{Auth: true})
	as := func(name, password string) func(*gocql.ClusterConfig) {
		return func(c *gocql.ClusterConfig) {
			c.Authenticator = gocql.PasswordAuthenticator{Username: name, Password: password}
		}
	}
	_, addr := realDoor(t, backend.Addr(), cluster.Options{Username: cassandra.Username, Password: cassandra.Password})
	root := session(t, addr, as(cassandra.Username, cassandra.Password))
	exec(t, root, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, root, "CREATE TABLE ks.t (a int PRIMARY KEY, b int)")
	exec(t, root, "INSERT INTO ks.t (a, b) VALUES (1, 1)")
	exec(t, root, "CREATE ROLE ada WITH PASSWORD = 'one' AND LOGIN = true")

	t.Run("rights", func(t *testing.T) {
		ada := session(t, addr, as("ada", "one"))
		var unauthorized gocql.RequestError
		if err := ada.Query("SELECT b FROM ks.t WHERE a = 1").Exec(); !errors.As(err, &unauthorized) || unauthorized.Code() != gocql.ErrCodeUnauthorized {
			t.Errorf("ada reads: %v", err)
		}
		exec(t, root, "SELECT b FROM ks.t WHERE a = 1")
	})
	login := func(t *testing.T, name, password string) (wire.Header, []byte) {
		c := dial(t, addr, wire.V5)
		c.ask(wire.OpStartup, startup(""))
		c.Established(wire.V5, wire.NoCompression)
		return c.ask(wire.OpAuthResponse, wire.AppendAuthResponse(nil, []byte("\x00"+name+"\x00"+password)))
	}
	t.Run("wrong password", func(t *testing.T) {
		for _, name := range []string{"ada", cassandra.Username, "nobody"} {
			h, body := login(t, name, "wrong")
			e := asError(t, wire.V5, h, body, wire.CodeBadCredentials)
			if want := "Provided username " + name + " and/or password are incorrect"; e.Message != want {
				t.Errorf("%q, not Cassandra's own %q", e.Message, want)
			}
		}
	})
	t.Run("each connection is authenticated afresh", func(t *testing.T) {
		if h, _ := login(t, "ada", "one"); h.Op != wire.OpAuthSuccess {
			t.Fatalf("got %s", h.Op)
		}
		// Cassandra lets a password change every 5 s.
		eventually(t, "the password is changed", func() bool {
			return root.Query("ALTER ROLE ada WITH PASSWORD = 'two'").Exec() == nil
		})
		// Cassandra itself may remember the old password for a moment.
		eventually(t, "the old password is refused", func() bool {
			h, _ := login(t, "ada", "one")
			return h.Op == wire.OpError
		})
		eventually(t, "the new one is not", func() bool {
			h, _ := login(t, "ada", "two")
			return h.Op == wire.OpAuthSuccess
		})
	})
	t.Run("the backend is killed and comes back", func(t *testing.T) {
		if err := backend.Kill(); err != nil {
			t.Fatal(err)
		}
		var lost gocql.RequestError
		err := root.Query("INSERT INTO ks.t (a, b) VALUES (2, 2)").Exec()
		if !errors.As(err, &lost) || lost.Code() != gocql.ErrCodeOverloaded && lost.Code() != gocql.ErrCodeWriteTimeout {
			t.Errorf("a write: %v", err)
		}
		if err := backend.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		// What was not synced to disk is lost with it, the schema too perhaps; what
		// counts is that the cluster answers.
		eventually(t, "requests are answered again", func() bool {
			return root.Query("SELECT key FROM system.local").Exec() == nil
		})
	})
}
