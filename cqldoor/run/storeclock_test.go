// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/reshard"
)

// TestStampsByTheStoresClock writes a row, which has no timestamp from the client, before a change of layout,
// during it and after it, and deletes another one. The door's clock is minutes off. Each write replaces the one
// before.
func TestStampsByTheStoresClock(t *testing.T) { onStores(t, stampsByTheStoresClock) }

func stampsByTheStoresClock(t *testing.T, st store.Store) {
	for _, skew := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) { stampsAtSkewedDoor(t, st, skew) })
	}
}

func stampsAtSkewedDoor(t *testing.T, st store.Store, skew time.Duration) {
	r := startDoorWith(t, st, "a:1", func(o *Options) { o.Now = func() time.Time { return time.Now().Add(skew) } })
	at := serveDoor(t, st, r)
	cluster := gocql.NewCluster(at)
	cluster.Timeout, cluster.ConnectTimeout = time.Minute, time.Minute
	cluster.DisableInitialHostLookup, cluster.DefaultTimestamp = true, false
	s, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	l := livedAt(t, st, s)
	exec(t, s, "CREATE TABLE lived.t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
	const insert, remove = "INSERT INTO lived.t (p, c, v) VALUES (0, ?, ?)", "DELETE FROM lived.t WHERE p = 0 AND c = ?"
	shows := func(when string, row, want int) {
		t.Helper()
		got := 0
		if err := s.Query("SELECT v FROM lived.t WHERE p = 0 AND c = ?", row).Scan(&got); err != nil && err != gocql.ErrNotFound || got != want {
			t.Errorf("%s: row %d has %d (%v), not %d", when, row, got, err, want)
		}
	}
	for row := range 4 {
		exec(t, s, insert, row, 1)
	}
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'shards': '5'}")
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'change': 'pause'}")
	exec(t, s, insert, 0, 2)
	exec(t, s, remove, 1)
	exec(t, s, insert, 2, 2)
	exec(t, s, insert, 3, 2)
	shows("during the change", 0, 2)
	shows("during the change", 1, 0)
	exec(t, s, "ALTER TABLE lived.t WITH write_sharding = {'change': 'resume'}")
	for deadline := time.Now().Add(patience); l.status().Phase != reshard.NoPhase; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the change does not end: %+v", l.status())
		}
	}
	shows("after the change", 0, 2)
	shows("after the change", 1, 0)
	exec(t, s, insert, 2, 3)
	exec(t, s, remove, 3)
	shows("after a write after the change", 2, 3)
	shows("after a deletion after the change", 3, 0)
}
