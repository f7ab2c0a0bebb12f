// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

func must(t testing.TB, c client, stmts ...string) {
	t.Helper()
	for _, s := range stmts {
		v := wire.V4
		if l, ok := c.(*local); ok {
			v = l.v
		}
		if got := run(t, c, v, s, 0); strings.HasPrefix(got, "error") {
			t.Fatalf("%s: %s", s, got)
		}
	}
}

func openOn(t testing.TB, fs vfs.FS) *Engine {
	t.Helper()
	e, err := Open("data", Options{Storage: storage.Options{FS: fs, SweepInterval: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestReopen closes an engine and opens it again: schema, data, the node's id,
// and the pages of a read that was under way.
func TestReopen(t *testing.T) {
	fs := vfs.NewMem()
	e := openOn(t, fs)
	c := newLocal(t, e, wire.V4)
	must(t, c,
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}",
		"CREATE TYPE k.inner (a int, \"B\" text)",
		"CREATE TYPE k.outer (i frozen<inner>, l frozen<list<frozen<inner>>>)",
		"CREATE TABLE k.t (p int, c text, s int static, u outer, m map<text, frozen<outer>>, d int, e int, PRIMARY KEY (p, c)) "+
			"WITH CLUSTERING ORDER BY (c DESC) AND comment = 'x' AND cdc = true AND bloom_filter_fp_chance = 0.25 AND gc_grace_seconds = 60",
		"CREATE TABLE k.n (p int PRIMARY KEY, n counter)",
		"INSERT INTO k.t (p, c, s, u, m, d) VALUES (1, 'a', 2, {i: {a: 1, \"B\": 'b'}}, {'k': {l: [{a: 2}]}}, 4)",
		"INSERT INTO k.t (p, c, d) VALUES (1, 'b', 5)",
		"ALTER TABLE k.t DROP d",
		"ALTER TABLE k.t ADD d int",
		"INSERT INTO k.t (p, c, e) VALUES (7, 'early', 7) USING TIMESTAMP 2000",
		"INSERT INTO k.t (p, c, e) VALUES (7, 'late', 7) USING TIMESTAMP 2001",
		"ALTER TABLE k.t DROP e USING TIMESTAMP 2000",
		"UPDATE k.n SET n = n + 3 WHERE p = 1",
	)
	questions := []string{
		"DESCRIBE KEYSPACE k WITH INTERNALS", "SELECT * FROM k.t", "SELECT * FROM k.n", "SELECT host_id, schema_version FROM system.local",
		"SELECT * FROM system_schema.tables WHERE keyspace_name = 'k'",
	}
	var before []string
	for _, q := range questions {
		before = append(before, run(t, c, wire.V4, q, 0))
	}
	if strings.Contains(before[1], "| 4") {
		t.Errorf("the dropped column's value shows: %s", before[1])
	}
	page := c.do(wire.Message{Op: wire.OpQuery, Body: queryBody(wire.V4, "SELECT c FROM k.t", 1, nil)})
	rows, err := wire.ParseRows(page.Body)
	if err != nil || rows.Metadata.PagingState == nil {
		t.Fatal(err, rows)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openOn(t, fs)
	defer e.Close()
	c = newLocal(t, e, wire.V4)
	for i, q := range questions {
		if got := run(t, c, wire.V4, q, 0); got != before[i] {
			t.Errorf("%s\nbefore:\n%s\nafter:\n%s", q, before[i], got)
		}
	}
	next := c.do(wire.Message{Op: wire.OpQuery, Body: queryBody(wire.V4, "SELECT c FROM k.t", 1, rows.Metadata.PagingState)})
	if rows, err = wire.ParseRows(next.Body); err != nil || rows.Count != 1 {
		t.Errorf("the page after: %v, %d rows", err, rows.Count)
	}
	must(t, c, "INSERT INTO k.t (p, c, d) VALUES (9, 'z', 9)", "ALTER TABLE k.t ADD e int")
	if got, want := run(t, c, wire.V4, "SELECT c, e FROM k.t WHERE p = 7", 0), "late | 7"; !strings.Contains(got, want) || strings.Contains(got, "early | 7") {
		t.Errorf("the column added again shows\n%s", got)
	}
	must(t, c, "DROP KEYSPACE k")
}

// TestCrash writes from several clients, takes the disk as a power failure would
// leave it, and looks for what was acknowledged by then.
func TestCrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	e := openOn(t, fs)
	c := newLocal(t, e, wire.V4)
	must(t, c,
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))",
		"CREATE TABLE k.n (p int PRIMARY KEY, n counter)",
		"CREATE TABLE k.gone (p int PRIMARY KEY)", "INSERT INTO k.gone (p) VALUES (1)", "DROP TABLE k.gone",
	)
	const writers = 8
	var acknowledged [writers]int
	var mu sync.Mutex
	var crashed *vfs.MemFS
	var kept [writers]int
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			c := newLocal(t, e, wire.V4)
			for i := range 60 {
				var stmt string
				switch i % 4 {
				case 0, 1:
					stmt = fmt.Sprintf("INSERT INTO k.t (p, c, v) VALUES (%d, %d, %d)", w, i, i)
				case 2:
					stmt = fmt.Sprintf("INSERT INTO k.t (p, c, v) VALUES (%d, %d, %d) IF NOT EXISTS", w, i, i)
				case 3:
					stmt = fmt.Sprintf("BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (%d, %d, %d); INSERT INTO k.t (p, c) VALUES (%d, %d) APPLY BATCH", w, i, i, w+100, i)
				}
				if got := run(t, c, wire.V4, stmt, 0); strings.HasPrefix(got, "error") {
					t.Errorf("%s: %s", stmt, got)
				}
				mu.Lock()
				acknowledged[w] = i + 1
				if crashed == nil && w == 0 && i == 30 {
					kept = acknowledged
					crashed = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(1, 2))})
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openOn(t, crashed)
	defer e.Close()
	c = newLocal(t, e, wire.V4)
	for w := range writers {
		for i := range kept[w] {
			got := run(t, c, wire.V4, fmt.Sprintf("SELECT v FROM k.t WHERE p = %d AND c = %d", w, i), 0)
			if !strings.HasSuffix(got, fmt.Sprintf("\n%d\n", i)) {
				t.Errorf("writer %d: row %d was acknowledged and is lost: %s", w, i, got)
			}
		}
	}
	if got := run(t, c, wire.V4, "SELECT * FROM k.gone", 0); !strings.Contains(got, "error 2200") {
		t.Errorf("the dropped table is there: %s", got)
	}
}

// TestNewerRecord refuses a schema of a later version.
func TestNewerRecord(t *testing.T) {
	fs := vfs.NewMem()
	e := openOn(t, fs)
	b := e.db.NewBatch()
	b.SetMeta(metaKeyspace+"k", []byte(`{"version": 2, "name": "k"}`))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b.Release()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open("data", Options{Storage: storage.Options{FS: fs}})
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v", err)
	}
	if _, err := Open("data", Options{Storage: storage.Options{FS: fs}}); errors.Is(err, storage.ErrInUse) {
		t.Errorf("the directory is left in use: %v", err)
	}
}

// TestDirectory opens an engine on the machine's file system.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newLocal(t, e, wire.V5)
	if got := run(t, c, wire.V5, "SELECT cluster_name FROM system.local", 0); !strings.Contains(got, "evenkeel") {
		t.Errorf("got %s", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Errorf("nothing in %s: %v", dir, err)
	}
}
