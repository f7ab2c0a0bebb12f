package system

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// TestRows makes the rows of every system table: their columns exist, their
// values are of the columns' types, and their primary keys are whole and unique.
func TestRows(t *testing.T) {
	s := &schema.Schema{Keyspaces: Keyspaces()}
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
	if tables < 90 || filled < 7 {
		t.Errorf("%d tables, %d of them with rows", tables, filled)
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
