package dynamodiff

import (
	"net/http/httptest"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/items"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/testkit/dynalite"
)

// engineDoor serves an engine in memory, for the life of the test, with so many
// requests of a fan-out at a time.
func engineDoor(t testing.TB, fanout int) Target {
	t.Helper()
	return Target{Name: "engine", URL: serveEngine(t, func(s *items.Store) dynamodoor.Store {
		router := run.New(run.Options{Backend: s, Fanout: fanout})
		if err := router.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return router
	})}
}

// bareDoor serves an engine that shards nothing, as any endpoint, for the life of
// the test.
func bareDoor(t testing.TB) Target {
	t.Helper()
	return Target{Name: "bare engine", URL: serveEngine(t, func(s *items.Store) dynamodoor.Store { return s })}
}

func serveEngine(t testing.TB, front func(*items.Store) dynamodoor.Store) string {
	t.Helper()
	return serveEngineFor(t, nil, front)
}

// serveEngineFor serves an engine to those who sign with one of the keys.
func serveEngineFor(t testing.TB, keys *accesskey.Keys, front func(*items.Store) dynamodoor.Store) string {
	t.Helper()
	db, err := storage.Open("d", storage.Options{FS: vfs.NewMem(), SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := items.Open(db, items.Options{SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	door, err := dynamodoor.New(dynamodoor.Options{Store: front(s), Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(door)
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

func judge(t testing.TB) Target {
	return Target{Name: "dynalite", URL: dynalite.Start(t)}
}
