package engine_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/engine"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestScripts runs the scripts of internal/difftest on a real Cassandra and on
// the engine behind a door.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("../internal/difftest/testdata/*.cql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	refusals, err := difftest.ReadRefusals("../internal/difftest/testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := []difftest.Target{
		{Name: "cassandra", Addr: cassandra.Shared(t)},
		{Name: "engine", Addr: serve(t)},
	}
	for _, path := range paths {
		script, err := difftest.ReadScript(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, v := range script.Versions {
			t.Run(fmt.Sprintf("%s/v%d", script.Name, v), func(t *testing.T) {
				base := cassandra.Keyspace(t, "e")
				var sessions []*difftest.Session
				for i, target := range all {
					s, err := difftest.Open(target, fmt.Sprintf("%s_%c", base, 'a'+i), primitive.ProtocolVersion(v))
					if err != nil {
						t.Fatal(err)
					}
					sessions = append(sessions, s)
					t.Cleanup(func() {
						if err := s.Drop(); err != nil {
							t.Error(err)
						}
					})
				}
				r := &difftest.Runner{Sessions: sessions, Refusals: refusals, Tally: &difftest.Tally{}, Report: t.Errorf}
				r.Run(script)
			})
		}
	}
}

// serve serves a door in front of an engine in memory until the test ends.
func serve(t *testing.T) string {
	t.Helper()
	e, err := engine.Open("data", engine.Options{Storage: storage.Options{FS: vfs.NewMem(), SweepInterval: -1}})
	if err != nil {
		t.Fatal(err)
	}
	door, err := cqldoor.New(t.Context(), cqldoor.Options{Store: e})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go door.Run()
	go door.Serve(ln)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := door.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}
