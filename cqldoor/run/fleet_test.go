// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/fleet"
)

// newDoorAt makes the router of a door of an address. Its clock stands still, so that its
// lease does not end, however slow the machine.
func newDoorAt(st store.Store, at string) *Router {
	begun := time.Now()
	return New(Options{
		Lease: 50 * time.Millisecond, Self: fleet.Door{CQL: at, HostID: random(), Release: "0.2.0"}, Store: st, Now: func() time.Time { return begun }, Timeuuid: random, UUID: random,
		IntN: mathrand.IntN, Log: slog.New(slog.DiscardHandler),
	})
}

func startDoorAt(t *testing.T, st store.Store, at string) *Router {
	t.Helper()
	r := newDoorAt(st, at)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// doorsOf are the addresses of the doors that are there, as one sees them.
func doorsOf(t *testing.T, r *Router) (all []string) {
	t.Helper()
	if err := r.schema.Doors.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := r.schema.View.Load(); v.Seen != nil {
		seen, err := r.schema.Doors.Beat(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range seen.Doors {
			if !d.Left() {
				all = append(all, d.CQL+" in "+d.DataCentre)
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestDoorsRegister has doors find each other: from when there is a catalogue, and until
// they leave.
func TestDoorsRegister(t *testing.T) {
	st := embedded(t)
	a, b := startDoorAt(t, st, "a:1"), startDoorAt(t, st, "b:1")
	defer b.Close()
	if got := doorsOf(t, a); len(got) > 0 {
		t.Errorf("before there is a catalogue: %q", got)
	}
	s := newSceneOf(t, st, b)
	table := s.keyspace + ".t"
	s.must(s.v5, "CREATE TABLE "+table+" (k int, c int, PRIMARY KEY (k, c))"+shardedByFour)
	want := []string{"a:1 in datacenter1", "b:1 in datacenter1"}
	doorsOf(t, a)
	if got := doorsOf(t, b); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	a.Close()
	if got := doorsOf(t, b); !slices.Equal(got, want[1:]) {
		t.Errorf("after one has left: %q", got)
	}
	// The catalogue's tables are not shown, and the settings say how long leases are.
	if answer := s.query(s.v5, "SELECT * FROM evenkeel.doors"); !strings.Contains(answer.Text, "does not exist") {
		t.Errorf("%s", show(answer))
	}
	session := catalog.NewSession(st)
	defer session.Close()
	rows, err := session.Query(t.Context(), wire.LocalQuorum, "SELECT value FROM evenkeel.settings WHERE name = 'lease'")
	if err != nil || len(rows) != 1 || string(rows[0]["value"]) != "50ms" {
		t.Errorf("%q, %v", rows, err)
	}
	// A door of a release that keeps another format is not started.
	if _, err := session.Query(t.Context(), wire.LocalQuorum, "UPDATE evenkeel.settings SET value = '7' WHERE name = 'format'"); err != nil {
		t.Fatal(err)
	}
	c := newDoorAt(st, "c:1")
	defer c.Close()
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), `format "7"`) {
		t.Errorf("%v", err)
	}
}

// twoNodes is a store of one node that tells the door of another.
type twoNodes struct{ store.Store }

func (s twoNodes) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s twoNodes) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	return twoNodesLink{l, o.Version}, err
}

type twoNodesLink struct {
	store.Link
	version wire.Version
}

func (l twoNodesLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	if req.Op == wire.OpQuery {
		if q, err := wire.ParseQuery(l.version, req.Body); err == nil && string(q.Text) == "SELECT data_center FROM system.peers" {
			q.Text = []byte("SELECT data_center FROM system.local")
			req.Body = wire.AppendQuery(nil, l.version, &q)
		}
	}
	l.Link.Send(ctx, req, reply)
}

// TestThinCatalogue checks that a door warns when it starts if the catalogue has fewer replicas than
// the cluster could give it.
func TestThinCatalogue(t *testing.T) {
	st := embedded(t)
	first := startDoorAt(t, st, "a:1")
	defer first.Close()
	s := newSceneOf(t, st, first)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (k int, c int, PRIMARY KEY (k, c))"+shardedByFour)
	for _, c := range []struct {
		st   store.Store
		want bool
	}{{st, false}, {twoNodes{st}, true}} {
		var log strings.Builder
		r := newDoorAt(c.st, "b:1")
		r.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if got := strings.Contains(log.String(), "1 of the 2 nodes"); got != c.want {
			t.Errorf("warned: %t, want %t:\n%s", got, c.want, &log)
		}
	}
}
