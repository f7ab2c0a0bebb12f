// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// TestVerdictKeepsRows checks that for any rows and queries, the verdict loses no row, its
// statements parse, and the best design is not worse than a later one in the first criterion in
// which they differ.
func TestVerdictKeepsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tb := drawTable(t)
		text := drawQueries(t, tb)
		target := rapid.SampledFrom([]Target{Cassandra, Scylla, Keyspaces, DynamoDB}).Draw(t, "target")
		r := adviseCounted(t, tb, text, Options{Target: target, LocalIndex: target == DynamoDB && rapid.Bool().Draw(t, "local index")})
		v := r.Verdict
		if v == nil {
			if r.NoVerdict == "" {
				t.Fatal("no verdict, and no reason")
			}
			return
		}
		unique := make(map[string]bool)
		for _, row := range tb.rows {
			var key []string
			for _, c := range append(slices.Clone(v.PartitionKey), v.Clustering...) {
				if at := slices.Index(tb.names, c); at >= 0 {
					key = append(key, row[at])
				}
			}
			if v.Bucket != nil {
				when, _ := instantOf(row[slices.Index(tb.names, v.Bucket.Of)])
				key = append(key, when.Truncate(time.Hour).String())
			}
			unique[strings.Join(key, "\x00")] = true
		}
		if len(unique) != len(tb.rows) && !slices.Contains(v.Added, idColumn) {
			t.Errorf("%s loses %d of %d rows", v.Design, len(tb.rows)-len(unique), len(tb.rows))
		}
		if v.Strategy != "time" && (v.Shards > 1) != (v.Strategy != "none") || v.Shards < 1 {
			t.Errorf("%d shards, strategy %s", v.Shards, v.Strategy)
		}
		for _, ddl := range v.DDL {
			if target == DynamoDB {
				continue // JSON, which the encoder made
			}
			if _, err := syntax.Parse(strings.TrimSuffix(ddl, ";")); err != nil {
				t.Errorf("%v\n%s", err, ddl)
			}
		}
		for i, c := range r.Candidates {
			if i > 0 && c.WhyLost == "" {
				t.Errorf("%s has not lost for any reason", c.Design)
			}
			if i > 0 && c.RowsLost+float64(c.RowsNull) < r.Candidates[0].RowsLost+float64(r.Candidates[0].RowsNull) {
				t.Errorf("%s loses fewer rows than the best", c.Design)
			}
		}
	})
}

// drawTable makes a table of columns with few or many values.
func drawTable(t *rapid.T) *table {
	n := rapid.IntRange(1, 24).Draw(t, "rows")
	columns := rapid.IntRange(1, 4).Draw(t, "columns")
	tb := &table{}
	var kinds []int
	for c := range columns {
		tb.names = append(tb.names, fmt.Sprintf("c%d", c))
		kinds = append(kinds, rapid.IntRange(0, 3).Draw(t, "kind"))
	}
	for i := range n {
		var row []string
		for c, k := range kinds {
			v := rapid.IntRange(0, 3+c*5).Draw(t, "value")
			switch k {
			case 0:
				row = append(row, fmt.Sprintf("v%d", v))
			case 1:
				row = append(row, time.Date(2024, 1, 1+v, i%24, 0, 0, 0, time.UTC).Format(time.RFC3339))
			case 2:
				row = append(row, fmt.Sprintf("id%d", i*31%97))
			case 3:
				row = append(row, fmt.Sprint(i+1))
			}
		}
		tb.rows = append(tb.rows, row)
	}
	return tb
}

// drawQueries makes some queries on the table's columns.
func drawQueries(t *rapid.T, tb *table) string {
	var b strings.Builder
	for range rapid.IntRange(1, 4).Draw(t, "queries") {
		column := func() string { return rapid.SampledFrom(tb.names).Draw(t, "column") }
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			fmt.Fprintf(&b, "SELECT * FROM t WHERE %s = ?", column())
		case 1:
			fmt.Fprintf(&b, "SELECT * FROM t WHERE %s = ? AND %s > ?", column(), column())
		case 2:
			fmt.Fprintf(&b, "SELECT * FROM t WHERE %s = ? ORDER BY %s DESC LIMIT 5", column(), column())
		case 3:
			fmt.Fprintf(&b, "INSERT INTO t (%s) VALUES (%s)", strings.Join(tb.names, ", "), strings.Repeat("?, ", len(tb.names)-1)+"?")
		case 4:
			fmt.Fprintf(&b, "SELECT * FROM t WHERE %s IN (1, 2) AND %s = ?", column(), column())
		case 5:
			fmt.Fprintf(&b, "UPDATE t SET %s = ? WHERE %s = ?", column(), column())
		}
		if rapid.Bool().Draw(t, "rated") {
			fmt.Fprintf(&b, " -- %d/s", rapid.SampledFrom([]int{1, 100, 20_000, 5_000_000}).Draw(t, "rate"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
