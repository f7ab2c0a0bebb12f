// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// TestWalked holds a scan to places that have every partition: to the old ones until the
// mover begins to empty them, to the new ones from when every row is there.
func TestWalked(t *testing.T) {
	from, _ := testTable(t, "CREATE TABLE t (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	to, err := shard.Parse(map[string]string{"shards": "3", "base": "4"})
	if err != nil {
		t.Fatal(err)
	}
	for step, want := range map[reshard.Step]struct{ begins, old, new bool }{ // begins: at the old places
		reshard.Announced: {true, true, false},
		reshard.Switching: {true, true, true},
		reshard.Switched:  {false, true, true},
		reshard.Settled:   {false, true, true},
		reshard.Cleaned:   {false, false, true},
		reshard.Withdrawn: {true, true, false},
	} {
		table, err := NewChanging(from.Table, Kept{Layout: from.Layout}, Kept{Layout: to}, reshard.Change{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		p := &Select{Table: table.reads(), Change: table.Change, from: table}
		next := table.Change.To
		goesOn := func(by *Table) bool {
			walked := p.Walked(Cursor{Scan: []byte("somewhere"), Layout: by.Sum()})
			if walked != nil && walked != by {
				t.Errorf("%s: a scan that began by %s goes on by %s", step, by.Layout, walked.Layout)
			}
			return walked != nil
		}
		if begins := p.Walked(Cursor{}) == table; begins != want.begins || goesOn(table) != want.old || goesOn(next) != want.new {
			t.Errorf("%s: begins at the old places %v, goes on there %v, at the new ones %v", step, begins, goesOn(table), goesOn(next))
		}
	}
}

// TestSumOfLimits checks that a scan goes on after a change of options on which no place depends.
func TestSumOfLimits(t *testing.T) {
	logical, _ := testTable(t, "CREATE TABLE t (p int, c timestamp, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
	for _, c := range []struct {
		option, value string
		options       map[string]string
	}{
		{"keep", "60d", map[string]string{"strategy": "time", "by": "c", "bucket": "1h", "keep": "30d"}},
		{"rows", "20", map[string]string{"strategy": "rollover", "rows": "10"}},
		{"bytes", "9000", map[string]string{"strategy": "rollover", "rows": "10", "bytes": "5000"}},
		{"max", "20", map[string]string{"strategy": "rollover", "rows": "10"}},
	} {
		sum := func() uint32 {
			l, err := shard.Parse(c.options)
			if err != nil {
				t.Fatal(err)
			}
			table, err := NewTable(logical.Table, l)
			if err != nil {
				t.Fatal(err)
			}
			return table.Sum()
		}
		before := sum()
		c.options[c.option] = c.value
		if sum() != before {
			t.Errorf("another '%s' ends scans", c.option)
		}
		c.options["column"] = "salt"
		if sum() == before {
			t.Errorf("another column does not end scans")
		}
	}
}
