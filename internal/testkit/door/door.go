// SPDX-License-Identifier: Apache-2.0

// Package door serves CQL on a port of this machine, for the life of a test.
//
// It imports cql/store, cqldoor and cqldoor/run.
package door

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
	"github.com/evenkeel/evenkeel/cqldoor/run"
)

// patience is how long the door may take to start and to stop, on a loaded machine.
const patience = 3 * time.Minute

// Start serves a store with a router, which turns its plain tables into sharded ones. The store is
// closed with the test.
func Start(t testing.TB, st store.Store) (addr string) {
	t.Helper()
	uuid := func() (u [16]byte) {
		_, _ = rand.Read(u[:]) // never fails
		return u
	}
	router := run.New(run.Options{Store: st, Now: time.Now, Timeuuid: func() [16]byte { return gocql.TimeUUID() }, UUID: uuid, IntN: mathrand.IntN, Log: Log(t)})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := router.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return Serve(t, st, router)
}

// Serve serves a store with that router; nil: no router, so that clients see the store's own
// tables. Both are closed with the test.
func Serve(t testing.TB, st store.Store, router *run.Router) (addr string) {
	t.Helper()
	o := cqldoor.Options{Store: st, Log: Log(t)}
	if router != nil {
		o.Router = router
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
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
		ctx, cancel := context.WithTimeout(context.Background(), patience)
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

// Log returns a logger that writes warnings and errors to the test's log.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}
