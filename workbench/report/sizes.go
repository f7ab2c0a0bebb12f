// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// sizeLimits returns the sizes of partitions that matter in a store.
func sizeLimits(t advice.Target) []tick {
	if t.Sizes() {
		return []tick{{advice.IdealBytes, "10 MB"}, {advice.MaxBytes, "100 MB"}}
	}
	return []tick{{capacity.CollectionBytes, "10 GB"}}
}

// limitsText says what the lines of sizeLimits mean.
func limitsText(t advice.Target) string {
	if t.Sizes() {
		return "the lines: 10 MB is ideal, 100 MB the most"
	}
	return "the line: at 10 GB the store parts what has a sort key"
}

// cumulative plots the cumulative distribution of the partitions' sizes.
func (p *page) cumulative(id, caption string, limits []tick, list []series) {
	from, to := math.Inf(1), limits[len(limits)-1].at*3
	for i := range list {
		s := byBytes(list[i].sizes)
		from, to = math.Min(from, s[0].Bytes), math.Max(to, 2*s[len(s)-1].Bytes)
	}
	from = math.Max(1, from/2)
	a := &axes{left: 44, top: 22, width: 520, height: 210, x: logarithmic(from, to), y: linear(0, 1)}
	best := &list[0]
	most := limits[len(limits)-1]
	words := fmt.Sprintf("Half of the partitions of %s have up to %s, 99 of 100 up to %s, and the largest has %s: %s.",
		best.name, best.p50.text(sizeText), best.p99.text(sizeText), best.most.text(sizeText), ofLimit(best.most, most.at))
	if best.partitions.value < 1.5 {
		words = fmt.Sprintf("%s has one partition, of %s: %s.", best.name, best.most.text(sizeText), ofLimit(best.most, most.at))
	}
	if best.bounds != nil {
		words += " The field around the line is where it is with 99% confidence: the partitions that were read are a sample."
	}
	for i := range list {
		s := &list[i]
		switch {
		case s.endless == "":
		case i == 0:
			words += fmt.Sprintf(" Its partitions never end (%s): the line is what is in the data.", s.endless)
		default:
			words += fmt.Sprintf(" %s has no line: its partitions never end (%s).", s.name, s.endless)
		}
	}
	p.figure(id, caption, words, names(list), func() {
		p.open(id, 580, 258, words)
		p.ticksY(a, percents)
		p.ticksX(a, spaced(byteTicks(from, to), a))
		for _, l := range limits {
			p.limit(a, l.at, l.label)
		}
		for i := len(list) - 1; i >= 0; i-- {
			if i > 0 && list[i].endless != "" {
				continue
			}
			p.band(a, i, list[i].bounds, to)
			p.line(a, i, steps(list[i].sizes, to))
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for i := range list {
			s, name := &list[i], list[i].name
			if s.endless != "" {
				name += ", in the data"
			}
			over := []string{}
			for _, l := range limits {
				over = append(over, part(above(s.sizes, l.at)))
			}
			rows = append(rows, append([]string{name, s.partitions.text(countText), s.p50.text(sizeText), s.p90.text(sizeText), s.p99.text(sizeText), s.most.text(sizeText)}, over...))
		}
		head := []string{"", "Partitions", "p50", "p90", "p99", "Largest"}
		for _, l := range limits {
			head = append(head, "Above "+sizeText(l.at))
		}
		p.numbers("Partitions by size", head, rows)
	})
}

// ofLimit formats a size as a part, or a multiple, of a limit.
func ofLimit(size extent, limit float64) string {
	of := "of the limit of"
	if size.value > 1.005*limit {
		of = "the limit of"
	}
	return fmt.Sprintf("%s %s %s", size.times(1/limit).text(part), of, sizeText(limit))
}

// sizeText formats a size as bytesText does, but without the decimal if it is 0.
func sizeText(b float64) string { return strings.Replace(bytesText(b), ".0 ", " ", 1) }

// spaced leaves out ticks that would stand too close together.
func spaced(ticks []tick, a *axes) (list []tick) {
	last := math.Inf(-1)
	for _, t := range ticks {
		if x, _ := a.at(t.at, 0); x-last >= 46 {
			list, last = append(list, t), x
		}
	}
	return list
}

// steps returns the points of the cumulative distribution of bytes, up to a size.
func steps(sizes []profile.Bulk, to float64) []point {
	total, sum := 0.0, 0.0
	for _, s := range sizes {
		total += s.Count
	}
	out := []point{{0, 0}}
	for _, s := range byBytes(sizes) {
		out = append(out, point{s.Bytes, sum / total})
		sum += s.Count
		out = append(out, point{s.Bytes, sum / total})
	}
	return append(out, point{to, 1})
}

// byBytes sorts partitions by their bytes. They come sorted by their rows.
func byBytes(sizes []profile.Bulk) []profile.Bulk {
	return slices.SortedFunc(slices.Values(sizes), func(a, b profile.Bulk) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// above returns the share of the partitions that are larger than bytes.
func above(sizes []profile.Bulk, bytes float64) float64 {
	total, sum := 0.0, 0.0
	for _, s := range sizes {
		total += s.Count
		if s.Bytes > bytes {
			sum += s.Count
		}
	}
	return sum / total
}

// lorenz plots the share of the rows that the smaller partitions have.
func (p *page) lorenz(id string, list []series) {
	a := &axes{left: 44, top: 12, width: 240, height: 220, x: linear(0, 1), y: linear(0, 1)}
	words := concentration(&list[0]) + " The straight line is a perfectly even spread."
	caption := "Rows by partition"
	if list[0].inBytes {
		caption = "Bytes by partition"
	}
	p.figure(id, caption+": what share of them the smaller partitions have", words, names(list), func() {
		p.open(id, 300, 258, words)
		p.ticksY(a, percents)
		p.ticksX(a, percents)
		x0, y0 := a.at(0, 0)
		x1, y1 := a.at(1, 1)
		p.raw(fmt.Sprintf(`<line class="even" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", x0, y0, x1, y1))
		for i := len(list) - 1; i >= 0; i-- {
			p.line(a, i, list[i].curve())
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for i := range list {
			c := list[i].curve()
			rows = append(rows, []string{list[i].name, part(fullest(c, 0.01)), part(fullest(c, 0.1)), part(fullest(c, 0.5)), ratio(gini(c))})
		}
		p.numbers(caption, []string{"", strings.TrimSuffix(sentence(list[0].what()+" of the fullest 1%"), "."), "10%", "Half", "Gini"}, rows)
	})
}

// curve returns the Lorenz curve: for each share of the partitions, the smallest first, their share
// of the rows (of the bytes if inBytes).
func (s *series) curve() []point {
	n, rows := 0.0, 0.0
	for _, b := range s.sizes {
		n += b.Count
		rows += b.Count * s.weight(b)
	}
	out := []point{{0, 0}}
	x, y := 0.0, 0.0
	for _, b := range s.sizes {
		x += b.Count
		y += b.Count * s.weight(b)
		out = append(out, point{x / n, y / math.Max(1e-300, rows)})
	}
	return out
}

// concentration says how much is in the fullest partitions.
func concentration(s *series) string {
	if n := s.partitions.value; n < 200 {
		return fmt.Sprintf("The fullest of the %s partitions of %s has %s of the %s; evenly it would be %s.", s.partitions.text(countText), s.name, s.share().text(part), s.what(), part(1/math.Max(1, n)))
	}
	return fmt.Sprintf("The fullest hundredth of the partitions of %s has %s of the %s.", s.name, part(fullest(s.curve(), 0.01)), s.what())
}

// fullest returns the share of the rows that are in the fullest partitions. of is the share of the
// partitions that counts as the fullest.
func fullest(c []point, of float64) float64 {
	for i := len(c) - 1; i > 0; i-- {
		if c[i-1].x <= 1-of {
			t := (1 - of - c[i-1].x) / math.Max(1e-12, c[i].x-c[i-1].x)
			return 1 - (c[i-1].y + t*(c[i].y-c[i-1].y))
		}
	}
	return 1
}

// gini returns the Gini coefficient: twice the area between the curve and an even spread.
func gini(c []point) float64 {
	area := 0.0
	for i := 1; i < len(c); i++ {
		area += (c[i].x - c[i-1].x) * (c[i].y + c[i-1].y) / 2
	}
	return math.Max(0, 1-2*area)
}

// part formats a share, including those above 1.
func part(x float64) string {
	switch {
	case x >= 10:
		return fmt.Sprintf("%s times", count(int64(x+0.5)))
	case x > 1.005:
		return fmt.Sprintf("%.1f times", x)
	}
	return share(x)
}

// band draws the confidence band of a line.
func (p *page) band(a *axes, series int, bounds []bound, to float64) {
	if len(bounds) == 0 {
		return
	}
	var d strings.Builder
	for i, b := range bounds {
		x, y := a.at(math.Min(b.low, to), b.share)
		fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(i, 1)], x, y)
	}
	for _, b := range slices.Backward(bounds) {
		x, y := a.at(math.Min(b.high, to), b.share)
		fmt.Fprintf(&d, "L%.1f %.1f", x, y)
	}
	p.raw(fmt.Sprintf(`<path class="band s%d" d="%sZ"/>`+"\n", series, d.String()))
}
