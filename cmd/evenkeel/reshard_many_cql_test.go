// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/reshard"
)

var manyRows = flag.Int("reshard.rows", 3000, "the number of rows of TestManyRowsWhileKilled")

// manyInCQL is a table of many rows, in front of it a driver that applications use.
type manyInCQL struct {
	s        *gocql.Session
	cql      string
	keyspace string
}

func (d *manyInCQL) at() *reshardTable { return &reshardTable{Table: d.keyspace + ".many", CQL: d.cql} }

func (d *manyInCQL) ripe(s *reshard.Status) bool {
	switch s.Phase {
	case "announced", "switching":
		return s.StepDone > 0.3
	case "settled", "cleaned":
		return true
	}
	return false
}

func (d *manyInCQL) waits() string { return "settled" }

func (d *manyInCQL) get(i int) (version int, there bool, err error) {
	err = d.s.Query("SELECT v FROM "+d.keyspace+".many WHERE p = ? AND c = ?", i/inKey, i%inKey).Scan(&version)
	if errors.Is(err, gocql.ErrNotFound) {
		return 0, false, nil
	}
	return version, true, err
}

func (d *manyInCQL) put(i, version int) error {
	return d.s.Query("INSERT INTO "+d.keyspace+".many (p, c, v) VALUES (?, ?, ?)", i/inKey, i%inKey, version).Exec()
}

func (d *manyInCQL) load(t *testing.T, n int) {
	const size = 50 // rows of one key
	var batches atomic.Int64
	var loading sync.WaitGroup
	failed := make(chan error, 8)
	for range cap(failed) {
		loading.Go(func() {
			for {
				from := int(batches.Add(size)) - size
				if from >= n {
					return
				}
				b := d.s.Batch(gocql.UnloggedBatch)
				for i := from; i < min(n, from+size); i++ {
					b.Query("INSERT INTO "+d.keyspace+".many (p, c, v, d) VALUES (?, ?, 0, ?)", i/inKey, i%inKey, fmt.Sprint("a text of some length, as rows have one ", i))
				}
				if err := b.Exec(); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	loading.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
}

// scan reads page by page. It asks again for a page without an answer, because the door may be dead. If a
// change has ended, it begins again, as applications must.
func (d *manyInCQL) scan(row func(i, version int) error) error {
	type read struct{ i, version int }
	var rows []read
	deadline := time.Now().Add(patience)
	for state := []byte(nil); ; {
		it := d.s.Query("SELECT p, c, v FROM " + d.keyspace + ".many").PageSize(2000).PageState(state).Iter()
		var p, c, v int
		n := len(rows)
		for range it.NumRows() {
			if !it.Scan(&p, &c, &v) {
				break
			}
			rows = append(rows, read{p*inKey + c, v})
		}
		next := it.PageState()
		switch err := it.Close(); {
		case err == nil:
			deadline = time.Now().Add(patience)
			if state = next; len(state) > 0 {
				continue
			}
			for _, r := range rows {
				if err := row(r.i, r.version); err != nil {
					return err
				}
			}
			return nil
		case strings.Contains(err.Error(), "Invalid value for the paging state"):
			rows, state = nil, nil
		case time.Now().After(deadline):
			return err
		default:
			rows = rows[:n]
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// TestManyRowsWhileKilled changes the layout of a plain table of many rows under the steady load of a real
// driver, several times, kills the door in each change, and accounts for each row, at the end and meanwhile. With
// -args -reshard.rows=10000000 -reshard.to=50,75,0 it takes hours; with -reshard.cassandra the door is in front
// of a Cassandra.
func TestManyRowsWhileKilled(t *testing.T) {
	args := []string{"--data", t.TempDir()}
	if *doorsReal {
		args = []string{"--cassandra", cassandra.Shared(t)}
	}
	m := startMortal(t, "", args...)
	cluster := gocql.NewCluster(m.cql)
	cluster.ProtoVersion, cluster.Consistency = 5, gocql.LocalQuorum
	cluster.Timeout, cluster.ConnectTimeout = time.Minute, time.Minute
	cluster.ReconnectInterval = 100 * time.Millisecond
	cluster.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 100, Interval: 100 * time.Millisecond}
	cluster.Logger = gocql.NewLogger(gocql.LogLevelNone)
	s, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of := &manyInCQL{s, m.cql, cassandra.Keyspace(t, "many")}
	with := ""
	if *manyFrom > 0 {
		with = fmt.Sprintf(" WITH write_sharding = {'shards': '%d'}", *manyFrom)
	}
	for _, text := range []string{
		"CREATE KEYSPACE " + of.keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE " + of.keyspace + ".many (p int, c int, v bigint, d text, PRIMARY KEY (p, c))" + with,
	} {
		if err := s.Query(text).ExecContext(context.Background()); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	changeManyWhileKilled(t, m, of, *manyRows, true)
	if err := s.Query("DROP KEYSPACE " + of.keyspace).Exec(); err != nil {
		t.Fatal(err)
	}
}
