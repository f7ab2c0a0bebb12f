// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// directories has the buckets of each physical table.
type directories map[string]map[int64]bool

func (d directories) Buckets(t *Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error) {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(d[t.Physical().Name])), func(b int64) bool { return b < from || b > to })
	if down {
		slices.Reverse(all)
	}
	return all[:min(limit, len(all))], nil
}

// TestSegmentsOfBoth draws rows of a partition whose table changes to, from or between buckets of time.
// The segments of a read of both places follow each other in reading order, have each row in one segment,
// with its shard under both layouts, and few buckets each. The segments of one bucket of a scan have the
// bucket's rows.
func TestSegmentsOfBoth(outer *testing.T) {
	layouts := []string{"{'strategy': 'time', 'by': 'ts', 'bucket': '1d'}", "{'strategy': 'time', 'by': 'ts', 'bucket': '2d', 'shards': '3'}",
		"{'strategy': 'time', 'by': 'ts', 'bucket': '30d', 'shards': '2'}", "{'shards': '4'}"}
	rapid.Check(outer, func(t *rapid.T) {
		typ := rapid.SampledFrom([]string{"timestamp", "date", "timeuuid"}).Draw(t, "type")
		desc := rapid.SampledFrom([]string{"ASC", "DESC"}).Draw(t, "order")
		made := func(with string) (*Table, *schema.Schema) {
			return testTable(outer, "CREATE TABLE t (k int, ts "+typ+", c int, v int, PRIMARY KEY (k, ts, c)) WITH CLUSTERING ORDER BY (ts "+desc+", c ASC) AND write_sharding = "+with)
		}
		from, known := made(rapid.SampledFrom(layouts).Draw(t, "from"))
		to, _ := made(rapid.SampledFrom(layouts).Draw(t, "to"))
		kept := []Kept{{Layout: from.Layout}, {Layout: to.Layout, Physical: "t_2"}}
		if plain := rapid.IntRange(0, 5).Draw(t, "plain"); plain < 2 {
			kept[plain].Layout = shard.Plain()
		}
		if from.Layout.Equal(to.Layout) || !Apart(kept[0].Layout, kept[1].Layout) {
			return
		}
		table, err := NewChanging(from.Table, kept[0], kept[1], reshard.Change{Step: reshard.Switching})
		if err != nil {
			t.Fatal(err)
		}
		next := table.Change.To

		kind := timeKind(from.Clustering[0].Type)
		day := func(days int) []byte { return kind.First(int64(days) * 86_400_000) }
		dir := directories{"t": {}, "t_2": {}}
		key := [][]byte{IntValue(1)}
		var rows [][][]byte
		for range rapid.IntRange(0, 60).Draw(t, "rows") {
			row := [][]byte{day(rapid.IntRange(-40, 400).Draw(t, "day")), IntValue(rapid.IntRange(0, 3).Draw(t, "c"))}
			rows = append(rows, row)
			for _, of := range []*Table{table, next} {
				if of.Timed() {
					dir[of.Physical().Name][of.BucketOf(of.ShardOfRow(key, row))] = true
				}
			}
		}
		slices.SortFunc(rows, table.Compare)
		rows = slices.CompactFunc(rows, func(a, b [][]byte) bool { return table.Compare(a, b) == 0 })

		reversed := rapid.Bool().Draw(t, "reversed")
		where := "k = 1"
		low, high := rapid.IntRange(-50, 410).Draw(t, "low"), rapid.IntRange(-50, 410).Draw(t, "high")
		bounded := typ == "timestamp" && rapid.Bool().Draw(t, "bounded")
		if bounded {
			where += fmt.Sprintf(" AND ts > %d AND ts <= %d", int64(low)*86_400_000, int64(high)*86_400_000)
		}
		text := "SELECT * FROM t WHERE " + where
		if reversed {
			text += " ORDER BY ts " + map[string]string{"ASC": "DESC", "DESC": "ASC"}[desc] + ", c DESC"
		}
		tree, a := analysed(outer, known, text)
		p, err := NewSelect(table, tree.(*syntax.Select), a.(*analysis.Select))
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Bind(&eval.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if bounded {
			ms := func(days int) []byte { return day(days) }
			rows = slices.DeleteFunc(rows, func(r [][]byte) bool {
				c := from.Clustering[0].Type
				return c.Compare(r[0], ms(low)) <= 0 || c.Compare(r[0], ms(high)) > 0
			})
		}
		if reversed {
			slices.Reverse(rows)
		}
		var after [][]byte
		if len(rows) > 0 && rapid.Bool().Draw(t, "resumes") {
			n := rapid.IntRange(0, len(rows)-1).Draw(t, "after")
			after, rows = rows[n], rows[n+1:]
		}
		left := rows
		last := false
		for s := range p.PartitionSegments(b, dir, 0, key, after) {
			if s.Err != nil || last {
				t.Fatalf("%+v after the last one", s)
			}
			last = s.Last
			for _, at := range []struct {
				of     *Table
				shards []int
			}{{next, s.Shards}, {table, s.Old}} {
				if at.of.Timed() && len(at.shards) > 2*timebucket.MostPlaces+2*at.of.Layout.N {
					t.Fatalf("a segment has %d shards of %s", len(at.shards), at.of.Layout)
				}
			}
			for len(left) > 0 && s.Slice.Contains(from.Table, left[0]) {
				if !slices.Contains(s.Shards, next.ShardOfRow(key, left[0])) || !slices.Contains(s.Old, table.ShardOfRow(key, left[0])) {
					t.Fatalf("%x is in shards %d and %d, and not in %v and %v", left[0], table.ShardOfRow(key, left[0]), next.ShardOfRow(key, left[0]), s.Old, s.Shards)
				}
				left = left[1:]
			}
			for _, r := range left {
				if s.Slice.Contains(from.Table, r) {
					t.Fatalf("%x comes too early", r)
				}
			}
		}
		if len(left) > 0 {
			t.Fatalf("rows are in no segment: %x", left)
		}

		for _, by := range []*Table{table, next} {
			if !by.Timed() {
				continue
			}
			for _, r := range rows {
				n, found := by.ShardOfRow(key, r), 0
				for s := range p.ShardSegments(b, dir, by, key, n, nil) {
					if s.Slice.Contains(from.Table, r) {
						found++
						if !slices.Contains(s.Shards, next.ShardOfRow(key, r)) || !slices.Contains(s.Old, table.ShardOfRow(key, r)) {
							t.Fatalf("of shard %d: %x is not in %v and %v", n, r, s.Old, s.Shards)
						}
					}
				}
				if found != 1 {
					t.Fatalf("%x is in %d segments of its shard", r, found)
				}
			}
		}
	})
}

// TestFirstValues compares the first value of an instant with values of instants before and after it.
func TestFirstValues(t *testing.T) {
	for _, typ := range []string{"timestamp", "date", "timeuuid"} {
		table, _ := testTable(t, "CREATE TABLE t (k int, ts "+typ+", PRIMARY KEY (k, ts)) WITH write_sharding = {'shards': '2'}")
		c := table.Clustering[0].Type
		kind := timeKind(c)
		rapid.Check(t, func(t *rapid.T) {
			v := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "value")
			switch typ {
			case "date":
				v = v[:4]
			case "timeuuid":
				v = append(v, rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "node")...)
				v[6], v[8] = v[6]&0x0f|0x10, v[8]&0x3f|0x80
			}
			if err := c.Validate(v); err != nil {
				t.Fatal(err)
			}
			is, _ := kind.Instant(v)
			first := kind.First(is)
			if at, ok := kind.Instant(first); !ok || at != is || c.Validate(first) != nil || c.Compare(v, first) < 0 {
				t.Fatalf("%x is before the first value of its instant, %x", v, first)
			}
			if is < 1<<62 && c.Compare(v, kind.First(is+86_400_000)) >= 0 && !slices.Equal(first, kind.First(is+86_400_000)) {
				t.Fatalf("%x is not before the first value of the next day", v)
			}
		})
	}
}

// TestRowsBeforeTheFirstBucket reads rows that are older than the first bucket. These rows are in that
// bucket. So a read that ends where the bucket begins must read it.
func TestRowsBeforeTheFirstBucket(outer *testing.T) {
	for _, order := range []string{"ASC", "DESC"} {
		made := func(with string) (*Table, *schema.Schema) {
			return testTable(outer, "CREATE TABLE t (k int, ts timestamp, v int, PRIMARY KEY (k, ts)) WITH CLUSTERING ORDER BY (ts "+order+") AND write_sharding = "+with)
		}
		from, known := made("{'shards': '4'}")
		to, _ := made("{'strategy': 'time', 'by': 'ts', 'bucket': '1h', 'shards': '1000'}")
		table, err := NewChanging(from.Table, Kept{Layout: from.Layout}, Kept{Layout: to.Layout, Physical: "t_2"}, reshard.Change{Step: reshard.Switching})
		if err != nil {
			outer.Fatal(err)
		}
		next := table.Change.To
		begin := to.Layout.Grid().Start(to.Layout.Grid().First())
		row := [][]byte{timebucket.Timestamp.First(begin - 1)}
		tree, a := analysed(outer, known, fmt.Sprintf("SELECT * FROM t WHERE k = 1 AND ts < %d", begin))
		p, err := NewSelect(table, tree.(*syntax.Select), a.(*analysis.Select))
		if err != nil {
			outer.Fatal(err)
		}
		b, err := p.Bind(&eval.Env{})
		if err != nil {
			outer.Fatal(err)
		}
		key, found := [][]byte{IntValue(1)}, false
		dir := directories{"t_2": {to.Layout.Grid().First(): true}}
		for s := range p.PartitionSegments(b, dir, 0, key, nil) {
			found = found || s.Err == nil && s.Slice.Contains(from.Table, row) && slices.Contains(s.Shards, next.ShardOfRow(key, row))
		}
		if !found {
			outer.Fatalf("%s: the row in shard %d is in no segment", order, next.ShardOfRow(key, row))
		}
	}
}
