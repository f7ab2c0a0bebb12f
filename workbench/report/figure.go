// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// figure writes a plot: its caption, the drawing, one sentence that says what the drawing shows,
// and its numbers as a table, folded away.
func (p *page) figure(id, caption, words string, legend []string, draw func(), table func()) {
	p.put(`<figure aria-labelledby="`+id+`-caption">`+"\n"+`<figcaption id="`+id+`-caption">`, caption, "</figcaption>\n")
	if len(legend) > 1 {
		p.raw("<ul class=\"legend\">\n")
		for i, name := range legend {
			p.put(fmt.Sprintf(`<li><svg class="swatch" viewBox="0 0 28 8" aria-hidden="true"><line class="line s%d" x1="0" x2="28" y1="4" y2="4"/></svg>`, i), name, "</li>\n")
		}
		p.raw("</ul>\n")
	}
	draw()
	p.put(`<p class="words">`, words, "</p>\n")
	if table != nil {
		p.raw("<details><summary>The numbers</summary>\n")
		table()
		p.raw("</details>\n")
	}
	p.raw("</figure>\n")
}

// wideDrawing is the width above which a drawing is not made smaller on a narrow screen, where its
// words could not be read: the reader scrolls it.
const wideDrawing = 600

// open begins a drawing. words describe it to readers who do not see it.
func (p *page) open(id string, width, height int, words string) {
	class := ""
	if width > wideDrawing {
		class = ` class="wide"`
	}
	p.put(fmt.Sprintf(`<svg%s viewBox="0 0 %d %d" role="img" aria-labelledby="%s"><title id="%s">`, class, width, height, id, id), words, "</title>\n")
}

// longNumber is the greatest length of a number's text, with an interval.
const longNumber = 48

// numbers writes a table. The first column heads the rows. The other columns are numbers, except
// those with a text that is too long for a number.
func (p *page) numbers(label string, head []string, rows [][]string) {
	p.put(`<div class="scroll" tabindex="0" role="region" aria-label="`, label, `"><table><thead><tr>`)
	words := make([]bool, len(head)) // which may be broken into lines
	for _, row := range rows {
		for i, cell := range row {
			words[i] = words[i] || len(cell) > longNumber
		}
	}
	for i, h := range head {
		class := ` class="n"`
		if i == 0 || words[i] {
			class = ""
		}
		p.put(`<th scope="col"`+class+`>`, h, "</th>")
	}
	p.raw("</tr></thead><tbody>\n")
	for _, row := range rows {
		for i, cell := range row {
			switch {
			case i == 0:
				p.put(`<tr><th scope="row">`, cell, "</th>")
			case words[i]:
				p.put(`<td class="w">`, cell, "</td>")
			default:
				p.put(`<td class="n">`, cell, "</td>")
			}
		}
		p.raw("</tr>\n")
	}
	p.raw("</tbody></table></div>\n")
}

// axes is a rectangle to draw in, in the drawing's units.
type axes struct {
	left, top, width, height float64
	x, y                     func(float64) float64 // from a value to 0…1
}

func (a *axes) at(x, y float64) (float64, float64) {
	return a.left + a.width*a.x(x), a.top + a.height*(1-a.y(y))
}

func linear(from, to float64) func(float64) float64 {
	return func(v float64) float64 { return math.Min(1, math.Max(0, (v-from)/(to-from))) }
}

func logarithmic(from, to float64) func(float64) float64 {
	l := linear(math.Log(from), math.Log(to))
	return func(v float64) float64 { return l(math.Log(math.Max(v, from))) }
}

// tick is a mark on an axis, with its label.
type tick struct {
	at    float64
	label string
}

func (p *page) ticksY(a *axes, ticks []tick) {
	for _, t := range ticks {
		_, y := a.at(0, t.at)
		p.put(fmt.Sprintf(`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="end">`,
			a.left, a.left+a.width, y, y, a.left-7, y+4), t.label, "</text>\n")
	}
}

func (p *page) ticksX(a *axes, ticks []tick) {
	for _, t := range ticks {
		x, _ := a.at(t.at, 0)
		bottom := a.top + a.height
		p.put(fmt.Sprintf(`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="middle">`,
			x, x, bottom, bottom+4, x, bottom+17), t.label, "</text>\n")
	}
}

var percents = []tick{{0, "0%"}, {0.25, "25%"}, {0.5, "50%"}, {0.75, "75%"}, {1, "100%"}}

// limit draws the line of a limit.
func (p *page) limit(a *axes, at float64, label string) {
	x, _ := a.at(at, 0)
	p.put(fmt.Sprintf(`<line class="mark" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="limit" x="%.1f" y="%.1f" text-anchor="middle">`,
		x, x, a.top, a.top+a.height, x, a.top-6), label, "</text>\n")
}

// point is a point of a plot, in the plot's values.
type point struct{ x, y float64 }

// line draws a series through its points.
func (p *page) line(a *axes, series int, points []point) {
	var b strings.Builder
	lastX, lastY := -1.0, -1.0
	for i, v := range points {
		x, y := a.at(v.x, v.y)
		if i > 0 && i < len(points)-1 && math.Abs(x-lastX) < 0.4 && math.Abs(y-lastY) < 0.4 {
			continue
		}
		lastX, lastY = x, y
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(strconv.FormatFloat(x, 'f', 1, 64) + " " + strconv.FormatFloat(y, 'f', 1, 64))
	}
	p.raw(fmt.Sprintf(`<path class="line s%d" d="%s"/>`+"\n", series, b.String()))
}

// byteTicks returns ticks at 1, 10 and 100 of each unit from bytes to terabytes, if they are in the
// range.
func byteTicks(from, to float64) (list []tick) {
	for i, unit := range []string{"B", "KB", "MB", "GB", "TB"} {
		for _, n := range []float64{1, 10, 100} {
			if v := n * math.Pow(1024, float64(i)); v >= from && v <= to {
				list = append(list, tick{v, fmt.Sprintf("%g %s", n, unit)})
			}
		}
	}
	return list
}
