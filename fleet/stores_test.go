// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	cassandraengine "github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestOnStores has two doors find each other and pass a barrier, on a real Cassandra and on
// the embedded engine.
func TestOnStores(t *testing.T) {
	t.Run("cassandra", func(t *testing.T) {
		st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
		if err != nil {
			t.Fatal(err)
		}
		testOnStore(t, st)
	})
	t.Run("engine", func(t *testing.T) {
		st, err := cassandraengine.Open(t.TempDir(), cassandraengine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		testOnStore(t, st)
	})
}

func testOnStore(t *testing.T, st store.Store) {
	session := catalog.NewSession(st)
	t.Cleanup(func() {
		// The doors of later tests on this store shall not wait for so long a lease.
		_, err := session.Query(context.Background(), wire.LocalQuorum, "DELETE FROM evenkeel.settings WHERE name = 'lease'")
		if err != nil {
			t.Error(err)
		}
		session.Close()
		st.Close()
	})
	if _, err := session.Query(t.Context(), wire.LocalQuorum, "CREATE KEYSPACE IF NOT EXISTS evenkeel WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"); err != nil {
		t.Fatal(err)
	}
	uuid := func() (u [16]byte) {
		_, _ = rand.Read(u[:])
		return u
	}
	door := func(at string) *fleet.Member {
		return fleet.New(fleet.Options{Session: session, Now: time.Now, UUID: uuid, Lease: time.Minute,
			Self: fleet.Door{HostID: uuid(), CQL: at, DynamoDB: at + "0", DataCentre: "dc1", Rack: "rack1", Release: "0.2.0", Steps: []string{"announced"}}})
	}
	a, b := door("127.0.0.1:1"), door("127.0.0.1:2")
	beat := func(m *fleet.Member) *fleet.Seen {
		t.Helper()
		s, err := m.Beat(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	table := fleet.Table{Keyspace: "tracker", Name: "blogs", ID: uuid()}
	if err := a.Publish(t.Context(), fleet.Publication{Table: table, Generation: 5, Step: "announced"}); err != nil {
		t.Fatal(err)
	}
	own := map[[16]byte]bool{}
	for _, m := range []*fleet.Member{a, b} {
		s := beat(m)
		own[s.Self] = true
		m.Acknowledge(s.Self, map[[16]byte]int64{table.ID: 5})
		beat(m)
	}
	seen, last := 0, beat(a)
	for _, d := range last.Doors {
		if own[d.ID] {
			seen++
			if d.DynamoDB != d.CQL+"0" || d.DataCentre != "dc1" || d.Rack != "rack1" || d.Release != "0.2.0" || d.Lease != last.Lease || d.Acknowledged[table.ID] != 5 {
				t.Errorf("%+v", d)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d doors", seen)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var vanished *fleet.VanishedError
	switch err := a.Barrier(ctx, table, 5); {
	case errors.As(err, &vanished):
		for _, d := range vanished.Doors { // of tests before, on the same store
			if own[d.ID] {
				t.Error(err)
			}
		}
	case err != nil:
		t.Error(err)
	}
	// A node that has just been killed must not keep a door's reads waiting.
	for _, name := range []string{"doors", "published", "settings"} {
		rows, err := session.Query(t.Context(), wire.One, "SELECT speculative_retry FROM system_schema.tables WHERE keyspace_name = 'evenkeel' AND table_name = '"+name+"'")
		if err != nil || len(rows) != 1 || strings.ToUpper(string(rows[0]["speculative_retry"])) != "ALWAYS" {
			t.Errorf("speculative_retry of %s: %q, %v", name, rows, err)
		}
	}
	// One door begins another change before the mover of the last one has withdrawn its publication.
	published := func(want int64) {
		t.Helper()
		for _, p := range beat(a).Publications {
			if p.Table == table && p.Generation == want {
				return
			}
		}
		t.Errorf("generation %d is not published", want)
	}
	if err := b.Publish(t.Context(), fleet.Publication{Table: table, Generation: 6, Step: "announced"}); err != nil {
		t.Fatal(err)
	}
	published(6)
	if err := a.Withdraw(t.Context(), table, 5); err != nil {
		t.Fatal(err)
	}
	published(6)
	if err := a.Publish(t.Context(), fleet.Publication{Table: table, Generation: 5}); err != nil {
		t.Fatal(err)
	}
	published(6)
	for _, m := range []*fleet.Member{a, b} {
		if err := m.Withdraw(t.Context(), table, 6); err != nil {
			t.Error(err)
		}
		if err := m.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, p := range beat(a).Publications {
		if p.Table == table {
			t.Errorf("%+v is still published", p)
		}
	}
	if err := a.Leave(t.Context()); err != nil {
		t.Error(err)
	}
}
