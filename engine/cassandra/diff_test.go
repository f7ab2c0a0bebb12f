// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
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

// TestBatchSize warns of batches and refuses them where Cassandra does, which says
// the size.
func TestBatchSize(t *testing.T) {
	x := strings.Repeat("x", 6000)
	var script strings.Builder
	script.WriteString("CREATE TABLE t (p int, c text, v text, w text, l list<text>, m map<int, text>, st text static, PRIMARY KEY (p, c));\n" +
		"CREATE TABLE u (p int, c text, d text, v text, PRIMARY KEY (p, c, d));\nCREATE TABLE n (p int PRIMARY KEY, v text);\n" +
		"CREATE TABLE ct (p int, c text, n counter, m counter, PRIMARY KEY (p, c));\n")
	batch := func(kind string, statements ...string) {
		script.WriteString("BEGIN " + kind + " BATCH " + strings.Join(statements, " ") + " APPLY BATCH;\n")
	}
	large := "UPDATE t SET v = '" + x + "' WHERE p = 1 AND c = 'a';"
	for _, other := range []string{
		"INSERT INTO t (p, c) VALUES (2, 'a'); INSERT INTO t (p, c) VALUES (2, 'b');", "INSERT INTO t (p, c) VALUES (2, 'a'); INSERT INTO t (p, c) VALUES (2, 'a');",
		"DELETE FROM t WHERE p = 2 AND c > 'a' AND c < 'b';", "DELETE FROM t WHERE p = 2 AND c > 'a';", "DELETE FROM t WHERE p = 2;", "DELETE FROM t WHERE p = 2 AND c = 'a';",
		"DELETE FROM t WHERE p = 2; INSERT INTO t (p, c) VALUES (2, 'a');", "INSERT INTO t (p, c, st) VALUES (2, 'a', 's');", "DELETE l FROM t WHERE p = 2 AND c = 'a';",
		"UPDATE t SET l = ['a', 'b'], m = {1: 'a'} WHERE p = 2 AND c = 'a';", "DELETE m[1] FROM t WHERE p = 2 AND c = 'a';", "UPDATE t SET v = null WHERE p = 2 AND c = 'a';",
		"UPDATE t SET st = 's' WHERE p = 2; DELETE st FROM t WHERE p = 3;", "UPDATE t SET v = 'a' WHERE p = 1 AND c = 'b';",
		"UPDATE t USING TTL 100 SET w = 'q' WHERE p IN (4, 5, 6) AND c IN ('a', 'b');", "INSERT INTO n (p, v) VALUES (1, 'x');",
	} {
		batch("", large, other)
	}
	batch("", "INSERT INTO u (p, c, d, v) VALUES (1, 'aaa', 'bbbb', '"+x+"');", "DELETE FROM u WHERE p = 2 AND c = 'b';")
	batch("UNLOGGED", large, "INSERT INTO t (p, c) VALUES (2, 'a');")
	for _, kind := range []string{"", "UNLOGGED"} {
		for _, p := range []string{"1", "2"} {
			batch(kind, large, "UPDATE t SET v = '"+strings.Repeat(x, 8)+"' WHERE p = "+p+" AND c = 'b';")
		}
	}
	script.WriteString("SELECT p, c, w FROM t;\n")
	var one, two, inserts []string
	for i := range 200 {
		where := fmt.Sprintf(" WHERE p = %d AND c = 'a';", i%100)
		one, two = append(one, "UPDATE ct SET n = n + 1"+where), append(two, "UPDATE ct SET n = n + 1, m = m + 1"+where)
		inserts = append(inserts, fmt.Sprintf("INSERT INTO n (p, v) VALUES (%d, 'abcdef');", i))
	}
	batch("COUNTER", one[:100]...)
	batch("COUNTER", two[:100]...)
	batch("", inserts...)
	likeCassandra(t, cassandra.Shared(t), "engine_batch_size", script.String())
}
