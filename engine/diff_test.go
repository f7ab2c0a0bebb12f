package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestLikeCassandra runs the scripts of testdata/like on a real Cassandra and on
// the engine, and demands the same answers: rows in order, metadata, error codes
// and texts, warnings. A script's statements end with a semicolon at the end of
// a line; KS stands for its keyspace; "-- page n" sets the page size from there;
// "-- differs: reason" before a statement says that its answers are known to differ.
func TestLikeCassandra(t *testing.T) {
	addr := cassandra.Shared(t)
	scripts, err := filepath.Glob("testdata/like/*.cql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".cql")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			likeCassandra(t, addr, "engine_"+name, string(text))
		})
	}
}

func likeCassandra(t *testing.T, addr, keyspace, script string) {
	theirs, ours := dial(t, addr), newLocal(t, openMemory(t), wire.V4)
	create := "CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	run(t, theirs, wire.V4, "DROP KEYSPACE IF EXISTS "+keyspace, 0)
	for _, c := range []client{theirs, ours} {
		if got := run(t, c, wire.V4, create, 0); !strings.HasPrefix(got, "CREATED") {
			t.Fatal(got)
		}
		run(t, c, wire.V4, "USE "+keyspace, 0)
	}
	defer run(t, theirs, wire.V4, "DROP KEYSPACE IF EXISTS "+keyspace, 0)
	var page int32
	differs := false
	for stmt := range strings.SplitSeq(strings.ReplaceAll(script, "KS", keyspace), ";\n") {
		for strings.HasPrefix(strings.TrimSpace(stmt), "--") {
			line, rest, _ := strings.Cut(strings.TrimSpace(stmt), "\n")
			stmt = rest
			if n, ok := strings.CutPrefix(line, "-- page "); ok {
				page = int32(n[0] - '0')
			}
			differs = differs || strings.HasPrefix(line, "-- differs: ")
		}
		stmt = strings.TrimSuffix(strings.TrimSpace(stmt), ";")
		if stmt == "" {
			continue
		}
		want, got := run(t, theirs, wire.V4, stmt, page), run(t, ours, wire.V4, stmt, page)
		if (want == got) == differs {
			t.Errorf("%s\nCassandra:\n%s\nengine:\n%s", stmt, want, got)
		}
		differs = false
	}
}
