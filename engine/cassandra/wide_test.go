// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// A read of the columns of a keyspace in pages makes each row once, however many columns there are:
// doors and drivers read them after each change of the schema.
func TestPagesOfColumns(t *testing.T) {
	c := newCrowd(t, 0)
	const n = 3000
	c.must("CREATE TABLE ks.wide (p int PRIMARY KEY" + numbered(n, ", c$ int", "") + ")")
	state := c.e.state.Load()
	list, err := c.e.virtualPartitions(state, state.tables[state.schema.Table("system_schema", "columns")], nil)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for i := range list {
		for k := range list[i].rows {
			row := list[i].rows[k].row
			list[i].rows[k].row = func() storage.Row { made++; return row() }
		}
	}
	for _, descending := range []bool{false, true} {
		text, got := "SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = 'ks'", map[string]bool{}
		if descending {
			text += " ORDER BY table_name DESC, column_name DESC"
		}
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
		q.Params.SetPageSize(50)
		made = 0
		pages := 0
		for last := ""; ; pages++ {
			resp := c.do(wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &q)})
			r, err := wire.ParseRows(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			for it := r.Iter(nil); it.Next(); {
				name := fmt.Sprintf("%s.%s", it.Cells[0], it.Cells[1])
				if got[name] || last != "" && (name < last) != descending {
					t.Fatalf("%s comes after %s", name, last)
				}
				got[name], last = true, name
			}
			if r.Metadata.PagingState == nil {
				break
			}
			q.Params.SetPagingState(r.Metadata.PagingState)
		}
		if want := n + 1 + 3; len(got) != want || made > want+2*pages {
			t.Errorf("%s: %d of %d rows; %d were made", text, len(got), want, made)
		}
	}
}
