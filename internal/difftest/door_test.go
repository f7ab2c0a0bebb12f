package difftest

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/run"
	"github.com/evenkeel/evenkeel/engine"
)

// doorTo serves a door in front of a cluster and returns its address.
func doorTo(t testing.TB, contact string) string {
	t.Helper()
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{contact}, Log: logTo(t)})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, st, routerOf(t, st))
}

// engines serves two doors in front of one embedded engine of the test's own: one
// as users have it, and one without a router, which shows the physical tables.
func engines(t testing.TB) (door, physical string) {
	t.Helper()
	st, err := engine.Open(t.TempDir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, st, routerOf(t, st)), serve(t, kept{st}, nil)
}

// kept is a store that another door closes.
type kept struct{ *engine.Engine }

func (kept) Close() error { return nil }

// routerOf starts what makes sharded tables of a store's plain ones.
func routerOf(t testing.TB, st store.Store) *run.Router {
	t.Helper()
	uuid := func() (u [16]byte) {
		_, _ = rand.Read(u[:]) // never fails
		return u
	}
	r := run.New(run.Options{Store: st, Now: time.Now, Timeuuid: func() [16]byte { return gocql.TimeUUID() }, UUID: uuid, IntN: mathrand.IntN, Log: logTo(t)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

// serve serves a door in this process until the test ends.
func serve(t testing.TB, st store.Store, router *run.Router) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := cqldoor.Options{Store: st, Log: logTo(t)}
	if router != nil {
		o.Router = router
	}
	door, err := cqldoor.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 2)
	go func() { served <- door.Run() }()
	go func() { served <- door.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := door.Shutdown(ctx); err != nil {
			t.Errorf("the door does not shut down: %v", err)
		}
		for range 2 {
			if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("the door ended with: %v", err)
			}
		}
		if router != nil {
			router.Close()
		}
		if err := st.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return ln.Addr().String()
}

// logTo writes warnings and errors to the test's log.
func logTo(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}
