// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// htmlBars is the greatest number of bars in a plot, tableRows the greatest number of rows in a
// table.
const (
	htmlBars  = 200
	tableRows = 200
)

// keysPage writes the result of a simulation.
type keysPage struct {
	page
	r *simulation.Report
}

// HTML writes a report as one file, which has no script and loads nothing.
func HTML(out io.Writer, r *simulation.Report) error {
	p := &keysPage{page{w: bufio.NewWriter(out)}, r}
	p.begin("Partition keys on "+r.Data, "keys")
	p.put(`<p>`, fmt.Sprintf("%s over %s, %s.", counted(r.Rows, "row"), counted(int64(r.Partitions), "partition"), placement(r)))
	if r.BadRows > 0 {
		p.put(" ", passedOver(r.BadRows), "")
	}
	p.raw("</p>\n")
	if t := neighbours(r.Partitioner); t != "" {
		p.put("<p>", sentence(t), "</p>\n")
	}
	p.raw("</header>\n<main>\n")
	p.summary()
	p.sideBySide()
	p.raw("<div id=\"keys\" tabindex=\"-1\">\n")
	for i := range r.Keys {
		p.key(&r.Keys[i], i)
	}
	p.raw("</div>\n")
	p.moves()
	p.uniformity(r.Uniformity)
	return p.end()
}

// page writes HTML. It keeps the first error.
type page struct {
	w   *bufio.Writer
	err error
}

func (p *page) raw(s string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(s)
	}
}

// begin writes the beginning of a page, up to its introduction. part is the id and the name of the
// part to which the reader may skip.
func (p *page) begin(title, part string) {
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>`, title, `</title>
<style>`)
	p.raw(Style)
	p.put(`</style>
</head>
<body>
<a class="skip" href="#`, part, `">Skip to the `, part, `</a>
<header>
<h1>`, title, "</h1>\n")
}

// end writes the end of a page.
func (p *page) end() error {
	p.raw("</main>\n</body>\n</html>\n")
	return p.flush()
}

func (p *page) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// put writes markup, text, markup, text, and so on. It escapes every second argument.
func (p *page) put(parts ...string) {
	for i, s := range parts {
		if i%2 == 1 {
			s = html.EscapeString(s)
		}
		p.raw(s)
	}
}

// summary writes the table of all keys with their verdicts.
func (p *keysPage) summary() {
	p.raw(`<div class="scroll" tabindex="0" role="region" aria-labelledby="summary"><table>
<caption id="summary">The keys side by side. A max/mean of 1 is perfectly even.</caption>
<thead><tr><th scope="col">Key</th><th scope="col">Verdict</th><th scope="col">Fullest partition</th><th scope="col">Max/mean</th><th scope="col">Coefficient of variation</th><th scope="col">Chi-square p</th>`)
	limited := len(p.r.Keys) > 0 && p.r.Keys[0].Values.Over != nil
	if limited {
		p.raw(`<th scope="col">Limit</th>`)
	}
	p.raw("</tr></thead>\n<tbody>\n")
	for i := range p.r.Keys {
		k := &p.r.Keys[i]
		p.put(fmt.Sprintf(`<tr><th scope="row"><a href="#key%d">`, i), k.Key, `</a></th><td class="w">`, k.Reading(), `</td><td class="n">`, count(k.Max),
			`</td><td class="n">`, ratio(k.MaxOverMean), `</td><td class="n">`, ratio(k.CV), `</td><td class="n">`, chance(k.PValue), "</td>")
		if limited {
			class, text := limitMark(&k.Values)
			p.put(`<td class="`+class+`">`, text, "</td>")
		}
		p.raw("</tr>\n")
	}
	p.raw("</tbody></table></div>\n")
}

func (p *keysPage) key(k *simulation.KeyReport, i int) {
	p.put(fmt.Sprintf(`<section aria-labelledby="key%d">`+"\n"+`<h2 id="key%d">`, i, i), k.Key, "</h2>\n<p class=\"verdict\">", sentence(k.Reading()), "</p>\n")
	if k.Rows == 0 {
		p.values(k)
		p.raw("</section>\n")
		return
	}
	bs, each := bars(k.Sizes, "partition", htmlBars)
	caption := "Rows of each partition"
	if each > 1 {
		caption = fmt.Sprintf("Rows of partitions; each bar is the fullest of %d neighbours", each)
	}
	p.plot(fmt.Sprintf("key%d-partitions", i), caption+". The line is the mean.", bs,
		fmt.Sprintf("From %s to %s rows, %s on average.", count(k.Min), count(k.Max), ratio(k.Mean)))
	p.put("<p>", sentence(spreadText(&k.Spread)), "</p>\n")
	p.values(k)
	if k.Within != nil {
		p.put("<p>", sentence(withinText(k.Within)), "</p>\n")
	}
	p.table("Rows of each partition", "Partition", k.Sizes, k.Rows, nil)
	if n := k.Nodes; n != nil {
		bs, each := nodeBars(n, htmlBars)
		caption := fmt.Sprintf("Rows of each node, %d replicas of each row. The marks are what its part of the ring would hold", p.r.Ring.RF)
		if each > 1 {
			caption = fmt.Sprintf("Rows of nodes, %d replicas of each row; each bar is the fullest of %d neighbours. The line is the mean", p.r.Ring.RF, each)
		}
		p.plot(fmt.Sprintf("key%d-nodes", i), caption+".", bs,
			fmt.Sprintf("From %s to %s rows; the fullest has %s times the mean, where the ring alone would make %s.", count(n.Min), count(n.Max), ratio(n.MaxOverMean), ratio(n.RingMaxOverMean)))
		p.table("Rows of each node", "Node", n.Sizes, k.Rows*int64(p.r.Ring.RF), n.Ownership)
	}
	p.computed(k)
	p.raw("</section>\n")
}

// computed lists the results of the salts of a key.
func (p *keysPage) computed(k *simulation.KeyReport) {
	if len(k.Computed) == 0 {
		return
	}
	p.raw("<ul>\n")
	for _, c := range k.Computed {
		p.put("<li><code>", c.Part, "</code>: ", c.Reading()+".", "")
		if len(c.Variants) > 0 {
			p.raw("<ul>\n")
			for _, v := range c.Variants {
				p.put("<li>in its place <code>", v.Part, "</code>: ", v.Reading()+".", "</li>\n")
			}
			p.raw("</ul>")
		}
		p.raw("</li>\n")
	}
	p.raw("</ul>\n")
}

func (p *keysPage) moves() {
	if len(p.r.Moves) == 0 {
		return
	}
	p.raw(`<section aria-labelledby="moves"><h2 id="moves">When the number of salts changes</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="movescaption"><table><caption id="movescaption">Rows that change place</caption>
<thead><tr><th scope="col">Salt</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Modulo</th><th scope="col">Jump hash</th></tr></thead><tbody>
`)
	for _, m := range p.r.Moves {
		p.put(`<tr><th scope="row">`, m.Part, `</th><td class="n">`, count(int64(m.From)), `</td><td class="n">`, count(int64(m.To)),
			`</td><td class="n">`, count(m.Modulo)+" ("+share(of(m.Modulo, p.r.Rows))+")", `</td><td class="n">`, count(m.Jump)+" ("+share(of(m.Jump, p.r.Rows))+")", "</td></tr>\n")
	}
	p.raw("</tbody></table></div></section>\n")
}

// plot draws bars as SVG. Up to 24 bars lie under each other, with labels; more bars stand side by
// side. words says what the plot shows.
func (p *page) plot(id, caption string, bs []bar, words string) {
	p.put("<figure>\n<figcaption>", caption, "</figcaption>\n")
	if len(bs) <= 24 {
		p.lying(id, bs, words)
	} else {
		p.standing(id, bs, words)
	}
	p.put(`<p class="words">`, words, "</p>\n</figure>\n")
}

func (p *page) lying(id string, bs []bar, words string) {
	const label, width, row = 110, 640, 24
	most := longest(bs)
	scale := (width - label - 70) / most
	p.open(id, width, row*len(bs), words)
	for i, b := range bs {
		y, x := i*row, float64(label)+b.mark*scale
		p.put(fmt.Sprintf(`<text x="%d" y="%d" text-anchor="end">`, label-8, y+16), b.label, `</text>`)
		p.put(fmt.Sprintf(`<rect class="bar" x="%d" y="%d" width="%.1f" height="%d" rx="2"><title>`, label, y+3, float64(b.rows)*scale, row-6), b.label+": "+count(b.rows)+" rows", "</title></rect>")
		p.put(fmt.Sprintf(`<text x="%.1f" y="%d">`, float64(label)+math.Max(float64(b.rows), b.mark)*scale+6, y+16), count(b.rows), "</text>")
		p.raw(fmt.Sprintf(`<line class="mark" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n", x, x, y, y+row))
	}
	p.raw("</svg>\n")
}

func (p *page) standing(id string, bs []bar, words string) {
	const width, height = 640, 180
	most := longest(bs)
	step := float64(width) / float64(len(bs))
	p.open(id, width, height, words)
	for i, b := range bs {
		h := float64(b.rows) / most * (height - 4)
		p.put(fmt.Sprintf(`<rect class="bar" x="%.2f" y="%.1f" width="%.2f" height="%.1f"><title>`, float64(i)*step, height-h, math.Max(0.8, step-1), h), b.label+": "+count(b.rows)+" rows", "</title></rect>\n")
		y := height - b.mark/most*(height-4)
		p.raw(fmt.Sprintf(`<line class="mark" x1="%.2f" x2="%.2f" y1="%.1f" y2="%.1f"/>`, float64(i)*step, float64(i+1)*step, y, y))
	}
	p.raw("</svg>\n")
}

// table writes a plot's numbers as a table, folded away.
func (p *page) table(caption, what string, sizes []int64, rows int64, ownership []float64) {
	p.put("<details><summary>", caption+", as a table", "</summary>\n")
	p.put(`<div class="scroll" tabindex="0" role="region" aria-label="`, caption, `"><table><thead><tr><th scope="col">`, what, `</th><th scope="col">Rows</th><th scope="col">Share</th>`)
	if ownership != nil {
		p.raw(`<th scope="col">Part of the ring</th>`)
	}
	p.raw("</tr></thead><tbody>\n")
	for i, n := range sizes {
		if i == tableRows {
			break
		}
		p.put(`<tr><th scope="row">`, fmt.Sprint(i), `</th><td class="n">`, count(n), `</td><td class="n">`, share(of(n, rows)), "</td>")
		if ownership != nil {
			p.put(`<td class="n">`, share(ownership[i]), "</td>")
		}
		p.raw("</tr>\n")
	}
	p.raw("</tbody></table></div>\n")
	if len(sizes) > tableRows {
		p.put("<p>", fmt.Sprintf("The first %d of %s; --json has all.", tableRows, count(int64(len(sizes)))), "</p>\n")
	}
	p.raw("</details>\n")
}

// sentence makes a text begin with a capital and end with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:] + "."
}
