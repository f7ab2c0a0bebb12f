// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/shard"
)

// TestTombstoneWarnings reads many tombstones of a partition in two shards. Cassandra warns about
// each of the door's two statements; the client gets warnings about its own table.
func TestTombstoneWarnings(t *testing.T) {
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	c := session(t, serveDoor(t, st, startRouter(t, st)), 5)
	ks := fmt.Sprintf("tomb%x", random())
	exec(t, c, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, c, "CREATE TABLE "+ks+`."T" (k text, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '2'}`)
	for from := range 25 {
		var batch strings.Builder
		batch.WriteString("BEGIN UNLOGGED BATCH ")
		for n := range 100 {
			fmt.Fprintf(&batch, `DELETE FROM %s."T" WHERE k = ' (see it)' AND c = %d; `, ks, 100*from+n)
		}
		exec(t, c, batch.String()+"APPLY BATCH")
	}
	warnings := c.Query(`SELECT * FROM ` + ks + `."T" WHERE k = ' (see it)'`).Iter().Warnings()
	want := regexp.MustCompile(`^Read 0 live rows and \d+ tombstone cells for query on ` + ks + `\.T \(see tombstone_warn_threshold\)$`)
	if len(warnings) == 0 || len(warnings) > 2 {
		t.Errorf("warnings %q, want one or two", warnings)
	}
	for _, w := range warnings {
		if !want.MatchString(w) {
			t.Errorf("warning %q, want %s", w, want)
		}
	}
}

// TestStoredStatements reads texts of Cassandra about the costs of a read. Each quotes the statement;
// the client's text names the table instead.
func TestStoredStatements(t *testing.T) {
	p := &schema.Column{Name: "p", Type: value.Native(value.Text), Kind: schema.PartitionKey}
	c := &schema.Column{Name: "c", Type: value.Native(value.Int), Kind: schema.Clustering}
	logical := &schema.Table{Keyspace: "ks", Name: "t", PartitionKey: []*schema.Column{p}, Clustering: []*schema.Column{c}, Columns: map[string]*schema.Column{"p": p, "c": c}}
	layout, err := shard.Parse(map[string]string{"shards": "2"})
	if err != nil {
		t.Fatal(err)
	}
	table, err := plan.NewKept(logical, plan.Kept{Layout: layout, Physical: "stored"})
	if err != nil {
		t.Fatal(err)
	}
	e := &coordinator{needs: []need{{table: table}}}
	for in, want := range map[string]string{
		"Read 7 live rows and 2000 tombstone cells for query SELECT * FROM ks.stored WHERE p, shard = ('\n (see it)', 1) LIMIT 100; token -9 (see tombstone_warn_threshold)": "Read 7 live rows and 2000 tombstone cells for query on ks.t (see tombstone_warn_threshold)",
		"3 nodes scanned over 9 tombstones and aborted the query SELECT * FROM ks.stored WHERE shard = 1 (see tombstone_failure_threshold)":                                  "3 nodes scanned over 9 tombstones and aborted the query on ks.t (see tombstone_failure_threshold)",
		`1 nodes loaded over 9 bytes and aborted the query SELECT c FROM "k"."Else" WHERE shard = 1 (see local_read_size_fail_threshold)`:                                    "1 nodes loaded over 9 bytes and aborted the query on k.Else (see local_read_size_fail_threshold)",
		"a query SELECT FROM nothing of Cassandra's": "a query SELECT FROM nothing of Cassandra's",
		"shard is not a query":                       "shard is not a query",
	} {
		got := e.without(wire.Errorf(wire.CodeReadFailure, "%s", in))
		if got.(*wire.Error).Message != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}
