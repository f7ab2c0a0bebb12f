// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// advice says with which layout the table could be adopted.
func (c *placeCheck) advice() string {
	l := c.table.Layout
	highest, lowest := 0, noShard
	for _, f := range c.tried() {
		highest, lowest = max(highest, f.shard), min(lowest, f.shard)
	}
	switch {
	case highest == noShard || lowest < 0:
		return "Such a row cannot be in an adopted table; delete it, or put it into the shard where it belongs"
	case lowest == 0:
		return "evenkeel numbers shards from 1, so a table with a shard 0 cannot be adopted; create a table WITH write_sharding, and copy the rows"
	}
	if l.Strategy == shard.Random {
		return fmt.Sprintf("Give as many 'shards' as there are, or 'base' = the first shard less 1, or delete the row; the highest shard that was met is %d", highest)
	}
	if fit := c.fitting(highest); fit != "" {
		return fmt.Sprintf("All of the %d rows that were tried are where %s puts them", len(c.tried()), fit)
	}
	if n := len(c.wrong); c.rows > int64(10*n) && n < mostNamed {
		return fmt.Sprintf("The other %d rows that were read are in their places: put these rows into theirs, or delete them", c.rows-int64(n))
	}
	return "If the shards were drawn, or come from another calculation, adopt the table with 'strategy': 'random'; then a row that is in two shards counts as one, with the later of its cells"
}

// tried returns the rows that another layout must put where they are.
func (c *placeCheck) tried() []found { return slices.Concat(c.sample, c.wrong) }

// fitting returns the declaration of another layout that puts all rows which are tried where they
// are; "": none was found.
func (c *placeCheck) fitting(highest int) string {
	const fewest = 10 // rows that chance does not explain
	rows := c.tried()
	if len(rows) < fewest || !slices.ContainsFunc(rows, func(f found) bool { return f.shard != rows[0].shard }) {
		return ""
	}
	l := c.table.Layout
	ns := []int{l.N}
	for n := max(1, highest-l.Base); n <= min(shard.MaxShards, 2*(highest-l.Base)+10); n++ {
		ns = append(ns, n)
	}
	bys := [][]string{l.By, nil}
	for _, column := range c.table.Clustering {
		bys = append(bys, []string{column.Name})
	}
	for _, by := range bys {
		for _, h := range []shard.Hash{l.Hash, shard.Murmur3, shard.CodePoints} {
			for _, n := range ns {
				other := *l
				other.By, other.Hash, other.N = by, h, n
				if h == shard.CodePoints && !texts(c.table.Table, by) {
					continue
				}
				if t, err := plan.NewTable(c.table.Table, &other); err == nil && !slices.ContainsFunc(rows, func(f found) bool { return shardFor(t, f) != f.shard }) {
					return adoptionText(&other)
				}
			}
		}
	}
	return ""
}

// texts reports whether the columns by, or all clustering columns, are text.
func texts(t *schema.Table, by []string) bool {
	for _, c := range t.Clustering {
		if (len(by) == 0 || slices.Contains(by, c.Name)) && c.Type.Kind != value.Text && c.Type.Kind != value.Ascii {
			return false
		}
	}
	return true
}

// adoptionText returns the declaration with which a table is adopted.
func adoptionText(l *shard.Layout) string {
	o := l.Options()
	o["adopt"] = o["column"]
	delete(o, "column")
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, "'"+k+"': '"+strings.ReplaceAll(o[k], "'", "''")+"'")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
