// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	cassandraengine "github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/door"
	"github.com/evenkeel/evenkeel/workbench/live"
)

// stores returns the addresses of the stores under test: a real Cassandra, and a door on the
// embedded engine.
func stores(t *testing.T) map[string]string {
	return map[string]string{"cassandra": cassandra.Shared(t), "engine": serve(t, cassandraengine.Options{})}
}

// serve serves an embedded engine of the test's own.
func serve(t *testing.T, o cassandraengine.Options) string {
	t.Helper()
	st, err := cassandraengine.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	return door.Start(t, st)
}

// client is a session for writing, in a keyspace of the test's own.
type client struct {
	*gocql.Session
	t        *testing.T
	addr     string
	keyspace string
}

func connect(t *testing.T, addr string) *client {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := gocql.NewCluster(host)
	c.Port, _ = strconv.Atoi(port)
	c.Timeout, c.ConnectTimeout = time.Minute, time.Minute
	c.Consistency = gocql.One
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	cl := &client{s, t, addr, cassandra.Keyspace(t, "live")}
	cl.do("CREATE KEYSPACE " + cl.keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() { _ = s.Query("DROP KEYSPACE " + cl.keyspace).Exec() }) // the test may have dropped it
	return cl
}

func (c *client) do(cql string, values ...any) {
	c.t.Helper()
	if err := c.Query(cql, values...).Exec(); err != nil {
		c.t.Fatalf("%s: %v", cql, err)
	}
}

// each runs f for 0 to n-1, several at a time.
func (c *client) each(n int, f func(i int) (string, []any)) {
	c.t.Helper()
	var wg sync.WaitGroup
	next := make(chan int)
	failed := make(chan error, n)
	for range 16 {
		wg.Go(func() {
			for i := range next {
				cql, values := f(i)
				if err := c.Query(cql, values...).Exec(); err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	select {
	case err := <-failed:
		c.t.Fatal(err)
	default:
	}
}

// open opens a table of the keyspace.
func (c *client) open(table string, o live.Options) *live.Table {
	c.t.Helper()
	at, err := live.Parse("cql://" + c.addr + "/" + c.keyspace + "." + table)
	if err != nil {
		c.t.Fatal(err)
	}
	t, err := live.Open(c.t.Context(), at, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(t.Close)
	return t
}

// proxy forwards connections until it is cut: then it drops them and refuses new ones.
type proxy struct {
	ln    net.Listener
	to    string
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ln: ln, to: to}
	t.Cleanup(func() { ln.Close(); p.set(true) })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			p.serve(c)
		}
	}()
	return p
}

func (p *proxy) serve(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := net.Dial("tcp", p.to)
	if err != nil || p.cut {
		c.Close()
		if err == nil {
			out.Close()
		}
		return
	}
	p.conns = append(p.conns, c, out)
	pass := func(dst, src net.Conn) {
		defer dst.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := src.Read(buf)
			if _, werr := dst.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	go pass(out, c)
	go pass(c, out)
}

// set cuts the connections, or accepts new ones.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
