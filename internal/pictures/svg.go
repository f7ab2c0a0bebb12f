// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// A picture is boxes on a grid and arrows between them.
type picture struct {
	title, description string
	boxes              []box
	arrows             []arrow
}

// A box stands in a column and a row, both counted from 0; half rows are allowed.
type box struct {
	name     string // what arrows call it
	column   int
	row      float64
	packages []string // the packages that do the work, shown as the heading
	heading  string   // shown instead, where no package of this module does the work
	lines    []string // what is done there
	kind     kind
}

type kind string

const (
	outside kind = "outside" // a client or a store
	door    kind = "door"    // does I/O
	pure    kind = "pure"    // parses, plans or merges: no I/O
)

// An arrow goes from the right side of a box to the left side of another, or between
// boxes of one column from the bottom of the upper one to the top of the lower one.
type arrow struct {
	from, to, label string
}

// Lengths in pixels.
const (
	margin       = 24
	boxWidth     = 204
	columnWidth  = boxWidth + 92
	rowHeight    = 108
	headHeight   = 64
	lineHeight   = 16
	boxTop       = 24 // from a box's edge to its heading's baseline
	legendHeight = 44
)

const style = `text{fill:#1f2933;font-size:12px}.h{font-size:13px;font-weight:600}.t{font-size:16px;font-weight:600}` +
	`.m{fill:#52606d}rect{stroke:#9aa5b1}.outside{fill:#e4e7eb}.door{fill:#d3eaf3}.pure{fill:#def3ec}` +
	`path{stroke:#7b8794;fill:none;stroke-width:1.5}marker path{fill:#7b8794;stroke:none}` +
	`@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.m{fill:#9aa5b1}rect{stroke:#616e7c}` +
	`.outside{fill:#323f4b}.door{fill:#0b4f6c}.pure{fill:#17594a}}`

func (p *picture) svg() []byte {
	var b bytes.Buffer
	width, height := p.size()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" role="img" aria-labelledby="t d">`+"\n", width, height)
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>%s</style>\n", escape(p.title), escape(p.description), style)
	b.WriteString(`<marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>` + "\n")
	text(&b, margin, 32, "t", p.title)
	for _, a := range p.arrows {
		p.draw(&b, a)
	}
	for i := range p.boxes {
		p.boxes[i].draw(&b)
	}
	x := margin
	for _, k := range []struct {
		kind kind
		text string
	}{{outside, "outside of the door"}, {door, "reads and writes"}, {pure, "pure: no I/O, no clock"}} {
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="16" height="16" rx="3"/>`+"\n", k.kind, x, height-margin-12)
		text(&b, x+24, height-margin, "m", k.text)
		x += 190
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p *picture) size() (width, height int) {
	for i := range p.boxes {
		x, y, h := p.boxes[i].place()
		width, height = max(width, x+boxWidth), max(height, y+h)
	}
	return width + margin, height + legendHeight + margin
}

func (p *picture) box(name string) *box {
	for i := range p.boxes {
		if p.boxes[i].name == name {
			return &p.boxes[i]
		}
	}
	panic("the picture " + p.title + " has no box " + name)
}

func (p *picture) draw(b *bytes.Buffer, a arrow) {
	from, to := p.box(a.from), p.box(a.to)
	x, y, h := from.place()
	u, v, k := to.place()
	if from.column == to.column {
		x += boxWidth / 2
		y += h
		fmt.Fprintf(b, `<path marker-end="url(#a)" d="M%d %d L%d %d"/>`+"\n", x, y, x, v)
		text(b, x+8, (y+v)/2+4, "m", a.label)
		return
	}
	x += boxWidth
	y += h / 2
	v += k / 2
	middle := (x + u) / 2
	fmt.Fprintf(b, `<path marker-end="url(#a)" d="M%d %d C %d %d, %d %d, %d %d"/>`+"\n", x, y, middle, y, middle, v, u, v)
	if a.label != "" {
		above := 8
		if v > y {
			above = -20 // the arrow comes from above
		}
		fmt.Fprintf(b, `<text class="m" text-anchor="end" x="%d" y="%d">%s</text>`+"\n", u-14, v-above, escape(a.label))
	}
}

// place returns the box's upper left corner and its height.
func (o *box) place() (x, y, height int) {
	lines := len(o.lines) + max(1, len(o.packages))
	return margin + o.column*columnWidth, headHeight + int(o.row*rowHeight), boxTop + lines*lineHeight
}

func (o *box) draw(b *bytes.Buffer) {
	x, y, height := o.place()
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", o.kind, x, y, boxWidth, height)
	y += boxTop
	heading := o.packages
	if len(heading) == 0 {
		heading = []string{o.heading}
	}
	for _, h := range heading {
		text(b, x+12, y, "h", h)
		y += lineHeight
	}
	for _, l := range o.lines {
		text(b, x+12, y, "m", l)
		y += lineHeight
	}
}

func text(b *bytes.Buffer, x, y int, class, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, escape(s))
}

func escape(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) // bytes.Buffer does not fail
	return b.String()
}
