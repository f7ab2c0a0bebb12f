package difftest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/engine"
)

// doorTo serves a door in front of a cluster and returns its address.
func doorTo(t testing.TB, contact string) string {
	t.Helper()
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{contact}, Log: logTo(t)})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, st, nil)
}

// doorToEngine serves a door in front of an embedded engine of the test's own.
func doorToEngine(t testing.TB) string {
	t.Helper()
	st, err := engine.Open(t.TempDir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, st, nil)
}

// serve serves a door in this process until the test ends.
func serve(t testing.TB, st store.Store, router cqldoor.Router) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	door, err := cqldoor.New(ctx, cqldoor.Options{Store: st, Router: router, Log: logTo(t)})
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
