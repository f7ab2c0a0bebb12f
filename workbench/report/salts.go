package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// salts plots one design with several numbers of shards side by side: how large its
// partitions are, and what it costs to read all of a key.
func (p *page) salts(id string, target advice.Target, details []*advice.Detail) {
	list := slices.SortedFunc(slices.Values(details), func(a, b *advice.Detail) int { return cmp.Compare(a.Shards, b.Shards) })
	limits := sizeLimits(target)
	from, to := math.Inf(1), limits[len(limits)-1].at*3
	for _, d := range list {
		from, to = math.Min(from, d.BytesP50), math.Max(to, 2*d.BytesMax)
	}
	from = math.Max(1, from/3)
	const row = 28
	a := &axes{left: 64, top: 24, width: 420, height: float64(row * len(list)), x: logarithmic(from, to), y: linear(0, 1)}
	first, last := list[0], list[len(list)-1]
	words := fmt.Sprintf("From %s to %d shards the largest partition goes from %s to %s, and to read a whole key takes %d requests in place of %d.",
		plainNumber(first.Shards), last.Shards, sizeText(first.BytesMax), sizeText(last.BytesMax), last.Shards, first.Shards)
	p.figure(id, "The same key with several numbers of shards: partition sizes, from the median to the largest; "+limitsText(target), words, nil, func() {
		p.open(id, 880, row*len(list)+48, words)
		p.ticksX(a, spaced(byteTicks(from, to), a))
		for _, l := range limits {
			p.limit(a, l.at, l.label)
		}
		for i, h := range []string{"largest", "hottest takes", "requests a key"} {
			p.put(fmt.Sprintf(`<text class="limit soft" x="%d" y="16" text-anchor="end">`, 610+130*i), h, "</text>\n")
		}
		for i, d := range list {
			y := a.top + row*(float64(i)+0.5)
			x50, _ := a.at(d.BytesP50, 0)
			x99, _ := a.at(d.BytesP99, 0)
			xMax, _ := a.at(d.BytesMax, 0)
			class, weight := "s2", ""
			if !d.Variant {
				class, weight = "s0", " own"
			}
			p.raw(fmt.Sprintf(`<text class="tick%s" x="%.1f" y="%.1f" text-anchor="end">N = %d</text>`, weight, a.left-8, y+4, d.Shards))
			p.raw(fmt.Sprintf(`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, a.left, a.left+a.width, y, y))
			p.raw(fmt.Sprintf(`<line class="range %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, class, x50, math.Max(xMax, x50+1), y, y))
			for _, x := range []float64{x50, x99} {
				p.raw(fmt.Sprintf(`<line class="stroke %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, class, x, x, y-6, y+6))
			}
			p.raw(fmt.Sprintf(`<circle class="fill %s" cx="%.1f" cy="%.1f" r="4.5"/>`, class, xMax, y))
			for j, t := range []string{sizeText(d.BytesMax), part(d.Measured.RowSizes.Max.Value / math.Max(1, float64(d.Measured.Rows))), count(int64(d.Shards))} {
				p.put(fmt.Sprintf(`<text class="tick%s" x="%d" y="%.1f" text-anchor="end">`, weight, 610+130*j, y+4), t, "</text>")
			}
			p.raw("\n")
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for _, d := range list {
			rows = append(rows, []string{d.Name, count(int64(d.Partitions + 0.5)), sizeText(d.BytesP50), sizeText(d.BytesP99), sizeText(d.BytesMax), count(int64(d.RowsMax)), part(d.Measured.RowSizes.Max.Value / math.Max(1, float64(d.Measured.Rows))), count(int64(d.Shards))})
		}
		p.numbers("Numbers of shards", []string{"Design", "Partitions", "Bytes p50", "p99", "Largest", "Rows of the largest", "Its share of the rows", "Requests a key"}, rows)
	})
}

func plainNumber(n int) string {
	if n == 1 {
		return "one"
	}
	return fmt.Sprint(n)
}
