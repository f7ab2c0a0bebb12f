// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// adviceOf returns a report in which every text needs escaping.
func adviceOf() *advice.Report {
	const evil = `<script>alert("&")</script>`
	return &advice.Report{
		Data: evil, Rows: 12345, BadRows: 2, Partial: true, Target: advice.Cassandra, Table: evil,
		Verdict: &advice.Verdict{
			PartitionKey: []string{evil}, Design: "((" + evil + "))", Summary: evil, Reasons: []string{evil}, Fact: evil, DDL: []string{"CREATE TABLE " + evil},
			Extras: []advice.Extra{{Kind: "table", Key: evil, Shards: 3, Why: evil}}, Bucket: &advice.BucketColumn{Name: evil, Of: evil, Type: "date", Unit: "day"},
		},
		Antipatterns: []advice.Antipattern{{Name: "hot", Columns: []string{evil}, Evidence: `"Whale-7" has 90% of the rows`}},
		HotKeys:      []advice.HotKey{{Columns: []string{evil}, Value: "Whale-7", Values: []string{"Whale-7"}, Share: 0.9}},
		Columns:      []advice.Column{{Name: evil, Type: "text", Distinct: 7, Top: "Whale-7", TopShare: 0.9, Notes: []string{evil}}},
		Queries:      []advice.QueryText{{Line: 1, Text: evil}},
		Candidates: []advice.Candidate{
			{Design: evil, RowsMax: 3, BytesMax: 5e6, Pareto: true, Headroom: 2.5, Queries: []advice.Served{{Line: 1, Service: "fan-out", Partitions: 3, Rows: 2.5, Why: evil}}},
			{Design: "second", BytesMax: 5e9, WhyLost: evil, Exceeded: []advice.Exceeded{{Severity: 3, Text: evil}}, Headroom: 10},
		},
		Assumptions: []string{evil},
	}
}

func TestAdviceHTML(t *testing.T) {
	var b bytes.Buffer
	if err := AdviceHTML(&b, adviceOf(), false); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;") {
		t.Error("not escaped")
	}
	for _, from := range []string{"src=", "href=\"http", "url(", "@import"} {
		if strings.Contains(page, from) {
			t.Errorf("it loads something: %s", from)
		}
	}
	if strings.Contains(page, "Whale") || !strings.Contains(page, "(Aaaaa-9)") {
		t.Error("a key's value is in it")
	}
	// The same report gives the same page.
	var other bytes.Buffer
	if err := AdviceHTML(&other, adviceOf(), false); err != nil {
		t.Fatal(err)
	}
	if other.String() != page {
		t.Error("the same report makes another page")
	}
	b.Reset()
	if err := AdviceHTML(&b, adviceOf(), true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Whale-7") {
		t.Error("values are not shown")
	}
	parse(t, b.String()) // checks that it is well formed
	b.Reset()
	r := adviceOf()
	r.Verdict.Statements = []advice.Statement{{Line: 1, Text: "INSERT INTO t (a) VALUES (?);", Note: "the same into the further table"}}
	if err := AdviceHTML(&b, r, true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "<li>Line 1: the same into the further table<br><code>INSERT") {
		t.Error("the note does not stand before its statement")
	}
}

func TestAdviceText(t *testing.T) {
	var b bytes.Buffer
	if err := Advice(&b, adviceOf()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"VERDICT", "The fact that would change it: ", "2 bad rows", "not all rows were read", "Whale-7: 90.0% of the rows", "exceeded", "2.5×"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	// Control characters in the data do not reach the terminal.
	r := adviceOf()
	r.HotKeys[0].Value = "a\x1b[31mb\nc"
	r.Columns[0].Top = "\x1b]0;x\x07"
	b.Reset()
	if err := Advice(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q", b.String())
	}
	r.Verdict = nil
	b.Reset()
	if err := Advice(&b, r); err != nil || !strings.Contains(b.String(), "NO VERDICT") {
		t.Error(err, b.String())
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestEstimatesCarryIntervals checks that an estimated figure has its interval and a counted one
// has none, in text and HTML.
func TestEstimatesCarryIntervals(t *testing.T) {
	r := adviceOf()
	c := &r.Candidates[0]
	c.Partitions, c.RowsP50, c.RowsP99, c.RowsMax = 90_000, 2, 3396, 38_679
	c.Intervals = advice.Intervals{"partitions": {Low: 89_100, High: 90_900}, "rows_p99": {Low: 3300, High: 3500}, "rows_lost": {Low: 0, High: 12}}
	r.Columns[0].Distinct, r.Columns[0].Low, r.Columns[0].High = 70_000, 69_000, 71_000
	r.HotKeys[0].Low, r.HotKeys[0].High = 0.89, 0.91
	var text, page bytes.Buffer
	if err := Advice(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := AdviceHTML(&page, r, false); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"text": text.String(), "HTML": page.String()} {
		for _, want := range []string{"90,000 (89,100 to 90,900)", "3,396 (3,300 to 3,500)", "38,679", "0 (0 to 12)", "70,000 (69,000 to 71,000)", "90.0% (89.0% to 91.0%)"} {
			if !strings.Contains(out, want) {
				t.Errorf("the %s has no %q", name, want)
			}
		}
		if strings.Contains(out, "38,679 (") {
			t.Errorf("the %s has an interval of what was counted", name)
		}
	}
	var j struct {
		Intervals map[string]advice.Interval `json:"intervals"`
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &j); err != nil || j.Intervals["rows_p99"] != (advice.Interval{Low: 3300, High: 3500}) || len(j.Intervals) != 3 {
		t.Errorf("JSON: %v %v", j.Intervals, err)
	}
}

// TestManyAntipatternsAreGathered checks that a table of many columns of few values has one line for
// most of them, and that no other antipattern is joined.
func TestManyAntipatternsAreGathered(t *testing.T) {
	r := &advice.Report{}
	for i := range 40 {
		r.Antipatterns = append(r.Antipatterns, advice.Antipattern{Name: "low cardinality", Columns: []string{fmt.Sprintf("attr_%02d", i)}, Severity: advice.Tempting, Evidence: "9 values"})
	}
	for range 6 {
		r.Antipatterns = append(r.Antipatterns, advice.Antipattern{Name: "hot", Columns: []string{"x"}, Severity: advice.Asked, Evidence: "x"})
	}
	list := gathered(r.Antipatterns)
	if len(list) != 4+6 || len(list[3].Columns) != 37 || list[3].Columns[36] != "attr_39" || !strings.Contains(list[3].Evidence, "37 further columns") {
		t.Errorf("%+v", list)
	}
	if few := gathered(r.Antipatterns[:4]); len(few) != 4 || few[3].Evidence != "9 values" {
		t.Errorf("four are shown one by one: %+v", few)
	}
	if len(r.Antipatterns[3].Columns) != 1 {
		t.Error("the report itself is changed")
	}
}

// TestShardsOfFewKeys checks that a report shows the tables with shards for a few keys beside the advised
// one, and says that they take its place.
func TestShardsOfFewKeys(t *testing.T) {
	r := adviceOf()
	r.Verdict.DDL = []string{"CREATE TABLE t (all keys)"}
	r.Verdict.KeyShards = &advice.KeyShards{Columns: []string{"day"}, Keys: []advice.HotOnes{{Values: []string{"x"}, Shards: 7}}, Others: 1,
		DDL: "CREATE TABLE t (no shards)", OwnName: "t_hot", OwnTable: "CREATE TABLE t_hot (7 shards)", Why: "with 7 shards for every key line 1 reads 7 partitions"}
	var text, page bytes.Buffer
	if err := Advice(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := AdviceHTML(&page, r, false); err != nil {
		t.Fatal(err)
	}
	order := regexp.MustCompile(`(?s)\(all keys\).*Or, with shards for that key alone:.*\(no shards\).*t_hot \(7 shards\)`)
	for _, shown := range []string{text.String(), page.String()} {
		if !order.MatchString(shown) {
			t.Errorf("not in this order:\n%s", shown)
		}
	}
}
