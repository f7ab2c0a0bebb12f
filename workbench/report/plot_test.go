// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// plotted returns a report with its details, from generated rows.
func plotted(t *testing.T, target advice.Target, data, asked string) *advice.Report {
	t.Helper()
	in, err := rows.OpenBytes("data.csv", []byte(data), rows.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var qs []queries.Query
	if asked != "" {
		if qs, err = queries.Parse(asked); err != nil {
			t.Fatal(err)
		}
	}
	var po profile.Options
	s, r, err := advice.Run(t.Context(), in, qs, advice.Options{Target: target}, po, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Details = s.Details()
	if err := s.Detailed(t.Context(), in, po, r.Details); err != nil {
		t.Fatal(err)
	}
	return r
}

func manyRows(n int) string {
	var b strings.Builder
	b.WriteString("<who>,at,id\n")
	for i := range n {
		who := fmt.Sprintf("secret-%d", i%40)
		if i%3 == 0 {
			who = "Very-Secret"
		}
		fmt.Fprintf(&b, "%s,2024-01-%02dT%02d:00:00Z,i%d\n", who, 1+i*27/n, i%24, i)
	}
	return b.String()
}

const secretQueries = `SELECT * FROM t WHERE "<who>" = 'Very-Secret' AND at > '2024-01-05' -- 10/s
INSERT INTO t ("<who>", at, id) VALUES (?, ?, ?) -- 3000/s
`

var numbersOfNothing = regexp.MustCompile(`NaN|[+-]Inf\b| (?:width|height|x|y)="-[0-9.]+"`)

// TestPlots checks that whatever the rows are, each plot has words, its numbers as a table, and no
// NaN or infinity.
func TestPlots(t *testing.T) {
	for name, c := range map[string]struct{ data, asked string }{
		"many":          {manyRows(5000), secretQueries},
		"no queries":    {manyRows(300), ""},
		"one row":       {"a,b\nx,1\n", "SELECT * FROM t WHERE a = ? -- 1/s\n"},
		"one partition": {"a,b\nx,1\nx,2\nx,3\n", "SELECT * FROM t WHERE a = ? -- 1/s\n"},
		"nulls":         {"a,b\n,1\n,2\nx,3\n", "SELECT * FROM t WHERE a = ? -- 1/s\n"},
		"one moment":    {"a,at\nx,2024-01-01T00:00:00Z\ny,2024-01-01T00:00:00Z\n", "SELECT * FROM t WHERE a = ? -- 1/s\n"},
	} {
		for _, target := range []advice.Target{advice.Cassandra, advice.DynamoDB, advice.Keyspaces} {
			r := plotted(t, target, c.data, c.asked)
			var b, side bytes.Buffer
			if err := AdviceHTML(&b, r, false); err != nil {
				t.Fatal(err)
			}
			if err := CompareFragment(&side, r, r.Details[:1]); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{b.String(), "<html>" + side.String() + "</html>"} {
				elements, _ := parse(t, text)
				count := make(map[string]int)
				for _, e := range elements {
					count[e.name]++
					if id := e.attr["id"]; id != "" {
						if count["#"+id]++; count["#"+id] > 1 {
							t.Errorf("%s, %s: id %s is there twice", name, target, id)
						}
					}
				}
				if count["figure"] < 2 || count["figcaption"] != count["figure"] || count["details"] != count["figure"] {
					t.Errorf("%s, %s: %d figures, %d captions, %d tables", name, target, count["figure"], count["figcaption"], count["details"])
				}
				if bad := numbersOfNothing.FindString(text); bad != "" {
					t.Errorf("%s, %s: %s", name, target, bad)
				}
			}
		}
	}
}

// TestValuesAreHidden checks that a file has no value of a key in it, unless the caller asks for
// them.
func TestValuesAreHidden(t *testing.T) {
	for _, target := range []advice.Target{advice.Cassandra, advice.DynamoDB} {
		r := plotted(t, target, manyRows(5000), secretQueries)
		for _, show := range []bool{false, true} {
			var b bytes.Buffer
			if err := AdviceHTML(&b, r, show); err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(strings.ToLower(b.String()), "secret"); has != show {
				at := strings.Index(strings.ToLower(b.String()), "secret")
				t.Errorf("%s: values are shown: %t: …%s", target, has, b.String()[max(0, at-100):min(b.Len(), at+50)])
			}
		}
	}
	h := &redactor{}
	for _, s := range []string{
		"SELECT * FROM t WHERE a = 'it''s' AND n = 4711 AND u IN (123e4567-e89b-12d3-a456-426614174000, 4712) LIMIT 20",
	} {
		if got := h.statement(s); regexp.MustCompile(`it|471|426614`).MatchString(strings.ReplaceAll(got, "LIMIT", "")) || !strings.Contains(got, "LIMIT 20") || !strings.Contains(got, "WHERE a = ") {
			t.Errorf("%s", got)
		}
	}
}

// TestHeatShades checks that the shades of a heat go in one direction. They are the same colours on
// the same background, whatever colours the reader's page has.
func TestHeatShades(t *testing.T) {
	for _, class := range []string{".heatfield", ".heat"} {
		_, rule, found := strings.Cut(Style, class+" { ")
		if rule, _, _ = strings.Cut(rule, "}"); !found || strings.Contains(rule, "var(") {
			t.Errorf("%s { %s}: another colour on a dark page", class, rule)
		}
	}
}

// TestMarks checks that a heat has a scale. Designs that lose rows or exceed a limit look different
// from the others.
func TestMarks(t *testing.T) {
	r := plotted(t, "cassandra", manyRows(5000), secretQueries)
	var b bytes.Buffer
	if err := AdviceHTML(&b, r, false); err != nil {
		t.Fatal(err)
	}
	marked := false
	for i := range r.Candidates {
		marked = marked || r.Candidates[i].RowsLost > 0
	}
	if has := strings.Contains(b.String(), `<td class="n exceeded">`); has != marked || !marked {
		t.Errorf("designs that lose rows: %t, marked: %t", marked, has)
	}
	if heats := strings.Count(b.String(), "Writes over time (from left"); heats == 0 || strings.Count(b.String(), ">1 row</text>") != heats {
		t.Errorf("%d heats, %d scales", heats, strings.Count(b.String(), ">1 row</text>"))
	}
}

// TestConcentration checks the figures of a skewed and of an even spread, which are known by
// arithmetic.
func TestConcentration(t *testing.T) {
	even := []profile.Bulk{{Count: 100, Rows: 7, Bytes: 70}}
	curve := func(sizes []profile.Bulk) []point { s := series{sizes: sizes}; return s.curve() }
	if g, f := gini(curve(even)), fullest(curve(even), 0.1); g > 1e-9 || f < 0.0999 || f > 0.1001 {
		t.Errorf("even: gini %g, fullest tenth %g", g, f)
	}
	skew := []profile.Bulk{{Count: 99, Rows: 1}, {Count: 1, Rows: 99}}
	if g, f := gini(curve(skew)), fullest(curve(skew), 0.01); g < 0.489 || g > 0.491 || f < 0.499 || f > 0.501 {
		t.Errorf("skewed: gini %g, fullest hundredth %g", g, f)
	}
	if a := above([]profile.Bulk{{Count: 3, Rows: 1, Bytes: 10}, {Count: 1, Rows: 1, Bytes: 20}}, 10); a != 0.25 {
		t.Errorf("above: %g", a)
	}
}

// TestPlotsAreAtTheRate checks that plots show partitions as large as the verdict says that the
// queries' rates make them, and that plots name designs by letters.
func TestPlotsAreAtTheRate(t *testing.T) {
	r := plotted(t, advice.Cassandra, manyRows(3000), secretQueries)
	best := &r.Candidates[0]
	if best.ProjectedBytes <= 2*best.BytesMax {
		t.Fatalf("%g bytes at the rate, %g in the data", best.ProjectedBytes, best.BytesMax)
	}
	var b bytes.Buffer
	if err := AdviceHTML(&b, r, true); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"of A have up to", "the largest has " + sizeText(best.ProjectedBytes), "at the rates of the queries", "<strong>A</strong> <code>((&lt;who&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	// The scale of the heat map has the rate of its darkest cell.
	if scale := regexp.MustCompile(`>[0-9,]+, at the queries&#39; rates [0-9.,]+ writes/s</text>`); r.Writes != 3000 || !scale.MatchString(page) {
		t.Errorf("a heat map is not at the queries' rates: %v writes/s", r.Writes)
	}
	// A design whose partitions never end has no size at a rate.
	if endless := regexp.MustCompile(`[BC] has no line: its partitions never end \(100 MB: after about [^)]*\)`); !endless.MatchString(page) || !strings.Contains(page, `<span class="exceeded">exceeds `) {
		t.Error("a design whose partitions never end looks as if they did")
	}
	for _, legend := range regexp.MustCompile(`(?s)<ul class="legend">.*?</ul>`).FindAllString(page, -1) {
		if strings.Contains(legend, "((") {
			t.Errorf("a legend has a whole design: %s", legend)
		}
	}
}
