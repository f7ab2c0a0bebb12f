// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// TestRows makes the rows of every system table. Their columns must exist, their values must have
// the columns' types, and their primary keys must be complete and unique.
func TestRows(t *testing.T) {
	s := &schema.Schema{Keyspaces: Limited()}
	info := &Info{ClusterName: "c", DataCenter: "d", Rack: "r", Address: netip.MustParseAddrPort("127.0.0.1:9042")}
	tables, filled := 0, 0
	for name, ks := range s.Keyspaces {
		if !Has(name) {
			t.Errorf("Has(%s) is false", name)
		}
		for _, table := range ks.Tables {
			tables++
			rows := Rows(table, s, info)
			if len(rows) > 0 {
				filled++
			}
			seen := map[string]bool{}
			for _, r := range rows {
				key := ""
				for _, c := range append(append([]*schema.Column(nil), table.PartitionKey...), table.Clustering...) {
					if r[c.Name] == nil {
						t.Errorf("%s.%s: a row without %s", name, table.Name, c.Name)
					}
					key += fmt.Sprintf("%q ", r[c.Name])
				}
				if seen[key] {
					t.Errorf("%s.%s: two rows %s", name, table.Name, key)
				}
				seen[key] = true
				for col, v := range r {
					c := table.Columns[col]
					if c == nil {
						t.Fatalf("%s.%s has no column %s", name, table.Name, col)
					}
					if err := c.Type.Validate(v); err != nil {
						t.Errorf("%s.%s.%s: %x: %v", name, table.Name, col, v, err)
					}
				}
			}
		}
	}
	if tables < 93 || filled < 9 {
		t.Errorf("%d tables, %d of them with rows", tables, filled)
	}
}

// TestPartition checks that the row of a partition has every column, each with its type.
func TestPartition(t *testing.T) {
	limited := Limited()["system_views"].Tables
	table := limited[PartitionsTable]
	token := int64(-1)
	use := Use{1, 2, 3, 5, 4}
	r := (&Partition{
		Keyspace: "k", Table: "t", Number: 1, Mode: "PROVISIONED", From: &token, FromKey: []string{"a"}, FromClustering: []string{"b", "c"},
		Read: use, Write: use, Keys: []KeyUse{{[]string{"a", "b"}, 1, 2}, {[]string{"c"}, 3, 4}},
	}).Row()
	for name, c := range table.Columns {
		if r[name] == nil {
			t.Errorf("%s is null", name)
		}
		if err := c.Type.Validate(r[name]); err != nil {
			t.Errorf("%s: %x: %v", name, r[name], err)
		}
	}
	if len(r) != len(table.Columns) || len(limited) != len(Keyspaces()["system_views"].Tables)+1 {
		t.Errorf("%d cells of %d columns; %d views", len(r), len(table.Columns), len(limited))
	}
	if !slices.IsSortedFunc(table.Regulars, func(a, b *schema.Column) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("columns are out of order")
	}
	if r = (&Partition{}).Row(); r["from_token"] != nil || r["from_key"] != nil || table.Columns["keys"].Type.Validate(r["keys"]) != nil {
		t.Errorf("a first partition: %v", r)
	}
}

// TestTableID compares ids with those of a real Cassandra.
func TestTableID(t *testing.T) {
	for name, want := range map[string]string{
		"local":          "7ad54392bcdd35a684174e047860b377",
		"peers_v2":       "c4325fbb8e5e3bafbd070f9250ed818e",
		"size_estimates": "618f817b005f3678b8a453f3930b8e86",
	} {
		if got := fmt.Sprintf("%x", Keyspaces()["system"].Tables[name].ID); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := fmt.Sprintf("%x", Keyspaces()["system_schema"].Tables["tables"].ID); got != "afddfb9dbc1e30688056eed6c302ba09" {
		t.Errorf("system_schema.tables: %s", got)
	}
}
