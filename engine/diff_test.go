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

// TestLongKeys writes and reads keys about as long as they may be.
func TestLongKeys(t *testing.T) {
	long := func(c string, n int) string { return "'" + strings.Repeat(c, n) + "'" }
	var script strings.Builder
	script.WriteString("CREATE TABLE t (p text, c text, d text, v text, m map<text, int>, PRIMARY KEY (p, c, d));\n" +
		"CREATE TABLE u (p text, q text, PRIMARY KEY ((p, q)));\n")
	for _, key := range [][3]string{
		{long("x", 65535), "'c'", "'d'"}, {long("x", 65536), "'c'", "'d'"}, {"'p'", long("c", 65530), "'d'"},
		{"'p'", long("c", 65536), "'d'"}, {"'p'", long("c", 40000), long("d", 40000)}, {"''", "'c'", "'d'"}, {"'p'", "''", "''"},
	} {
		script.WriteString("INSERT INTO t (p, c, d, v) VALUES (" + strings.Join(key[:], ", ") + ", 'v');\n")
		script.WriteString("SELECT v FROM t WHERE p = " + key[0] + " AND c = " + key[1] + " AND d = " + key[2] + ";\n")
		script.WriteString("DELETE FROM t WHERE p = " + key[0] + " AND c = " + key[1] + ";\n")
	}
	for _, key := range [][2]string{
		{long("p", 40000), long("q", 25529)}, {long("p", 40000), long("q", 25530)}, {long("p", 40000), long("q", 40000)}, {"''", "''"},
	} {
		script.WriteString("INSERT INTO u (p, q) VALUES (" + strings.Join(key[:], ", ") + ");\n")
		script.WriteString("SELECT token(p, q) FROM u WHERE p = " + key[0] + " AND q = " + key[1] + ";\n")
	}
	script.WriteString("UPDATE t SET m[" + long("k", 70000) + "] = 1 WHERE p = 'p' AND c = 'c' AND d = 'd';\nSELECT m FROM t;\n")
	likeCassandra(t, cassandra.Shared(t), "engine_long_keys", script.String())
}
