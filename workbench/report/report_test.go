// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/orders"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// sample simulates a column whose name needs escaping everywhere.
func sample(t testing.TB, partitions int) *simulation.Report {
	t.Helper()
	o := simulation.Options{
		Partitioner: simulation.Murmur3, Partitions: partitions, Within: 150, CompareSalts: []int{200, 300},
		Ring: &simulation.Ring{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}, Detail: true,
	}
	for _, text := range []string{`"<b>""&'"`, `"<b>""&'",code_points(uuid,200)`} {
		e, err := keys.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = append(o.Keys, simulation.Key{Text: text, Expr: e})
	}
	s, err := simulation.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for r := range orders.Orders(1) {
		if err := s.AddRow(&simulation.Row{Values: []string{string(rune('a' + r.Code)), r.UUID}, Bytes: 80}); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Report()
	r.Data, r.BadRows = "<script>alert(1)</script>.csv", 3
	return r
}

func render(t testing.TB, r *simulation.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is a start tag with its attributes.
type element struct {
	name string
	attr map[string]string
}

// parse reads the page as XML. The page is XML, except for the void elements of its head.
func parse(t *testing.T, text string) (all []element, words string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta"}, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{token.Name.Local, make(map[string]string)}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			all = append(all, e)
			open = append(open, e.name)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				t.Fatalf("</%s> closes %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			words += string(token)
		}
	}
	if len(open) > 0 {
		t.Fatalf("not closed: %v", open)
	}
	return all, words
}

func TestPageStandsAlone(t *testing.T) {
	for _, partitions := range []int{1, 4, 30, 5000} {
		text := render(t, sample(t, partitions))
		elements, words := parse(t, text)
		ids, refs, svgs, tables := make(map[string]bool), []string{}, 0, 0
		for _, e := range elements {
			switch e.name {
			case "script", "link", "img", "iframe", "object", "form", "b":
				t.Errorf("%d partitions: there is a <%s>", partitions, e.name)
			case "svg":
				if e.attr["aria-hidden"] == "true" {
					continue
				}
				svgs++
				if e.attr["role"] != "img" || e.attr["aria-labelledby"] == "" {
					t.Errorf("an svg without words: %v", e.attr)
				}
			case "table":
				tables++
			case "html":
				if e.attr["lang"] != "en" {
					t.Error("the page has no language")
				}
			case "a":
				if !strings.HasPrefix(e.attr["href"], "#") {
					t.Errorf("a link out of the page: %v", e.attr)
				}
			}
			if id := e.attr["id"]; id != "" {
				if ids[id] {
					t.Errorf("id %s twice", id)
				}
				ids[id] = true
			}
			for _, a := range []string{"aria-labelledby", "href"} {
				if v := e.attr[a]; v != "" {
					refs = append(refs, strings.TrimPrefix(v, "#"))
				}
			}
			for name := range e.attr {
				if strings.HasPrefix(name, "on") || name == "src" {
					t.Errorf("attribute %s", name)
				}
			}
		}
		for _, r := range refs {
			if !ids[r] {
				t.Errorf("nothing has the id %s", r)
			}
		}
		// There are plots of each key's partitions and nodes, plots of all keys' sizes,
		// concentration and nodes, and one of a key's salts.
		if svgs != 4+3+1 || tables < 9 {
			t.Errorf("%d plots, %d tables", svgs, tables)
		}
		if bad := numbersOfNothing.FindString(text); bad != "" {
			t.Error(bad)
		}
		if regexp.MustCompile(`https?:|url\(|@import`).MatchString(text) {
			t.Error("something is loaded")
		}
		for _, want := range []string{"<script>alert(1)</script>.csv", `"<b>""&'"`, "Rows that change place", "code_points(uuid,211)", "3 bad rows", "What the keys do to the data", "10 MB", "Values of the key by size", "Rows by partition", "with several numbers of salts"} {
			if !strings.Contains(words, want) {
				t.Errorf("%d partitions: %q is missing", partitions, want)
			}
		}
		if len(text) > 400<<10 {
			t.Errorf("%d partitions: %d bytes", partitions, len(text))
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	for _, partitions := range []int{1, 24, 25, 100_000} {
		r := sample(t, partitions)
		r.Keys[0].Within = nil
		var b bytes.Buffer
		if err := Text(&b, r); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n > 100 {
			t.Errorf("%d partitions: %d lines", partitions, n)
		}
		if partitions > 24 && !strings.Contains(b.String(), "neighbours") {
			t.Error("what a bar stands for is not said")
		}
	}
}

// TestBars checks that a bar stands for the fullest of its neighbours, and no size is left out.
func TestBars(t *testing.T) {
	bs, each := bars([]int64{1, 9, 2, 3, 8}, "partition", 2)
	if each != 3 || len(bs) != 2 || bs[0].rows != 9 || bs[1].rows != 8 || bs[0].label != "partitions 0–2" || bs[1].label != "partitions 3–4" || bs[0].mark != 4.6 {
		t.Errorf("%d: %+v", each, bs)
	}
	bs, each = bars([]int64{1, 9}, "node", 2)
	if each != 1 || bs[1].label != "node 1" {
		t.Errorf("%d: %+v", each, bs)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestWriteErrorsAreReported(t *testing.T) {
	r := sample(t, 4)
	if HTML(broken{}, r) == nil || Text(broken{}, r) == nil {
		t.Error("a report that was not written is no error")
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s", n, got)
		}
	}
	for x, want := range map[float64]string{1.5971: "1.597", 12.34: "12.3", 723.6: "724", 12345: "12,345"} {
		if got := ratio(x); got != want {
			t.Errorf("ratio(%v) = %s", x, got)
		}
	}
	for x, want := range map[float64]string{0: "0.0%", 1e-6: "under 0.1%", 0.00049: "under 0.1%", 0.0006: "0.1%", 0.5: "50.0%", 0.9994: "99.9%", 0.9996: "over 99.9%", 1: "100.0%"} {
		if got := share(x); got != want {
			t.Errorf("share(%v) = %s", x, got)
		}
	}
	for p, want := range map[float64]string{0: "under 1e-15", 0.47251: "0.473", 2e-5: "2e-05", 1: "1.000"} {
		if got := chance(p); got != want {
			t.Errorf("chance(%v) = %s", p, got)
		}
	}
}

// TestValuesAreShown checks that the text and the page have the exceeded limits, the rows without a
// place, the other numbers of partitions, and the table of attributes.
func TestValuesAreShown(t *testing.T) {
	o := simulation.Options{Partitioner: simulation.Murmur3, Partitions: 4, Sweep: []int{7}, Within: -1, Limit: simulation.Limit{Rows: 900}, Attributes: []string{"code", "uuid"}}
	for _, text := range []string{"code", "code,uuid"} {
		e, err := keys.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = append(o.Keys, simulation.Key{Text: text, Expr: e})
	}
	s, err := simulation.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for r := range orders.Orders(1) {
		if err := s.AddRow(&simulation.Row{Values: []string{string(rune('a' + r.Code)), r.UUID}, Null: []bool{false, r.User == 7}, Bytes: 80}); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Report()
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	_, words := parse(t, render(t, r))
	for _, want := range []string{
		"limit of 900 rows: EXCEEDED by 2 of 11 values, with 1,920 rows", "limit of 900 rows: kept by all values",
		"11 rows have no place under this key: column uuid is null or empty", "11 values of the key; rows of one: p50 510, p99 1,010, most 1,010",
		"Bad", "only a few possible values", "many values, of similar popularity",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text has no %q", want)
		}
		if !strings.Contains(words, want) && !strings.Contains(words, strings.ToUpper(want[:1])+want[1:]) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestLimitsAreSaid checks the sentence on the values that exceed a limit: it never says that a limit
// is exceeded if none may be, and "at most" is the upper bound, rounded up.
func TestLimitsAreSaid(t *testing.T) {
	all := simulation.Figure{Value: 3_300_000, Low: 3_290_000, High: 3_310_000}
	for _, c := range []struct {
		values, held, count simulation.Figure
		want                string
	}{
		{simulation.Figure{}, simulation.Figure{}, all, "kept by all values"},
		{simulation.Figure{High: 42.2}, simulation.Figure{High: 20_300.1}, all, "no value is known to exceed it; of about 3,300,000 (3,290,000 to 3,310,000) values, at most 43 may, with at most 20,301 rows"},
		{simulation.Figure{Value: 1, Low: 1, High: 1}, simulation.Figure{Value: 1, Low: 1, High: 1}, simulation.Figure{Value: 1, Low: 1, High: 1}, "EXCEEDED by 1 of 1 value, with 1 row"},
		{simulation.Figure{Value: 22, Low: 21, High: 62}, simulation.Figure{Value: 900, Low: 800, High: 1000}, all, "EXCEEDED by about 22 (21 to 62) of about 3,300,000 (3,290,000 to 3,310,000) values, with about 900 (800 to 1,000) rows"},
	} {
		got := overText(&simulation.ValuesReport{Count: c.count, Over: &simulation.OverReport{Limit: simulation.Limit{Rows: 1, Bytes: 1 << 20}, Values: c.values, Held: c.held}})
		if want := "limit of 1 row and 1 MB: " + c.want; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestEstimatesOfSaltsHaveIntervals checks that a plot of sampled values shows that its figures are
// estimates, and that the table has their intervals.
func TestEstimatesOfSaltsHaveIntervals(t *testing.T) {
	e, err := keys.Parse("user,salt(post,8)")
	if err != nil {
		t.Fatal(err)
	}
	o := simulation.Options{Keys: []simulation.Key{{Text: "user,salt(post,8)", Expr: e}}, Partitioner: simulation.Murmur3, Partitions: 4, Within: -1, Detail: true, Limit: simulation.Limit{Bytes: 3 << 20}}
	s, err := simulation.New(o)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, rand.Uint64()))
	for i := range 60_000 {
		if err := s.AddRow(&simulation.Row{Values: []string{fmt.Sprint("u", rnd.IntN(30_000)), fmt.Sprint(i)}, Bytes: 50 + rnd.Int64N(2000)}); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Report()
	if d := r.Keys[0].Salts[0]; d.N != 1 || d.P99.Exact() || d.Most.Exact() || d.P99.Value < d.P99.Low || d.P99.Value > d.P99.High {
		t.Fatalf("%+v", d)
	}
	page := render(t, r)
	for _, want := range []string{"N = 1</th>", ">~", " to ", "the line: the limit of --limit, 3 MB", `<td class="good">kept</td>`, "<strong>A</strong> <code>user,salt(post,8)</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	salts := page[strings.Index(page, "Numbers of salts"):]
	row := salts[strings.Index(salts, "N = 1</th>"):]
	if row = row[:strings.Index(row, "</tr>")]; strings.Count(row, " to ") < 3 {
		t.Errorf("the figures of a sample have no intervals: %s", row)
	}
}

// TestSentencesBeginWithACapital checks texts whose first letter takes several bytes.
func TestSentencesBeginWithACapital(t *testing.T) {
	for text, want := range map[string]string{"": "", "a row": "A row.", "été": "Été.", "5 rows": "5 rows."} {
		if got := sentence(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 27: "AB", 52: "BA"} {
		if got := letter(i); got != want {
			t.Errorf("letter %d: %s, want %s", i, got, want)
		}
	}
}

// TestOrderIsNoSpread checks that both forms of a report say what partitioners hide that keep the
// order of keys.
func TestOrderIsNoSpread(t *testing.T) {
	r := sample(t, 4)
	for _, p := range []simulation.Partitioner{simulation.Identity, simulation.ByteOrdered, simulation.Murmur3, simulation.MD5Mod} {
		r.Partitioner = p
		var b bytes.Buffer
		if err := Text(&b, r); err != nil {
			t.Fatal(err)
		}
		const want = "keeps neighbours together: if keys grow with time"
		_, words := parse(t, render(t, r))
		if ordered := p == simulation.Identity || p == simulation.ByteOrdered; strings.Contains(b.String(), want) != ordered || strings.Contains(words, want) != ordered {
			t.Errorf("%s: %s", p, b.String()[:200])
		}
	}
}

// TestNoRowHasAPlace checks what is said of a key that is null in all rows: that, and no figure.
func TestNoRowHasAPlace(t *testing.T) {
	e, err := keys.Parse("a")
	if err != nil {
		t.Fatal(err)
	}
	s, err := simulation.New(simulation.Options{Keys: []simulation.Key{{Text: "a", Expr: e}}, Partitioner: simulation.Murmur3, Partitions: 4, Sweep: []int{7}, Within: 3, Detail: true, Limit: simulation.Limit{Rows: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.AddRow(&simulation.Row{Values: []string{""}, Null: []bool{true}}); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Report()
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := strings.Cut(b.String(), "\n\n"); got != "a: no row has a place under this key\n  3 rows have no place under this key: column a is null or empty\n" {
		t.Errorf("%q", got)
	}
	if _, words := parse(t, render(t, r)); strings.Contains(words, "p50") || strings.Contains(words, "coefficient of variation 0") || !strings.Contains(words, "No row has a place under this key.") {
		t.Errorf("%q", words)
	}
}

// TestOneRowIsSingular checks the words for one row, partition, or row without a place.
func TestOneRowIsSingular(t *testing.T) {
	var text bytes.Buffer
	if err := Text(&text, &simulation.Report{Data: "one.csv", Rows: 1, BadRows: 1, Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	if want := "one.csv: 1 row over 1 partition, "; !strings.HasPrefix(text.String(), want) || !strings.Contains(text.String(), "\n1 bad row passed over\n") {
		t.Errorf("%q does not begin with %q, or has no bad row", text.String(), want)
	}
	k := &simulation.KeyReport{Nulls: []simulation.NullReport{{Column: "code", Rows: 1}}}
	if got, want := strings.Join(valuesText(k), "\n"), "1 row has no place under this key: column code is null or empty"; !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
}
