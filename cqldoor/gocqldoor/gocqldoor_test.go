// SPDX-License-Identifier: Apache-2.0

package gocqldoor_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"go.uber.org/goleak"

	"github.com/evenkeel/evenkeel/cqldoor/gocqldoor"
	cassandraengine "github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/shardrules"
)

func TestMain(m *testing.M) {
	leak.Main(m, goleak.IgnoreAnyFunction("os/exec.(*Cmd).watchCtx.func1"))
}

// embedded is a door in front of an engine in this process.
func embedded(t *testing.T, o gocqldoor.Options) *gocqldoor.Dialer {
	t.Helper()
	e, err := cassandraengine.Open(t.TempDir(), cassandraengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	o.Store = e
	return open(t, o)
}

func open(t *testing.T, o gocqldoor.Options) *gocqldoor.Dialer {
	t.Helper()
	door, err := gocqldoor.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := door.Close(); err != nil {
			t.Error(err)
		}
	})
	return door
}

func session(t *testing.T, door *gocqldoor.Dialer, version int) *gocql.Session {
	t.Helper()
	c := gocql.NewCluster(gocqldoor.Host)
	c.HostDialer, c.ProtoVersion, c.Timeout, c.ConnectTimeout = door, version, time.Minute, time.Minute // a loaded machine is slow
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func exec(t *testing.T, s *gocql.Session, text string, values ...any) {
	t.Helper()
	if err := s.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// A program uses sharded and plain tables, reads them in clustering order and page by page, through
// several connections at once.
func TestProgram(t *testing.T) {
	for name, door := range map[string]func(*testing.T) *gocqldoor.Dialer{
		"engine": func(t *testing.T) *gocqldoor.Dialer { return embedded(t, gocqldoor.Options{}) },
		"cassandra": func(t *testing.T) *gocqldoor.Dialer {
			return open(t, gocqldoor.Options{Contacts: []string{cassandra.Shared(t)}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dialer := door(t)
			s := session(t, dialer, 0) // the driver finds the version itself
			ks := cassandra.Keyspace(t, "dialer")
			exec(t, s, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			t.Cleanup(func() { exec(t, s, "DROP KEYSPACE "+ks) })
			for table, with := range map[string]string{"plain": "", "sharded": " WITH write_sharding = {'shards': '7'}"} {
				at := ks + "." + table
				exec(t, s, "CREATE TABLE "+at+" (day text, title text, words int, PRIMARY KEY (day, title))"+with)
				var all sync.WaitGroup
				for i := range 200 {
					all.Go(func() {
						if err := s.Query("INSERT INTO "+at+" (day, title, words) VALUES (?, ?, ?)", "d", fmt.Sprintf("%03d", i), i).Exec(); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				var title string
				n := 0
				it := s.Query("SELECT title FROM "+at+" WHERE day = ?", "d").PageSize(17).Iter()
				for ; it.Scan(&title); n++ {
					if want := fmt.Sprintf("%03d", n); title != want {
						t.Fatalf("row %d of %s is %s, want %s", n, table, title, want)
					}
				}
				if err := it.Close(); err != nil || n != 200 {
					t.Errorf("%s: %d rows, %v", table, n, err)
				}
			}
			m, err := session(t, dialer, 0).KeyspaceMetadata(ks) // a new session reads it anew
			if err != nil || m.Tables["sharded"] == nil || len(m.Tables["sharded"].PartitionKey) != 1 {
				t.Errorf("the driver sees the tables %v, %v", m, err)
			}
		})
	}
}

// Both versions of the protocol, and a table that a rule of the program shards.
func TestRules(t *testing.T) {
	rules, err := shardrules.Parse("rules.yaml", []byte("app.hot: {shards: 5}"))
	if err != nil {
		t.Fatal(err)
	}
	door := embedded(t, gocqldoor.Options{Rules: &rules.CQL})
	for _, version := range []int{4, 5} {
		s := session(t, door, version)
		exec(t, s, "CREATE KEYSPACE IF NOT EXISTS app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		exec(t, s, "CREATE TABLE IF NOT EXISTS app.hot (a int, b int, PRIMARY KEY (a, b))")
		exec(t, s, "INSERT INTO app.hot (a, b) VALUES (1, ?)", version)
		n := 0
		if err := s.Query("SELECT count(*) FROM app.hot WHERE a = 1").Scan(&n); err != nil || n != version-3 {
			t.Errorf("version %d: %d rows, %v", version, n, err)
		}
		row := map[string]any{}
		if err := s.Query("DESCRIBE TABLE app.hot").MapScan(row); err != nil || !strings.Contains(fmt.Sprint(row), "'shards': '5'") {
			t.Errorf("version %d: it is described as %v, %v", version, row, err)
		}
	}
}

// After Close nothing is dialled, and nothing runs on: TestMain looks for goroutines.
func TestClose(t *testing.T) {
	e, err := cassandraengine.Open(t.TempDir(), cassandraengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	door, err := gocqldoor.New(t.Context(), gocqldoor.Options{Store: e})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := door.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := door.DialHost(t.Context(), nil); err == nil {
		t.Error("a closed door is dialled")
	}
	if _, err := door.DialHost(ctx, nil); err == nil {
		t.Error("a closed door is dialled")
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for want, o := range map[string]gocqldoor.Options{
		"neither contacts of a cluster nor a store": {},
		"a password is given without a user name":   {Contacts: []string{"x"}, Password: "y"},
		"must not be negative":                      {Contacts: []string{"x"}, Lease: -1},
	} {
		if _, err := gocqldoor.New(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	e, err := cassandraengine.Open(t.TempDir(), cassandraengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for want, o := range map[string]gocqldoor.Options{
		"one of them can be behind": {Contacts: []string{"x"}, Store: e},
		"an account or TLS":         {Username: "x", Store: e},
		"no other door may be":      {Lease: time.Second, Store: e},
	} {
		if _, err := gocqldoor.New(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// A cluster that is not there is an error, and leaves nothing behind.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := gocqldoor.New(ctx, gocqldoor.Options{Contacts: []string{"127.0.0.1:1"}}); err == nil {
		t.Error("nothing listens there")
	}
}
