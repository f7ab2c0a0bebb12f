// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// testSchema returns a schema with the table t (p int, a int, b int, v int, PRIMARY KEY (p, a, b)).
func testSchema() *schema.Schema {
	t := &schema.Table{Keyspace: "ks", Name: "t", Columns: map[string]*schema.Column{}}
	for i, name := range []string{"p", "a", "b", "v"} {
		c := &schema.Column{Name: name, Type: value.Native(value.Int), Position: -1}
		switch i {
		case 0:
			c.Kind, c.Position, t.PartitionKey = schema.PartitionKey, 0, []*schema.Column{c}
		case 3:
			c.Kind, t.Regulars = schema.Regular, []*schema.Column{c}
		default:
			c.Kind, c.Position = schema.Clustering, i-1
			t.Clustering = append(t.Clustering, c)
		}
		t.Columns[name] = c
	}
	return &schema.Schema{Keyspaces: map[string]*schema.Keyspace{"ks": {Name: "ks", Tables: map[string]*schema.Table{"t": t}}}}
}

func bind(t interface{ Fatalf(string, ...any) }, text string) *analysis.BoundSelect {
	stmt, err := syntax.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	a, err := analysis.Analyze(stmt, testSchema(), "ks")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b, err := a.(*analysis.Select).Bind(&eval.Env{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

// row is the values of p, a, b, v.
type row [4]int32

func (r row) fetched(b *analysis.BoundSelect) eval.Cells {
	var cells eval.Cells
	for _, f := range b.Fetch {
		cells = append(cells, binary.BigEndian.AppendUint32(nil, uint32(r[slices.Index([]string{"p", "a", "b", "v"}, f.Column.Name)])))
	}
	return cells
}

// page collects a page of a result.
type page struct {
	rows []string
	most int // 0: no bound
	room int
}

func (p *page) Emit(cells [][]byte) error {
	var text []string
	for _, c := range cells {
		n := int64(0)
		for _, b := range c {
			n = n<<8 | int64(b)
		}
		text = append(text, fmt.Sprint(n))
	}
	p.rows = append(p.rows, strings.Join(text, " "))
	return nil
}
func (p *page) Full() bool           { return p.most > 0 && len(p.rows) == p.most }
func (p *page) Room(bytes int) error { p.room = bytes; return nil }

// shape reads rows page by page. Each page starts after the last row that the previous one took.
// The memory of a row is overwritten when the next row comes.
func shape(t *rapid.T, b *analysis.BoundSelect, rows []row, most int) (out []string) {
	limits, from := LimitsOf(b), 0
	for {
		p := &page{most: most}
		s := NewShaper(b, limits, p)
		taken, full := from, false
		for i := from; i < len(rows) && !full; i++ {
			next, err := More, error(nil)
			if i > 0 && rows[i][0] != rows[i-1][0] {
				next, err = s.Partition()
			}
			if next == More && err == nil {
				cells := rows[i].fetched(b)
				next, err = s.Row(cells)
				for _, c := range cells {
					clear(c)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			switch next {
			case Full:
				full = true
			case Reached:
				if err := s.End(); err != nil {
					t.Fatal(err)
				}
				return append(out, p.rows...)
			default:
				taken = i + 1
				for next == Enough && i+1 < len(rows) && rows[i+1][0] == rows[i][0] {
					i++ // the rest of the partition is not read
				}
			}
		}
		if full {
			if len(p.rows) != most {
				t.Fatalf("a page of %d rows is full with %d", most, len(p.rows))
			}
			out, limits, from = append(out, p.rows...), s.Rest(), taken
			continue
		}
		if err := s.End(); err != nil {
			t.Fatal(err)
		}
		return append(out, p.rows...)
	}
}

// plainly computes the result in memory, from its definition.
func plainly(rows []row, groupBy, perPartition, limit int, sorted, aggregated bool) (out []string) {
	type group struct {
		first row
		n     int
		sum   int64
	}
	var groups []group
	inPartition := map[int32]int{}
	for _, r := range rows {
		last := len(groups) - 1
		joins := last >= 0 && aggregated
		for i := range groupBy {
			joins = joins && groups[last].first[i] == r[i]
		}
		if !joins {
			inPartition[r[0]]++
			groups = append(groups, group{first: r})
			last++
		}
		if perPartition > 0 && inPartition[r[0]] > perPartition && (groupBy > 0 || !aggregated) {
			if !joins {
				groups = groups[:last]
			}
			continue
		}
		groups[last].n++
		groups[last].sum += int64(r[3])
	}
	if aggregated && groupBy == 0 && len(groups) == 0 {
		return []string{"0 0"}
	}
	if sorted {
		slices.SortStableFunc(groups, func(a, b group) int { return int(a.first[1] - b.first[1]) })
	}
	if limit > 0 && len(groups) > limit {
		groups = groups[:limit]
	}
	for _, g := range groups {
		if aggregated {
			out = append(out, fmt.Sprint(g.n, g.sum))
		} else {
			out = append(out, fmt.Sprint(g.first[0], g.first[1], g.first[2]))
		}
	}
	return out
}

// TestShaper compares results, whole and in pages, with their definition.
func TestShaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []row
		for p := range int32(4) {
			for a := range int32(3) {
				for b := range int32(rapid.IntRange(0, 3).Draw(t, "rows")) {
					rows = append(rows, row{p, a, b, rapid.Int32Range(0, 9).Draw(t, "v")})
				}
			}
		}
		aggregated := rapid.Bool().Draw(t, "aggregated")
		sorted := rapid.Bool().Draw(t, "sorted")
		groupBy, selected := 0, "p, a, b"
		if aggregated {
			groupBy, selected = rapid.IntRange(0, 3).Draw(t, "group by"), "count(*), sum(v)"
		}
		text := "SELECT " + selected + " FROM t WHERE p IN (0, 1, 2, 3)"
		if groupBy > 0 {
			text += " GROUP BY " + []string{"", "p", "p, a", "p, a, b"}[groupBy]
		}
		if sorted = sorted && (!aggregated || groupBy > 1); sorted {
			text += " ORDER BY a"
		}
		perPartition, limit := rapid.IntRange(0, 4).Draw(t, "per partition"), rapid.IntRange(0, 9).Draw(t, "limit")
		if aggregated && groupBy == 0 {
			perPartition = 0 // not allowed
		}
		if perPartition > 0 {
			text += fmt.Sprint(" PER PARTITION LIMIT ", perPartition)
		}
		if limit > 0 {
			text += fmt.Sprint(" LIMIT ", limit)
		}
		want := plainly(rows, groupBy, perPartition, limit, sorted, aggregated)
		most := 0
		if !sorted {
			most = rapid.IntRange(0, 5).Draw(t, "page")
		}
		if got := shape(t, bind(t, text), rows, most); !slices.Equal(got, want) {
			t.Fatalf("%s in pages of %d over %v:\n%q\n%q", text, most, rows, got, want)
		}
	})
}
