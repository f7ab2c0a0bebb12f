// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// TestPutUnderRollover puts a row into its place under strategy rollover, which the table gets. What expires goes to all
// shards of the key, and the rest to one that takes cells of any time. While rule BroadcastExpiring is off, all
// of it goes to one shard.
func TestPutUnderRollover(t *testing.T) {
	sharded, _ := testTable(t, plainSchema)
	key := [][]byte{IntValue(1), []byte("a")}
	of := AppendKey(nil, key)
	rolling := (*shard.Rolled)(nil).Next()
	for n, from := range []int64{2: 100, 3: shard.Always, 4: shard.Always} {
		if n > 1 {
			rolling.Announce(of, n, from)
			rolling.Open(of, n)
		}
	}
	to := &shard.Layout{Strategy: shard.Rollover, N: 1, Column: "shard", Fill: shard.Fill{Rows: 10}, Max: 9, Rolled: rolling.Done()}
	table, err := NewChanging(sharded.Table, Kept{Layout: sharded.Layout}, Kept{Layout: to, Physical: "t_2"}, reshard.Change{Step: reshard.Switching, Started: 1000})
	if err != nil {
		t.Fatal(err)
	}
	c := table.Change
	places := func(ms []Mutation) (out []int) {
		for _, m := range ms {
			out = append(out, m.Shard)
		}
		return out
	}
	used := map[int]bool{}
	for i := range 50 {
		m := c.Moved(key, [][]byte{IntValue(i)})
		if m.New != (Place{AnyShard, true}) {
			t.Fatalf("the new place is %+v", m.New)
		}
		cells := Picture{There: true, Cells: make([]Cell, len(table.Regulars))}
		cells.Cells[0] = Cell{Value: []byte("x"), Time: 7}
		one := places(c.Put(&m, m.New, cells, true, 5, 0))
		if len(one) != 2 || one[0] != one[1] {
			t.Fatalf("what stays is put into the shards %v", one)
		}
		used[one[0]] = true
		cells.Cells[0].TTL = 60
		if got := places(c.Put(&m, m.New, cells, true, 5, 0)); !reflect.DeepEqual(got, []int{one[0], 1, 3, 4}) {
			t.Errorf("a marker that stays, and a cell that expires, are put into %v", got)
		}
		if got := places(c.Put(&m, m.New, cells, true, 5, 60)); !reflect.DeepEqual(got, []int{1, 1, 3, 3, 4, 4}) {
			t.Errorf("a marker and a cell that expire are put into %v", got)
		}
		cells.Cells[0].Time = 100
		if got := places(c.Put(&m, m.New, cells, true, 5, 60)); !reflect.DeepEqual(got, []int{1, 1, 2, 3, 3, 4, 4}) {
			t.Errorf("a cell from the opening of shard 2, and an older marker, are put into %v", got)
		}
		cells.Cells[0].Time = 7
		restore := rule.Off(rule.BroadcastExpiring)
		if got := places(c.Put(&m, m.New, cells, false, 5, 0)); !reflect.DeepEqual(got, one[:1]) {
			t.Errorf("without the rule it is put into %v", got)
		}
		restore()
		if got := c.Partitions(key, m.New); len(got) != 4 || !got[3].Second {
			t.Errorf("its partitions are %v", got)
		}
	}
	if !reflect.DeepEqual(used, map[int]bool{1: true, 3: true, 4: true}) {
		t.Errorf("rows are put into the shards %v; shard 2 takes no old cells", used)
	}
}
