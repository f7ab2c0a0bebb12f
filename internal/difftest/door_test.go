// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/door"
)

// doorTo serves a door in front of a cluster and returns its address.
func doorTo(t testing.TB, contact string) string {
	t.Helper()
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{contact}, ConnectTimeout: time.Minute, Log: door.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	return door.Start(t, st)
}

// engines serves two doors in front of the test's own embedded engine: one as users have it, and
// one without a router, which shows the physical tables.
func engines(t testing.TB) (sharded, physical string) {
	t.Helper()
	st, err := cassandra.Open(t.TempDir(), cassandra.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return door.Start(t, st), door.Serve(t, kept{st}, nil)
}

// kept is a store that another door closes.
type kept struct{ *cassandra.Engine }

func (kept) Close() error { return nil }
