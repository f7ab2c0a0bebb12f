package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"unicode"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// AdviceHTML writes advice as one file: no script, nothing loaded. Values of keys
// are replaced by a digest and their shape, unless show is set; salt makes the
// digests this report's own.
func AdviceHTML(out io.Writer, r *advice.Report, show bool, salt []byte) error {
	p := &page{w: bufio.NewWriter(out)}
	hide := redactor{show: show, salt: salt, r: r}
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>`, "A primary key for "+r.Data, `</title>
<style>`)
	p.raw(style + adviceStyle)
	p.raw(`</style>
</head>
<body>
<a class="skip" href="#designs">Skip to the designs</a>
<header>
`)
	p.put(`<h1>A primary key for `, r.Data, "</h1>\n")
	p.put("<p>", fmt.Sprintf("%s rows, for %s.", count(r.Rows), r.Target.Name()), "")
	if r.BadRows > 0 {
		p.put(" ", count(r.BadRows)+" bad rows were passed over.", "")
	}
	if r.Partial {
		p.put(" ", "Not all rows were read.", "")
	}
	p.raw("</p>\n</header>\n<main>\n")
	p.adviceVerdict(r)
	p.adviceRisks(r, hide)
	p.adviceDesigns(r)
	p.adviceColumns(r, hide)
	p.raw("<section aria-labelledby=\"granted\"><h2 id=\"granted\">Taken for granted</h2>\n")
	p.list(r.Assumptions)
	if !show {
		p.raw("<p class=\"words\">Values of keys are shown as a digest, which is this report's own, and their shape: A for a capital letter, a for a small one, 9 for a digit.</p>\n")
	}
	p.raw("</section>\n</main>\n</body>\n</html>\n")
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// redactor hides values of keys.
type redactor struct {
	show bool
	salt []byte
	r    *advice.Report
}

func (h redactor) value(v string) string {
	if h.show || v == "" {
		return v
	}
	sum := sha256.Sum256(append(append([]byte{}, h.salt...), v...))
	return hex.EncodeToString(sum[:4]) + " (" + shape(v) + ")"
}

// text hides the values of keys that a sentence names.
func (h redactor) text(t string) string {
	if h.show {
		return t
	}
	for _, k := range h.r.HotKeys {
		for _, v := range k.Values {
			t = strings.ReplaceAll(t, fmt.Sprintf("%.60q", v), h.value(v))
		}
	}
	return t
}

// shape is a text with its letters and digits made alike.
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

func (p *page) adviceVerdict(r *advice.Report) {
	v := r.Verdict
	p.raw("<section aria-labelledby=\"verdict\"><h2 id=\"verdict\">Verdict</h2>\n")
	if v == nil {
		p.raw("<p class=\"verdict\">No verdict: rows say how data lie, not what is asked of them.</p>\n</section>\n")
		return
	}
	p.put(`<p class="key"><code>`, v.Design, "</code></p>\n<p class=\"verdict\">", sentence(v.Summary), "</p>\n")
	p.list(v.Reasons)
	for _, e := range v.Extras {
		p.put("<p>Further "+html.EscapeString(e.Kind)+" <code>", e.Key, "</code>, ", shardsText(e.Shards)+": "+e.Why, ".</p>\n")
	}
	p.put("<p><strong>The fact that would change it:</strong> ", v.Fact, ".</p>\n")
	for _, d := range v.DDL {
		p.put(`<pre tabindex="0"><code>`, d, "</code></pre>\n")
	}
	p.raw("</section>\n")
}

func (p *page) adviceRisks(r *advice.Report, hide redactor) {
	p.raw("<section aria-labelledby=\"anti\"><h2 id=\"anti\">Antipatterns</h2>\n")
	if len(r.Antipatterns) == 0 {
		p.raw("<p>None that the data and the queries show.</p>\n")
	}
	p.raw("<ul>\n")
	for _, a := range r.Antipatterns {
		p.put("<li><strong>", a.Name, "</strong> <code>", strings.Join(a.Columns, ", "), "</code>: ", hide.text(a.Evidence), ".</li>\n")
	}
	p.raw("</ul>\n")
	if len(r.HotKeys) > 0 {
		p.raw("<h3>Hot keys</h3>\n<ul>\n")
		for _, h := range r.HotKeys {
			p.put("<li><code>", strings.Join(h.Columns, ", "), "</code> = <code>", hide.value(h.Value), "</code>: ", share(h.Share)+" of the rows", "</li>\n")
		}
		p.raw("</ul>\n")
	}
	p.raw("</section>\n")
}

// adviceDesigns is the table of designs, and the sizes of their partitions beside
// the limits.
func (p *page) adviceDesigns(r *advice.Report) {
	p.raw("<section aria-labelledby=\"designs\"><h2 id=\"designs\" tabindex=\"-1\">Designs</h2>\n")
	p.partitionPlot(r)
	p.raw(`<div class="scroll" tabindex="0" role="region" aria-labelledby="designscaption"><table><caption id="designscaption">The best first; a star: no other is better in one thing and as good in the others.</caption>
<thead><tr><th scope="col">Design</th><th scope="col">Rows lost</th><th scope="col">Queries unserved</th><th scope="col">Limits</th><th scope="col">Cost</th><th scope="col">Headroom</th><th scope="col">Partitions</th><th scope="col">Rows p50 / p99 / max</th><th scope="col">Why it lost</th></tr></thead><tbody>
`)
	for i := range r.Candidates {
		c := &r.Candidates[i]
		star := ""
		if c.Pareto {
			star = " *"
		}
		limits := "kept"
		if len(c.Exceeded) > 0 {
			var t []string
			for _, e := range c.Exceeded {
				t = append(t, e.Text)
			}
			limits = strings.Join(t, "; ")
		}
		p.put(`<tr><th scope="row"><code>`, c.Design, "</code>", star, `</th><td class="n">`, count(int64(c.RowsLost)+c.RowsNull), `</td><td class="n">`, share(c.Unserved+c.Filtered),
			"</td><td>", limits, `</td><td class="n">`, costText(&c.Cost), `</td><td class="n">`, headroomText(c.Headroom), `</td><td class="n">`, count(int64(c.Partitions+0.5)),
			`</td><td class="n">`, sizesText(c), "</td><td>", c.WhyLost, "</td></tr>\n")
	}
	p.raw("</tbody></table></div>\n")
	if len(r.Candidates) > 0 && len(r.Queries) > 0 {
		p.raw("<h3>How the best serves each query</h3>\n<ul>\n")
		for _, q := range r.Candidates[0].Queries {
			for _, given := range r.Queries {
				if given.Line == q.Line {
					p.put("<li><code>", given.Text, "</code>: ", strings.TrimSuffix(q.Service+": "+q.Why, ": "), "</li>\n")
					break
				}
			}
		}
		p.raw("</ul>\n")
	}
	p.raw("</section>\n")
}

// partitionPlot draws the largest partition of each design, in a logarithmic scale,
// with Cassandra's limits as lines.
func (p *page) partitionPlot(r *advice.Report) {
	if !r.Target.Sizes() || len(r.Candidates) == 0 {
		return
	}
	const label, width, row = 300, 860, 24
	n := min(len(r.Candidates), 12)
	largest := func(c *advice.Candidate) float64 { return math.Max(1, math.Max(c.BytesMax, c.ProjectedBytes)) }
	most := float64(advice.MaxBytes) * 10
	for i := range n {
		most = math.Max(most, largest(&r.Candidates[i]))
	}
	scale := func(b float64) float64 {
		return float64(width-label-80) * math.Log10(math.Max(1, b)) / math.Log10(most)
	}
	words := fmt.Sprintf("The best design's largest partition has %s; lines at 10 MB, which is ideal, and 100 MB, which is the most.", bytesText(largest(&r.Candidates[0])))
	p.raw("<figure>\n<figcaption>The largest partition of each design, at the rates of the queries; a step is ten times as much.</figcaption>\n")
	p.open("partitions", width, row*n+20, words)
	for i := range n {
		c := &r.Candidates[i]
		y := i * row
		p.put(fmt.Sprintf(`<text x="%d" y="%d" text-anchor="end">`, label-8, y+16), shorten(c.Design, 42), "</text>")
		p.put(fmt.Sprintf(`<rect class="bar" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`, label, y+3, scale(largest(c)), row-6))
		p.put(fmt.Sprintf(`<text x="%.1f" y="%d">`, label+scale(largest(c))+6, y+16), bytesText(largest(c)), "</text>\n")
	}
	for _, l := range []struct {
		at   float64
		name string
	}{{advice.IdealBytes, "10 MB"}, {advice.MaxBytes, "100 MB"}} {
		x := label + scale(l.at)
		p.put(fmt.Sprintf(`<line class="mark" x1="%.1f" x2="%.1f" y1="0" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">`, x, x, row*n, x, row*n+15), l.name, "</text>\n")
	}
	p.put("</svg>\n<p class=\"words\">", words, "</p>\n</figure>\n")
}

func (p *page) adviceColumns(r *advice.Report, hide redactor) {
	p.raw(`<section aria-labelledby="columns"><h2 id="columns">Columns</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="columns"><table><thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">Distinct</th><th scope="col">Null</th><th scope="col">Most frequent</th><th scope="col">Share</th><th scope="col">Notes</th></tr></thead><tbody>
`)
	for _, c := range r.Columns {
		distinct := count(int64(c.Distinct + 0.5))
		if !c.Exact {
			distinct = "about " + distinct
		}
		p.put(`<tr><th scope="row">`, c.Name, "</th><td>", c.Type, `</td><td class="n">`, distinct, `</td><td class="n">`, count(c.Nulls), "</td><td>", hide.value(shorten(c.Top, 40)),
			`</td><td class="n">`, share(c.TopShare), "</td><td>", strings.Join(c.Notes, "; "), "</td></tr>\n")
	}
	p.raw("</tbody></table></div></section>\n")
}

const adviceStyle = `
body { max-width: 62rem; } h3 { font-size: 1rem; } .key { font-size: 1.15rem; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--line); border-radius: .3rem; } code { font-family: ui-monospace, monospace; }
`
