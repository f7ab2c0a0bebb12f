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

// sizeLimits are the sizes of partitions that matter in a store.
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

// cumulative plots which share of the partitions is how large.
func (p *page) cumulative(id string, target advice.Target, details []*advice.Detail) {
	limits := sizeLimits(target)
	from, to := math.Inf(1), limits[len(limits)-1].at*3
	for _, d := range details {
		s := byBytes(d.Measured.Detail.Sizes)
		from, to = math.Min(from, s[0].Bytes), math.Max(to, 2*s[len(s)-1].Bytes)
	}
	from = math.Max(1, from/2)
	a := &axes{left: 44, top: 22, width: 520, height: 210, x: logarithmic(from, to), y: linear(0, 1)}
	best := details[0]
	m := best.Measured
	most := limits[len(limits)-1]
	words := fmt.Sprintf("Half of the partitions of %s have up to %s, 99 of 100 up to %s, and the largest has %s: %s of the limit of %s.",
		best.Name, sizeText(m.ByteSizes.P50.Value), sizeText(m.ByteSizes.P99.Value), sizeText(m.ByteSizes.Max.Value), part(m.ByteSizes.Max.Value/most.at), sizeText(most.at))
	if m.Partitions.Value < 1.5 {
		words = fmt.Sprintf("%s has one partition, of %s: %s of the limit of %s.", best.Name, sizeText(m.ByteSizes.Max.Value), part(m.ByteSizes.Max.Value/most.at), sizeText(most.at))
	}
	p.figure(id, "Partitions by size: the share that has up to so many bytes; "+limitsText(target), words, names(details), func() {
		p.open(id, 580, 258, words)
		p.ticksY(a, percents)
		p.ticksX(a, spaced(byteTicks(from, to), a))
		for _, l := range limits {
			p.limit(a, l.at, l.label)
		}
		for i := len(details) - 1; i >= 0; i-- {
			p.line(a, i, steps(details[i].Measured.Detail.Sizes, to))
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for _, d := range details {
			m := d.Measured
			over := []string{}
			for _, l := range limits {
				over = append(over, part(above(m.Detail.Sizes, l.at)))
			}
			rows = append(rows, append([]string{d.Name, count(int64(m.Partitions.Value + 0.5)), sizeText(m.ByteSizes.P50.Value), sizeText(m.ByteSizes.P90.Value), sizeText(m.ByteSizes.P99.Value), sizeText(m.ByteSizes.Max.Value)}, over...))
		}
		head := []string{"Design", "Partitions", "p50", "p90", "p99", "Largest"}
		for _, l := range limits {
			head = append(head, "Above "+sizeText(l.at))
		}
		p.numbers("Partitions by size", head, rows)
	})
}

// sizeText prints a size, without a decimal that says nothing.
func sizeText(b float64) string { return strings.Replace(bytesText(b), ".0 ", " ", 1) }

// spaced leaves out ticks that would stand too close.
func spaced(ticks []tick, a *axes) (list []tick) {
	last := math.Inf(-1)
	for _, t := range ticks {
		if x, _ := a.at(t.at, 0); x-last >= 46 {
			list, last = append(list, t), x
		}
	}
	return list
}

// steps is the cumulative distribution of bytes, drawn up to a size.
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

// byBytes sorts partitions by their bytes: they come by their rows.
func byBytes(sizes []profile.Bulk) []profile.Bulk {
	return slices.SortedFunc(slices.Values(sizes), func(a, b profile.Bulk) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// above is the share of the partitions that is larger.
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

// lorenz plots which share of the rows the smaller partitions have.
func (p *page) lorenz(id string, details []*advice.Detail) {
	a := &axes{left: 44, top: 12, width: 240, height: 220, x: linear(0, 1), y: linear(0, 1)}
	words := concentration(details[0]) + " The straight line is a perfectly even spread."
	p.figure(id, "Rows by partition: what share of them the smaller partitions have", words, names(details), func() {
		p.open(id, 300, 258, words)
		p.ticksY(a, percents)
		p.ticksX(a, percents)
		x0, y0 := a.at(0, 0)
		x1, y1 := a.at(1, 1)
		p.raw(fmt.Sprintf(`<line class="even" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", x0, y0, x1, y1))
		for i := len(details) - 1; i >= 0; i-- {
			p.line(a, i, curve(details[i].Measured.Detail.Sizes))
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for _, d := range details {
			s := d.Measured.Detail.Sizes
			rows = append(rows, []string{d.Name, part(fullest(s, 0.01)), part(fullest(s, 0.1)), part(fullest(s, 0.5)), ratio(gini(s))})
		}
		p.numbers("Rows by partition", []string{"Design", "Rows of the fullest 1%", "10%", "Half", "Gini"}, rows)
	})
}

func curve(sizes []profile.Bulk) []point {
	n, rows := 0.0, 0.0
	for _, s := range sizes {
		n += s.Count
		rows += s.Count * s.Rows
	}
	out := []point{{0, 0}}
	x, y := 0.0, 0.0
	for _, s := range sizes {
		x += s.Count
		y += s.Count * s.Rows
		out = append(out, point{x / n, y / rows})
	}
	return out
}

// concentration says of a design how much is in its fullest partitions.
func concentration(d *advice.Detail) string {
	m := d.Measured
	if n := m.Partitions.Value; n < 200 {
		return fmt.Sprintf("The fullest of the %s partitions of %s has %s of the rows; evenly it would be %s.", count(int64(n+0.5)), d.Name, part(m.RowSizes.Max.Value/math.Max(1, float64(m.Rows))), part(1/math.Max(1, n)))
	}
	return fmt.Sprintf("The fullest hundredth of the partitions of %s has %s of the rows.", d.Name, part(fullest(m.Detail.Sizes, 0.01)))
}

// fullest is the share of the rows in that share of the partitions, the fullest.
func fullest(sizes []profile.Bulk, of float64) float64 {
	c := curve(sizes)
	for i := len(c) - 1; i > 0; i-- {
		if c[i-1].x <= 1-of {
			t := (1 - of - c[i-1].x) / math.Max(1e-12, c[i].x-c[i-1].x)
			return 1 - (c[i-1].y + t*(c[i].y-c[i-1].y))
		}
	}
	return 1
}

// gini is twice the area between the curve and an even spread.
func gini(sizes []profile.Bulk) float64 {
	area := 0.0
	c := curve(sizes)
	for i := 1; i < len(c); i++ {
		area += (c[i].x - c[i-1].x) * (c[i].y + c[i-1].y) / 2
	}
	return math.Max(0, 1-2*area)
}

// part prints a share, also a very small one.
func part(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "under 0.1%"
	case x >= 10:
		return fmt.Sprintf("%s times", count(int64(x+0.5)))
	case x > 1.005:
		return fmt.Sprintf("%.1f times", x)
	}
	return share(x)
}
