// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/registry"
)

// TestAppears uses tables at one door from before another creates them, sharded, sharded again,
// plain and then sharded: a statement is carried out, or there is no such table, and nothing in between.
func TestAppears(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const lease = time.Second // a loaded machine holds a door up for longer than a tenth of it
		a := newSceneOf(t, st, startRouterOf(t, st, lease))
		b := serveDoor(t, st, startRouterOf(t, st, lease))
		const columns = " (k int, c int, PRIMARY KEY (k, c))"
		for n := range 2 {
			table := fmt.Sprintf("%s.t%d", a.keyspace, n)
			done := make(chan struct{})
			var users sync.WaitGroup
			for _, v := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
				for _, text := range []string{"INSERT INTO " + table + " (k, c) VALUES (1, 1)", "SELECT * FROM " + table + " WHERE k = 1", "PREPARE"} {
					conn := dial(t, b, v)
					users.Go(func() {
						for i := 0; ; i++ {
							select {
							case <-done:
								return
							default:
							}
							var answer *difftest.Answer
							var err error
							if text == "PREPARE" { // each time another text
								answer, err = conn.Prepare(fmt.Sprintf("INSERT INTO %s (k, c) VALUES (%d, ?)", table, i))
							} else {
								answer, err = conn.Query(difftest.Request{Query: text})
							}
							if err != nil {
								t.Error(err)
								return
							}
							// The second is what Cassandra says of a table that is dropped meanwhile, the third
							// what a door says of a write that was under way then.
							may := []string{"does not exist", "Unknown CF", "it may have been applied"}
							if answer.Kind == difftest.Error && !slices.ContainsFunc(may, func(text string) bool { return strings.Contains(answer.Text, text) }) {
								t.Errorf("%s: %s", text, show(answer))
								return
							}
						}
					})
				}
			}
			for _, ddl := range []string{"CREATE TABLE " + table + columns + shardedByFour, "DROP TABLE " + table, "CREATE TABLE " + table + columns + shardedByFour, "DROP TABLE " + table, "CREATE TABLE " + table + columns, "DROP TABLE " + table, "CREATE TABLE " + table + columns + shardedByFour} {
				a.must(a.v5, ddl)
			}
			close(done)
			users.Wait()
			if t.Failed() {
				return
			}
		}
	})
}

// TestBetweenEntryAndTable uses a name that has an entry in the catalogue, but no table in the
// store. This is so while another door creates the table, and when it has dropped the table in the
// schema but not all nodes have forgotten it. For clients there is no such table. The entry stays.
func TestBetweenEntryAndTable(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		var passed atomic.Int64 // on the door's clock
		s := newSceneOf(t, st, startRouterBy(t, st, 0, func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }))
		const columns = " (k int, c int, v int, PRIMARY KEY (k, c))"
		for _, state := range []registry.State{registry.Creating, registry.Dropping} {
			t.Run(string(state), func(t *testing.T) {
				s.t = t
				table := s.keyspace + "." + string(state)
				s.must(s.v5, "CREATE TABLE "+table+columns+shardedByFour)
				x := s.router.schema
				e, err := x.Catalog.Entry(t.Context(), s.keyspace, string(state))
				if err != nil || e == nil {
					t.Fatal(e, err)
				}
				s.must(s.direct, "DROP TABLE "+table)
				id := random()
				if _, err := x.Session.Query(t.Context(), wire.LocalQuorum, "UPDATE evenkeel.layouts SET state = ?, owner = ?, started_at = ? WHERE keyspace_name = ? AND table_name = ? IF EXISTS",
					[]byte(state), id[:], binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli())), []byte(s.keyspace), []byte(state)); err != nil {
					t.Fatal(err)
				}
				if err := x.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, text := range []string{
					"SELECT * FROM TABLENAME WHERE k = 1", "INSERT INTO TABLENAME (k, c) VALUES (1, 1)", "TRUNCATE TABLENAME", "BEGIN BATCH INSERT INTO TABLENAME (k, c) VALUES (1, 1); APPLY BATCH",
					"DROP TABLE TABLENAME", "DROP TABLE IF EXISTS TABLENAME", "ALTER TABLE TABLENAME ADD w int", "ALTER TABLE IF EXISTS TABLENAME ADD w int", "CREATE INDEX ON TABLENAME (v)",
					"CREATE MATERIALIZED VIEW " + s.keyspace + ".mv AS SELECT * FROM TABLENAME WHERE v IS NOT NULL AND k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, k, c)",
				} {
					want := s.query(s.direct, strings.ReplaceAll(text, "TABLENAME", s.keyspace+".other"))
					if strings.Contains(want.Text, "not supported by the embedded engine") {
						continue
					}
					got := s.query(s.v5, strings.ReplaceAll(text, "TABLENAME", table))
					if got.Kind != want.Kind || got.Code != want.Code || got.Text != strings.ReplaceAll(want.Text, "other", string(state)) {
						t.Errorf("%s\ngot  %s\nwant %s", text, show(got), show(want))
					}
				}
				if now, err := x.Catalog.Entry(t.Context(), s.keyspace, string(state)); err != nil || now == nil || now.State != state {
					t.Errorf("the entry of an operation that is under way is %v, %v", now, err)
				}
				passed.Add(int64(2 * time.Minute)) // whoever did it has died
				if err := x.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				if now, err := x.Catalog.Entry(t.Context(), s.keyspace, string(state)); err != nil || now != nil {
					t.Errorf("the entry of an operation that ended half-way is %v, %v", now, err)
				}
			})
		}
	})
}

// TestTakenForDead has a door that waits for minutes take the creation of a table for dead,
// at both moments at which the creating door can be slow: after its entry, and after its table. Once
// the table is created, the other door knows that it is sharded, also if it has not looked of itself.
func TestTakenForDead(t *testing.T) {
	for _, looks := range []bool{false, true} {
		under := embedded(t)
		hold := func(st store.Store, word string) *holdingStore {
			return &holdingStore{Store: st, word: word, held: make(chan struct{}), free: make(chan struct{})}
		}
		table := hold(under, "PRIMARY KEY ((k, shard), c)")
		entry := hold(table, "UPDATE evenkeel.layouts SET physical_name")
		const lease = 50 * time.Millisecond
		a := newSceneOf(t, entry, startRouterOf(t, entry, lease))
		var passed atomic.Int64 // on the clock of the door that waits
		begun := time.Now()
		waits := startRouterBy(t, under, lease, func() time.Time { return begun.Add(time.Duration(passed.Load())) })
		b := dial(t, serveDoor(t, deaf{under}, waits), primitive.ProtocolVersion5)

		created := make(chan struct{})
		go func() {
			defer close(created)
			a.must(a.v5, "CREATE TABLE "+a.keyspace+".t (k int, c int, PRIMARY KEY (k, c))"+shardedByFour)
		}()
		for _, h := range []*holdingStore{table, entry} {
			<-h.held
			for _, pause := range []time.Duration{0, 2 * time.Minute} {
				passed.Add(int64(pause))
				if err := waits.schema.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if e, err := waits.schema.Catalog.Entry(t.Context(), a.keyspace, "t"); h == table && (e != nil || err != nil) {
				t.Errorf("the creation is not taken for dead: %v %v", e, err)
			}
			if !looks && h == entry {
				waits.stop()
				waits.done.Wait()
			}
			close(h.free)
		}
		<-created
		insert := func() {
			t.Helper()
			if x := a.query(b, "INSERT INTO "+a.keyspace+".t (k, c) VALUES (1, 1)"); x.Kind == difftest.Error {
				t.Errorf("a row cannot be written: %s", show(x))
			}
		}
		if looks {
			insert()
		}
		if x, err := b.Prepare("INSERT INTO " + a.keyspace + ".t (k, c) VALUES (1, ?)"); err != nil || x.Kind != difftest.Prepared {
			t.Errorf("a statement cannot be prepared: %s %v", show(x), err)
		}
		insert()
		if x := a.query(b, "SELECT * FROM "+a.keyspace+".t WHERE k = 1"); len(x.Rows) != 1 || len(x.Columns) != 2 {
			t.Errorf("the row is read as %s", show(x))
		}
	}
}
