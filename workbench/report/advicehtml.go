// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// advicePage writes advice as HTML.
type advicePage struct {
	page
	r    *advice.Report
	hide *redactor
}

func advicePageOf(out io.Writer, r *advice.Report, show bool) *advicePage {
	return &advicePage{page: page{w: bufio.NewWriter(out)}, r: r, hide: &redactor{show: show, r: r}}
}

// AdviceHTML writes advice as one file, which has no script and loads nothing. It replaces values
// of keys by a number and their shape, unless show is set.
func AdviceHTML(out io.Writer, r *advice.Report, show bool) error {
	p := advicePageOf(out, r, show)
	p.begin("A primary key for "+r.Data, "designs")
	p.put("<p>", gist(r), "")
	p.raw("</p>\n</header>\n<main>\n")
	p.body()
	return p.end()
}

// AdviceFragment writes the part of AdviceHTML between its heading and its end, for a page that has
// a heading of its own.
func AdviceFragment(out io.Writer, r *advice.Report, show bool) error {
	p := advicePageOf(out, r, show)
	p.put("<p>", gist(r), "</p>\n")
	p.body()
	return p.flush()
}

func gist(r *advice.Report) string {
	t := fmt.Sprintf("%s, for %s.", counted(r.Rows, "row"), r.Target.Name())
	if r.BadRows > 0 {
		t += " " + passedOver(r.BadRows)
	}
	if r.Partial {
		t += " PARTIAL: not all rows were read."
	}
	return t
}

// body writes the verdict first, then the facts behind it.
func (p *advicePage) body() {
	p.verdict()
	p.plots()
	p.designs()
	p.risks()
	p.columns()
	p.raw("<section aria-labelledby=\"granted\"><h2 id=\"granted\">Taken for granted</h2>\n")
	p.list(p.r.Assumptions)
	if !p.hide.show {
		p.raw("<p class=\"words\">Values of keys are hidden: each has a number, by which it is known on this page, and its shape is shown: A for a capital letter, a for a small one, 9 for a digit. --show-keys shows them.</p>\n")
	}
	p.raw("</section>\n")
}

// redactor replaces values of keys by numbers, in the order in which a page names them. It uses no
// digest: a reader who has a list of values could find with a digest which of them it belongs to.
type redactor struct {
	show    bool
	r       *advice.Report
	numbers map[string]int
}

func (h *redactor) value(v string) string {
	if h.show || v == "" {
		return v
	}
	n, ok := h.numbers[v]
	if !ok {
		if h.numbers == nil {
			h.numbers = make(map[string]int)
		}
		n = len(h.numbers) + 1
		h.numbers[v] = n
	}
	return fmt.Sprintf("#%d (%s)", n, shape(v))
}

// literals matches the values in a statement: texts, UUIDs, and numbers in the place of a value.
var literals = regexp.MustCompile(`'(?:[^']|'')*'|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|([=<>(,]\s*)(-?[0-9][\w.:+-]*)`)

// statement hides the values in a statement.
func (h *redactor) statement(t string) string {
	if h.show {
		return t
	}
	return literals.ReplaceAllStringFunc(t, func(found string) string {
		m := literals.FindStringSubmatch(found)
		if m[2] != "" {
			return m[1] + h.value(m[2])
		}
		return h.value(strings.Trim(found, "'"))
	})
}

// text hides the values of keys in a sentence.
func (h *redactor) text(t string) string {
	if h.show {
		return t
	}
	for _, k := range h.r.HotKeys {
		for _, v := range k.Values {
			if named := fmt.Sprintf("%.60q", v); strings.Contains(t, named) {
				t = strings.ReplaceAll(t, named, h.value(v))
			}
		}
	}
	return t
}

// shape returns a text with each letter replaced by A or a, and each digit by 9.
func shape(v string) string {
	var b strings.Builder
	for i, c := range []rune(v) {
		if i == 24 {
			b.WriteString("…")
			break
		}
		switch {
		case unicode.IsUpper(c):
			b.WriteByte('A')
		case unicode.IsLetter(c):
			b.WriteByte('a')
		case unicode.IsDigit(c):
			b.WriteByte('9')
		case unicode.IsControl(c):
			b.WriteByte('.')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (p *page) list(items []string) {
	p.raw("<ul>\n")
	for _, t := range items {
		p.put("<li>", sentence(t), "</li>\n")
	}
	p.raw("</ul>\n")
}

func (p *advicePage) verdict() {
	v := p.r.Verdict
	p.raw("<section aria-labelledby=\"verdict\"><h2 id=\"verdict\">Verdict</h2>\n")
	if v == nil {
		p.raw("<p class=\"verdict\">No verdict: rows show how the data are spread, but not what the queries ask.</p>\n")
		p.raw("<p>Without queries any key that is unique would look good. With the statements that the table has to serve there is one; until then, here are the profile, the risks, and what each design could serve.</p>\n</section>\n")
		return
	}
	p.put(`<p class="key"><code>`, v.Design, "</code></p>\n<p class=\"verdict\">", sentence(v.Summary), "</p>\n")
	p.raw("<ul>\n")
	for _, t := range v.Reasons {
		p.put("<li>", sentence(p.hide.text(t)), "</li>\n")
	}
	p.raw("</ul>\n")
	for _, e := range v.Extras {
		p.put("<p>Further "+html.EscapeString(e.Kind)+" <code>", e.Key, "</code>, ", shardsText(e.Shards)+": "+e.Why, ".</p>\n")
		if e.Bucket != nil {
			p.put("<p>", sentence(bucketText(e.Bucket)), "</p>\n")
		}
	}
	if v.Bucket != nil {
		p.put("<p>", sentence(bucketText(v.Bucket)), "</p>\n")
	}
	for _, u := range v.Unserved {
		p.put("<p>", sentence(p.hide.text(u.Text())), "</p>\n")
	}
	if v.Cache != "" {
		p.put("<p>", sentence(v.Cache), "</p>\n")
	}
	if v.Fence != "" {
		p.put("<p>", sentence(v.Fence), "</p>\n")
	}
	if k := v.KeyShards; k != nil {
		p.put("<p>", sentence(keyShardsText(k)), "</p>\n")
		for _, hot := range k.Keys {
			if hot.Command == "" {
				if k.OwnTable != "" {
					p.put("<p>", p.hide.value(strings.Join(hot.Values, ",")), "</p>\n")
				}
				continue
			}
			command := hot.Command
			if !p.hide.show {
				command = strings.Replace(command, "'"+strings.Join(hot.Values, ",")+"'", p.hide.value(strings.Join(hot.Values, ",")), 1)
			}
			p.put(`<pre tabindex="0"><code>`, command, "</code></pre>\n")
		}
	}
	p.put("<p><strong>The fact that would change it:</strong> ", v.Fact, ".</p>\n")
	for _, d := range v.DDL {
		p.put(`<pre tabindex="0"><code>`, d, "</code></pre>\n")
	}
	if title, tables := shardsOfFew(v.KeyShards); title != "" {
		p.put("<p>", title, "</p>\n")
		for _, d := range tables {
			p.put(`<pre tabindex="0"><code>`, d, "</code></pre>\n")
		}
	}
	if len(v.Statements) > 0 {
		p.raw("<h3>The queries as they are then written</h3>\n<ul>\n")
		for _, x := range v.Statements {
			note := ""
			if x.Note != "" {
				note = ": " + x.Note
			}
			p.put(fmt.Sprintf("<li>Line %d", x.Line), note, "<br><code>", p.hide.statement(x.Text), "</code></li>\n")
		}
		p.raw("</ul>\n")
	}
	p.raw("</section>\n")
}

func (p *advicePage) risks() {
	p.raw("<section aria-labelledby=\"anti\"><h2 id=\"anti\">Antipatterns</h2>\n")
	if len(p.r.Antipatterns) == 0 {
		p.raw("<p>None that the data and the queries show.</p>\n")
	} else {
		p.raw("<ul>\n")
	}
	for _, a := range gathered(p.r.Antipatterns) {
		p.put(fmt.Sprintf(`<li class="severity%d"><strong>`, a.Severity), a.Name, "</strong> <em>"+severityText(&a)+"</em> <code>", strings.Join(a.Columns, ", "), "</code>: ", p.hide.text(a.Evidence), ".</li>\n")
	}
	if len(p.r.Antipatterns) > 0 {
		p.raw("</ul>\n")
	}
	if len(p.r.HotKeys) > 0 {
		p.raw("<h3>Hot keys</h3>\n<ul>\n")
		for _, h := range p.r.HotKeys {
			p.put("<li><code>", strings.Join(h.Columns, ", "), "</code> = <code>", p.hide.value(h.Value), "</code>: ", hotShareText(&h)+" of the rows", "</li>\n")
		}
		p.raw("</ul>\n")
	}
	p.raw("</section>\n")
}

// plots draws the designs that were measured in detail. It draws nothing if there are none.
func (p *advicePage) plots() {
	var designs, salts []*advice.Detail
	for _, d := range p.r.Details {
		if len(d.Measured.Detail.Sizes) == 0 {
			continue
		}
		if !d.Variant {
			designs = append(designs, d)
		}
		if d.Number == 0 {
			salts = append(salts, d)
		}
	}
	if len(designs) == 0 {
		return
	}
	p.raw("<section aria-labelledby=\"plots\"><h2 id=\"plots\">What the keys do to the data</h2>\n")
	p.raw("<div class=\"still\">\n") // a page with a comparison shows these plots there
	p.comparison("plot", designs)
	p.raw("</div>\n")
	if len(salts) > 1 {
		p.salts("plot-salts", "The same key with several numbers of shards: partition sizes, from the median to the largest"+rateText(salts)+"; "+limitsText(p.r.Target), "shards", sizeLimits(p.r.Target), saltsOf(salts))
	}
	for i := range p.r.Columns {
		if p.r.Columns[i].Name == p.r.EventTime {
			p.heat("plot-heat", &p.r.Columns[i], lettered(designs[:min(2, len(designs))]))
		}
	}
	p.raw("</section>\n")
}

// comparison plots several designs together.
func (p *advicePage) comparison(id string, designs []*advice.Detail) {
	p.letters(designs)
	designs = lettered(designs)
	p.raw("<div class=\"pair\">\n")
	list := seriesOf(designs)
	p.cumulative(id+"-sizes", "Partitions by size: the share that has up to so many bytes"+rateText(designs)+"; "+limitsText(p.r.Target), sizeLimits(p.r.Target), list)
	p.lorenz(id+"-lorenz", list)
	p.raw("</div>\n")
	if p.r.Target.Sizes() {
		p.nodes(id+"-nodes", designs)
	} else {
		p.hottest(id+"-hottest", designs)
	}
}

// whyText makes a sentence of why a design is not the best: "it costs 3.87 times as much".
func whyText(why string) string {
	switch first, _, _ := strings.Cut(why, " "); first {
	case "is", "has", "costs", "loses", "reads", "filters":
		return "it " + why
	}
	return why
}

// designs writes the table of designs.
func (p *advicePage) designs() {
	p.raw("<section aria-labelledby=\"designs\"><h2 id=\"designs\" tabindex=\"-1\">Designs</h2>\n")
	if p.r.Verdict == nil {
		p.couldServe()
		return
	}
	p.raw(`<div class="scroll" tabindex="0" role="region" aria-labelledby="designscaption"><table class="designs"><caption id="designscaption">The best first; a star: no other is better in one thing and as good in the others.</caption>
<thead><tr><th scope="col">Design</th><th scope="col" class="n">Rows lost</th><th scope="col" class="n">Unserved</th><th scope="col" class="n">Limits</th><th scope="col" class="n">Cost</th><th scope="col" class="n">Headroom</th><th scope="col" class="n">Partitions</th><th scope="col" class="n">Rows p50</th><th scope="col" class="n">p99</th><th scope="col" class="n">max</th></tr></thead>
`)
	for i := range p.r.Candidates {
		c := &p.r.Candidates[i]
		star := ""
		if c.Pareto {
			star = " *"
		}
		limits, mark := "kept", ""
		if len(c.Exceeded) > 0 {
			mark = " exceeded"
			limits = fmt.Sprintf("%d exceeded", len(c.Exceeded))
		}
		lost := ""
		if c.RowsLost+float64(c.RowsNull) > 0 || c.Loss != nil {
			lost = " exceeded"
		}
		p.put(`<tbody><tr><th scope="rowgroup" class="design"><code>`, c.Design, "</code>", star, `</th><td class="n`+lost+`">`, lostText(c), `</td><td class="n">`, share(c.Unserved+c.Filtered),
			`</td><td class="n`+mark+`">`, limits, `</td><td class="n">`, costText(&c.Cost), `</td><td class="n">`, headroomText(c.Headroom), `</td><td class="n">`, partitionsText(c))
		for _, n := range rowsOf(c) {
			p.put(`</td><td class="n">`, n, "")
		}
		p.raw("</td></tr>\n")
		var notes []string
		if c.WhyLost != "" {
			notes = append(notes, sentence(whyText(p.hide.text(c.WhyLost))))
		}
		for _, e := range c.Exceeded {
			if e.Text != c.WhyLost {
				notes = append(notes, sentence(e.Text))
			}
		}
		if len(notes) > 0 {
			p.put(`<tr class="note"><td colspan="10">`, strings.Join(notes, " "), "</td></tr>\n")
		}
		p.raw("</tbody>\n")
	}
	p.raw("</table></div>\n")
	if len(p.r.Candidates) > 0 && len(p.r.Queries) > 0 {
		p.raw("<h3>How the best serves each query</h3>\n<ul>\n")
		for _, q := range p.r.Candidates[0].Queries {
			for _, given := range p.r.Queries {
				if given.Line == q.Line {
					by := ""
					if q.By != "" {
						by = fmt.Sprintf("by the further %s; by this key: ", q.By)
					}
					p.put("<li><code>", p.hide.statement(given.Text), "</code>: ", by+strings.TrimSuffix(q.Service+": "+p.hide.text(q.Why), ": "), "")
					if ways := waysOf(p.r.Verdict, q.Line); len(ways) > 0 {
						p.raw("\n<ul>\n")
						for i := range ways {
							p.put("<li>", sentence(wayText(&ways[i])), "</li>\n")
						}
						p.raw("</ul>\n")
					}
					p.raw("</li>\n")
					break
				}
			}
		}
		p.raw("</ul>\n")
	}
	p.raw("</section>\n")
}

// couldServe writes the table of designs if no queries are known.
func (p *advicePage) couldServe() {
	p.raw(`<div class="scroll" tabindex="0" role="region" aria-labelledby="designscaption"><table class="designs"><caption id="designscaption">What each design could serve.</caption>
<thead><tr><th scope="col">Design</th><th scope="col" class="n">Partitions</th><th scope="col" class="n">Rows p50</th><th scope="col" class="n">p99</th><th scope="col" class="n">max</th><th scope="col" class="n">Largest</th><th scope="col">Could serve</th></tr></thead><tbody>
`)
	for i := range p.r.Candidates {
		c := &p.r.Candidates[i]
		p.put(`<tr><th scope="row" class="design"><code>`, c.Design, `</code></th><td class="n">`, partitionsText(c), "")
		for _, n := range rowsOf(c) {
			p.put(`</td><td class="n">`, n, "")
		}
		p.put(`</td><td class="n">`, bytesOf(c, bytesText)[2], `</td><td><code>`, "WHERE "+c.Serves, "</code></td></tr>\n")
	}
	p.raw("</tbody></table></div>\n</section>\n")
}

func (p *advicePage) columns() {
	p.raw(`<section aria-labelledby="columns"><h2 id="columns">Columns</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="columns"><table><thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col" class="n">Distinct</th><th scope="col" class="n">Null</th><th scope="col">Most frequent</th><th scope="col" class="n">Share</th><th scope="col">Notes</th></tr></thead><tbody>
`)
	for _, c := range p.r.Columns {
		p.put(`<tr><th scope="row">`, c.Name, "</th><td>", c.Type, `</td><td class="n">`, distinctText(&c), `</td><td class="n">`, count(c.Nulls), "</td><td>", p.hide.value(shorten(c.Top, 40)),
			`</td><td class="n">`, topShareText(&c), `</td><td class="w">`, strings.Join(c.Notes, "; "), "</td></tr>\n")
	}
	p.raw("</tbody></table></div></section>\n")
}
