// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// nodes plots how many rows each node of a cluster would have, for the designs side by side.
func (p *advicePage) nodes(id string, details []*advice.Detail) {
	ring := simulation.Ring{Nodes: advice.Nodes, VNodes: advice.VNodes, RF: advice.RF, Seed: 1}
	tokens, owners, owned := ring.Deal()
	c := cluster{what: fmt.Sprintf("Rows of each node over the mean: %d nodes of %d vnodes, %d replicas", ring.Nodes, ring.VNodes, ring.RF)}
	for n, o := range owned {
		c.nodes = append(c.nodes, fmt.Sprintf("node %d", n+1))
		c.ring = append(c.ring, o*float64(ring.Nodes)/float64(ring.RF))
	}
	for _, d := range details {
		load := d.Measured.Nodes(ring.Nodes, tokens, owners)
		for j := range load {
			load[j] *= float64(ring.Nodes) / math.Max(1, float64(d.Measured.Rows)*float64(ring.RF))
		}
		c.designs, c.loads = append(c.designs, d.Name), append(c.loads, load)
	}
	p.cluster(id, &c)
}

// cluster holds what each node of a cluster keeps, divided by the mean.
type cluster struct {
	what    string
	nodes   []string
	ring    []float64 // of each node: its load from the ring alone
	designs []string
	loads   [][]float64 // of each design, by node
}

// mostNodes is the greatest number of nodes in a plot.
const mostNodes = 16

// cluster plots what the nodes keep.
func (p *page) cluster(id string, c *cluster) {
	most := 1.5
	for _, load := range c.loads {
		most = math.Max(most, slices.Max(load))
	}
	n := float64(len(c.nodes))
	words := fmt.Sprintf("With %s the fullest of %d nodes keeps %s times the mean; the ring alone would make it %s (the marks).", c.designs[0], len(c.nodes), ratio(slices.Max(c.loads[0])), ratio(slices.Max(c.ring)))
	a := &axes{left: 44, top: 12, width: 820, height: 120, x: linear(0, n), y: linear(0, most*1.05)}
	p.figure(id, c.what, words, c.designs, func() {
		p.open(id, 880, 158, words)
		ticks := []tick{{0, "0"}, {1, "1×"}}
		for v := 2.0; v <= most; v += math.Max(1, math.Round(most/4)) {
			ticks = append(ticks, tick{v, fmt.Sprintf("%g×", v)})
		}
		p.ticksY(a, ticks)
		slot := a.width / n
		wide := float64(len(c.designs))
		each := math.Min(34, math.Max(3, (slot-24)/wide))
		for n, name := range c.nodes {
			left := a.left + slot*(float64(n)+0.5) - each*wide/2
			for i, design := range c.designs {
				_, y := a.at(0, c.loads[i][n])
				p.put(fmt.Sprintf(`<rect class="fill s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>`, i, left+each*float64(i)+1, y, each-2, a.top+a.height-y),
					fmt.Sprintf("%s, %s: %s times the mean", name, design, ratio(c.loads[i][n])), "</title></rect>\n")
			}
			_, y := a.at(0, c.ring[n])
			p.raw(fmt.Sprintf(`<line class="mark" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, left-5, left+each*wide+5, y, y))
			p.put(fmt.Sprintf(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">`, a.left+slot*(float64(n)+0.5), a.top+a.height+17), shorten(name, int(slot/6.2)), "</text>\n")
		}
		p.raw("</svg>\n")
	}, func() {
		head, rows := []string{""}, [][]string{}
		for _, name := range c.nodes {
			head = append(head, strings.ToUpper(name[:1])+name[1:])
		}
		for i, design := range c.designs {
			row := []string{design}
			for _, l := range c.loads[i] {
				row = append(row, ratio(l))
			}
			rows = append(rows, row)
		}
		row := []string{"The ring alone"}
		for _, o := range c.ring {
			row = append(row, ratio(o))
		}
		p.numbers("Rows of each node over the mean", head, append(rows, row))
	})
}

// hottest plots the share of the rows that the fullest partitions have, for stores that do not show
// their nodes.
func (p *advicePage) hottest(id string, details []*advice.Detail) {
	const shown = 12
	a := &axes{left: 44, top: 12, width: 820, height: 120, x: linear(0, shown)}
	most := 0.0
	for _, d := range details {
		for _, l := range d.Measured.Largest {
			most = math.Max(most, l.Share)
		}
	}
	a.y = linear(0, math.Max(most*1.05, 1e-6))
	best := details[0]
	words := "There are no partitions."
	if l := best.Measured.Largest; len(l) > 0 {
		words = fmt.Sprintf("The fullest partition of %s has %s of the rows", best.Name, part(l[0].Share))
		if h := best.Heat; h.Writes > 0 && h.WriteLimit > 0 {
			words += fmt.Sprintf("; it would take %s of the %s write units a second that a partition has", ratio(h.WriteUnits), count(int64(h.WriteLimit)))
		}
		words += "."
	}
	p.figure(id, fmt.Sprintf("The %d fullest partitions of each design: their share of the rows", shown), words, names(seriesOf(details)), func() {
		p.open(id, 880, 158, words)
		p.ticksY(a, []tick{{0, "0"}, {most / 2, part(most / 2)}, {most, part(most)}})
		slot := a.width / shown
		each := math.Min(26, (slot-14)/float64(len(details)))
		for n := range shown {
			left := a.left + slot*(float64(n)+0.5) - each*float64(len(details))/2
			for i, d := range details {
				if n >= len(d.Measured.Largest) {
					continue
				}
				l := &d.Measured.Largest[n]
				_, y := a.at(0, l.Share)
				p.put(fmt.Sprintf(`<rect class="fill s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>`, i, left+each*float64(i)+1, y, each-2, a.top+a.height-y),
					d.Name+": "+partitionText(l, p.hide)+", "+part(l.Share), "</title></rect>\n")
			}
			p.raw(fmt.Sprintf(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", a.left+slot*(float64(n)+0.5), a.top+a.height+17, n+1))
		}
		p.raw("</svg>\n")
	}, func() {
		var rows [][]string
		for _, d := range details {
			for n := range min(shown, len(d.Measured.Largest)) {
				l := &d.Measured.Largest[n]
				rows = append(rows, []string{d.Name + ": " + partitionText(l, p.hide), count(int64(l.Rows.Value + 0.5)), part(l.Share)})
			}
		}
		p.numbers("The fullest partitions", []string{"Partition", "Rows", "Share"}, rows)
	})
}

func partitionText(l *profile.Partition, hide *redactor) string {
	var t []string
	for _, v := range l.Values {
		t = append(t, hide.value(shorten(v, 40)))
	}
	if l.Shard > 0 {
		t = append(t, fmt.Sprintf("shard %d", l.Shard))
	}
	return strings.Join(t, ", ")
}

// heat plots rows by the time at which they were written and the range of tokens that they go to.
func (p *advicePage) heat(id string, column *advice.Column, details []*advice.Detail) {
	const left, top, width, height = 64, 8, 800, 160
	for i, d := range details {
		h := d.Measured.Detail.Heat
		if h == nil {
			continue
		}
		most, total, worst := int64(1), int64(0), 0.0
		busiest, at := int64(-1), 0
		for t := range h {
			sum, top := int64(0), int64(0)
			for _, n := range h[t] {
				sum, top = sum+n, max(top, n)
			}
			most, total = max(most, top), total+sum
			worst += float64(top)
			if sum > busiest {
				busiest, at = sum, t
			}
		}
		worst /= math.Max(1, float64(total))
		words := fmt.Sprintf("With %s the fullest of %d ranges of tokens takes %s of the writes at any time, on average; a key that is unique to each row would make it %s.", d.Name, profile.HeatRanges, part(worst), part(byChance(h)))
		id := fmt.Sprintf("%s-%d", id, i)
		p.figure(id, fmt.Sprintf("Writes over time (from left to right) and tokens (from top to bottom): %s, %s", d.Name, d.Design+shardsBehind(d)), words, nil, func() {
			p.open(id, 880, 194, words)
			p.raw(fmt.Sprintf(`<rect class="heatfield" x="%d" y="%d" width="%d" height="%d"/>`+"\n", left, top, width, height))
			for level, path := range levels(h, most, left, top, width, height) {
				if path != "" {
					p.raw(fmt.Sprintf(`<path class="heat" fill-opacity="%.2f" d="%s"/>`+"\n", float64(level+1)/heatLevels, path))
				}
			}
			p.raw(fmt.Sprintf(`<text class="tick" x="%d" y="%d" text-anchor="end">−2⁶³</text><text class="tick" x="%d" y="%d" text-anchor="end">2⁶³</text>`+"\n", left-6, top+12, left-6, top+height))
			p.put(fmt.Sprintf(`<text class="tick" x="%d" y="%d">`, left, top+height+17), cmp.Or(column.First, column.Min), fmt.Sprintf(`</text><text class="tick" x="%d" y="%d" text-anchor="end">`, left+width, top+height+17), cmp.Or(column.Last, column.Max), "</text>\n")
			rate := 0.0 // of the darkest cell
			if p.r.Changed == nil {
				rate = p.r.Writes * float64(most) / math.Max(1, float64(total)) * float64(len(h))
			}
			p.heatScale(left+width/3, top+height+8, most, rate)
			p.raw("</svg>\n")
		}, func() {
			var rows [][]string
			const parts = 8
			for s := range parts {
				var sum, top int64
				used := 0
				var ranges [profile.HeatRanges]int64
				for t := s * len(h) / parts; t < (s+1)*len(h)/parts; t++ {
					for r, n := range h[t] {
						ranges[r] += n
					}
				}
				for _, n := range ranges {
					sum, top = sum+n, max(top, n)
					if n > 0 {
						used++
					}
				}
				rows = append(rows, []string{fmt.Sprintf("Eighth %d of the time", s+1), count(sum), fmt.Sprintf("%d of %d", used, profile.HeatRanges), part(float64(top) / math.Max(1, float64(sum)))})
			}
			rows = append(rows, []string{fmt.Sprintf("The busiest of %d slices, number %d", len(h), at+1), count(busiest), "", ""})
			p.numbers("Writes over time", []string{"Time", "Rows", "Ranges written to", "Share of the fullest range"}, rows)
		})
	}
}

// heatScale draws which shade stands for how many rows, around x. rate is how many writes a second
// the most rows are at the rates of the queries; 0: unknown. The darker a cell is, the more
// rows it has. The background and the shades are the same on a light page and on a dark one.
func (p *advicePage) heatScale(x, y float64, most int64, rate float64) {
	const cell = 14
	from := x - cell*heatLevels/2
	p.raw(fmt.Sprintf(`<text class="tick" x="%.1f" y="%.1f" text-anchor="end">1 row</text>`, from-6, y+9))
	p.raw(fmt.Sprintf(`<rect class="heatfield" x="%.1f" y="%.1f" width="%d" height="10"/>`, from, y, cell*heatLevels))
	for level := range heatLevels {
		p.raw(fmt.Sprintf(`<rect class="heat" fill-opacity="%.2f" x="%.1f" y="%.1f" width="%d" height="10"/>`, float64(level+1)/heatLevels, from+float64(level*cell), y, cell))
	}
	darkest := count(most)
	if rate > 0 {
		darkest += ", at the queries' rates " + ratio(rate) + " writes/s"
	}
	p.put(fmt.Sprintf(`<text class="tick" x="%.1f" y="%.1f">`, from+cell*heatLevels+6, y+9), darkest, "</text>\n")
}

// byChance returns the share of the fullest range if each row falls into a range independently. It
// draws the ranges from a fixed seed.
func byChance(h [][]int64) float64 {
	const most = 5000 // draws for a time slice; more draws are nearly even
	draw := rand.New(rand.NewPCG(1, 1))
	total, worst := 0.0, 0.0
	for _, slice := range h {
		sum := int64(0)
		for _, n := range slice {
			sum += n
		}
		if sum == 0 {
			continue
		}
		var ranges [profile.HeatRanges]int
		top, n := 0, min(sum, most)
		for range n {
			r := draw.IntN(len(ranges))
			ranges[r]++
			top = max(top, ranges[r])
		}
		total += float64(sum)
		worst += float64(sum) * float64(top) / float64(n)
	}
	return worst / math.Max(1, total)
}

const heatLevels = 8

// levels draws the cells of a heat, as one path for each shade.
func levels(h [][]int64, most int64, left, top, width, height float64) (paths [heatLevels]string) {
	var b [heatLevels]strings.Builder
	w, rows := width/float64(len(h)), float64(profile.HeatRanges)
	for t := range h {
		for r, n := range h[t] {
			if n > 0 {
				level := min(heatLevels-1, int(math.Sqrt(float64(n)/float64(most))*heatLevels))
				fmt.Fprintf(&b[level], "M%.1f %.1fh%.1fv%.1fh-%.1fz", left+w*float64(t), top+height/rows*float64(r), w, height/rows, w)
			}
		}
	}
	for i := range b {
		paths[i] = b[i].String()
	}
	return paths
}
