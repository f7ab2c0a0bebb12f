// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// salted is a key with a number of shards, or of salts.
type salted struct {
	series
	n   int
	own bool // the number is that of the design, or one that the user gave
}

func saltsOf(details []*advice.Detail) (list []salted) {
	for i, s := range seriesOf(details) {
		d := details[i]
		s.p50, s.p99, s.most, s.partitions = figureOf(d, "bytes_p50", d.BytesP50), figureOf(d, "bytes_p99", d.BytesP99), figureOf(d, "bytes_max", d.BytesMax), figureOf(d, "partitions", d.Partitions)
		if times := d.ProjectedBytes / math.Max(1, d.BytesMax); times > 1 {
			s.p50, s.p99, s.most = s.p50.times(times), s.p99.times(times), figureOf(d, "projected_bytes_max", d.ProjectedBytes)
		}
		list = append(list, salted{s, d.Shards, !d.Variant})
	}
	return list
}

// salts plots one key with several numbers of shards or salts (what), one under the other: how large
// its partitions are, and how many requests read a whole key.
func (p *page) salts(id, caption, what string, limits []tick, list []salted) {
	list = slices.SortedFunc(slices.Values(list), func(a, b salted) int { return cmp.Compare(a.n, b.n) })
	from, to := math.Inf(1), limits[len(limits)-1].at*3
	for i := range list {
		from, to = math.Min(from, list[i].p50.value), math.Max(to, 2*list[i].most.value)
	}
	from = math.Max(1, from/3)
	const row = 28
	a := &axes{left: 64, top: 24, width: 420, height: float64(row * len(list)), x: logarithmic(from, to), y: linear(0, 1)}
	first, last := &list[0], &list[len(list)-1]
	words := fmt.Sprintf("From %s to %d %s the largest partition goes from %s to %s, and to read a whole key takes %d requests in place of %d.",
		plainNumber(first.n), last.n, what, first.most.text(sizeText), last.most.text(sizeText), last.n, first.n)
	p.figure(id, caption, words, nil, func() {
		p.open(id, 880, row*len(list)+48, words)
		p.ticksX(a, spaced(byteTicks(from, to), a))
		for _, l := range limits {
			p.limit(a, l.at, l.label)
		}
		for i, h := range []string{"largest", "hottest takes", "requests a key"} {
			p.put(fmt.Sprintf(`<text class="limit soft" x="%d" y="16" text-anchor="end">`, 610+130*i), h, "</text>\n")
		}
		for i := range list {
			d := &list[i]
			y := a.top + row*(float64(i)+0.5)
			x50, _ := a.at(d.p50.value, 0)
			x99, _ := a.at(d.p99.value, 0)
			xMax, _ := a.at(d.most.value, 0)
			class, weight := "s2", ""
			if d.own {
				class, weight = "s0", " own"
			}
			p.raw(fmt.Sprintf(`<text class="tick%s" x="%.1f" y="%.1f" text-anchor="end">N = %d</text>`, weight, a.left-8, y+4, d.n))
			p.raw(fmt.Sprintf(`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, a.left, a.left+a.width, y, y))
			p.raw(fmt.Sprintf(`<line class="range %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, class, x50, math.Max(xMax, x50+1), y, y))
			for _, x := range []float64{x50, x99} {
				p.raw(fmt.Sprintf(`<line class="stroke %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, class, x, x, y-6, y+6))
			}
			p.raw(fmt.Sprintf(`<circle class="fill %s" cx="%.1f" cy="%.1f" r="4.5"/>`, class, xMax, y))
			for j, t := range []string{about(d.most, sizeText), about(d.share(), part), count(int64(d.n))} {
				p.put(fmt.Sprintf(`<text class="tick%s" x="%d" y="%.1f" text-anchor="end">`, weight, 610+130*j, y+4), t, "</text>")
			}
			p.raw("\n")
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for i := range list {
			d := &list[i]
			rows = append(rows, []string{d.name, d.partitions.text(countText), d.p50.text(sizeText), d.p99.text(sizeText), d.most.text(sizeText), d.fullest.text(countText), d.share().text(part), count(int64(d.n))})
		}
		p.numbers("Numbers of "+what, []string{"", "Partitions", "Bytes p50", "p99", "Largest", "Rows of the largest", "Its share of the rows", "Requests a key"}, rows)
	})
}

// figureOf returns a figure of a design with its interval. name is the figure's name in JSON.
func figureOf(d *advice.Detail, name string, value float64) extent {
	i := d.Intervals.Of(name, value)
	return extent{value, i.Low, i.High}
}

// about formats a number for a place that has no room for an interval, which the table below has.
func about(e extent, format func(float64) string) string {
	if e.text(format) == format(e.value) {
		return format(e.value)
	}
	return "~" + format(e.value)
}

func plainNumber(n int) string {
	if n == 1 {
		return "one"
	}
	return fmt.Sprint(n)
}
