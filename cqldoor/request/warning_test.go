// SPDX-License-Identifier: Apache-2.0

package request

import (
	"testing"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

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
	e := &Coordinator{needs: []Need{{table: table}}}
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
