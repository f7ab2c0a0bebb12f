// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/planted"
	"github.com/evenkeel/evenkeel/workbench/advice"
)

// TestAdvisedIndexRuns creates the table and the storage-attached index that a report prints on a
// real Cassandra, and executes the query that the index serves. The statement also works on the
// embedded engine, which has no index.
func TestAdvisedIndexRuns(t *testing.T) {
	keyspace := cassandra.Keyspace(t, "advisedindex")
	set := &planted.Set{
		Name: "an index",
		Rows: func() *planted.Table {
			table := &planted.Table{Names: []string{"match_id", "seq", "player", "kind"}}
			for i := range 12_000 {
				table.Rows = append(table.Rows, []string{fmt.Sprint(i / 60), fmt.Sprint(i % 60), fmt.Sprintf("p%d", i*7919%3001), []string{"move", "die"}[i*31%2]})
			}
			return table
		},
		Queries: fmt.Sprintf(`SELECT * FROM %[1]s.events WHERE match_id = ? AND seq > ? -- 800/s
SELECT * FROM %[1]s.events WHERE player = ? -- 15/s
INSERT INTO %[1]s.events (match_id, seq, player, kind) VALUES (?, ?, ?, ?) -- 18k/s`, keyspace),
	}
	r, data := advised(t, set, "cassandra")
	ways := r.Verdict.Ways
	if len(ways) != 1 || ways[0].Line != 2 || ways[0].Ways[0].DDL == "" || len(r.Verdict.DDL) != 1 {
		t.Fatalf("%s: ways %+v", r.Verdict.Design, ways)
	}
	index := ways[0].Ways[0].DDL
	engine, _, _ := start(t)
	for name, addr := range map[string]string{"cassandra": cassandra.Shared(t), "engine": engine} {
		session := connect(t, addr)
		execute(t, session, "CREATE KEYSPACE IF NOT EXISTS "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		execute(t, session, strings.TrimSuffix(r.Verdict.DDL[0], ";"))
		switch err := session.Query(strings.TrimSuffix(index, ";")).Exec(); {
		case name == "cassandra" && err != nil:
			t.Fatalf("%s: %v", index, err)
		case name == "engine" && err == nil:
			t.Errorf("the engine has an index: %s", index)
		}
		want := 0
		for i, row := range data.Rows[:2000] {
			if row[2] == "p0" {
				want++
			}
			if err := session.Query("INSERT INTO "+keyspace+".events (match_id, seq, player, kind) VALUES (?, ?, ?, ?)", i/60, i%60, row[2], row[3]).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		at := slices.IndexFunc(r.Verdict.Statements, func(s advice.Statement) bool { return s.Line == 2 })
		found := 0
		iter := session.Query(strings.TrimSuffix(r.Verdict.Statements[at].Text, ";"), "p0").Iter()
		for m := make(map[string]any); iter.MapScan(m); clear(m) {
			found++
		}
		if err := iter.Close(); err != nil || found != want || want == 0 {
			t.Errorf("%s: %s: %d rows, want %d: %v", name, r.Verdict.Statements[at].Text, found, want, err)
		}
	}
}
