// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// keysInPlot is the greatest number of keys in one plot: there are as many kinds of lines.
const keysInPlot = 4

// sideBySide plots the simulated keys together.
func (p *keysPage) sideBySide() {
	var drawn []*simulation.KeyReport
	for i := range p.r.Keys {
		if d := p.r.Keys[i].Detail; d != nil && len(d.Sizes) > 0 {
			drawn = append(drawn, &p.r.Keys[i])
		}
	}
	if len(drawn) == 0 {
		return
	}
	limits, meaning := p.sizeLimits()
	p.raw("<section aria-labelledby=\"plots\"><h2 id=\"plots\">What the keys do to the data</h2>\n")
	p.raw("<p>To Cassandra and DynamoDB each value of a key is a partition of its own. Its bytes are those of the rows as text, and what Cassandra adds to each.</p>\n")
	for from := 0; from < len(drawn); from += keysInPlot {
		some := drawn[from:min(from+keysInPlot, len(drawn))]
		id := fmt.Sprintf("plots%d", from)
		var list []series
		p.raw("<ul class=\"letters\">\n")
		for i, k := range some {
			list = append(list, seriesOfKey(k, letter(from+i), k.Detail))
			p.letter(i, letter(from+i), k.Key)
			p.raw("</li>\n")
		}
		p.raw("</ul>\n")
		p.raw("<div class=\"pair\">\n")
		p.cumulative(id+"-sizes", "Values of the key by size: the share that has up to so many bytes; "+meaning, limits, list)
		p.lorenz(id+"-lorenz", list)
		p.raw("</div>\n")
		if p.r.Ring != nil && p.r.Ring.Nodes <= mostNodes {
			p.nodes(id+"-nodes", some, list)
		}
	}
	for i, k := range drawn {
		if len(k.Salts) == 0 {
			continue
		}
		var list []salted
		for j := range k.Salts {
			s := &k.Salts[j]
			list = append(list, salted{seriesOfKey(k, fmt.Sprintf("N = %d", s.N), &s.Detail), s.N, s.Own})
		}
		p.salts(fmt.Sprintf("plots-salts%d", i), k.Key+" with several numbers of salts: sizes of its values, from the median to the largest; "+meaning, "salts", limits, list)
	}
	p.raw("</section>\n")
}

// sizeLimits returns the sizes to draw as lines, and a text that explains them. If the user gave a limit,
// it returns that one. Otherwise it returns Cassandra's.
func (p *keysPage) sizeLimits() (limits []tick, meaning string) {
	for i := range p.r.Keys {
		if o := p.r.Keys[i].Values.Over; o != nil && o.Bytes > 0 {
			size := float64(o.Bytes)
			return []tick{{size, sizeText(size)}}, "the line: the limit of --limit, " + sizeText(size)
		}
	}
	return sizeLimits(advice.Cassandra), limitsText(advice.Cassandra)
}

func seriesOfKey(k *simulation.KeyReport, name string, d *simulation.Detail) series {
	return series{name: name, partitions: simulated(d.Values), rows: float64(k.Rows), p50: simulated(d.P50), p90: simulated(d.P90), p99: simulated(d.P99), most: simulated(d.Most), fullest: simulated(d.Fullest), sizes: d.Sizes}
}

func simulated(f simulation.Figure) extent { return extent{f.Value, f.Low, f.High} }

// nodes plots how many rows each node would have, for the keys side by side.
func (p *keysPage) nodes(id string, keys []*simulation.KeyReport, list []series) {
	ring := p.r.Ring
	c := cluster{what: fmt.Sprintf("Rows of each node over the mean: %d nodes of %d vnodes, %d replicas", ring.Nodes, ring.VNodes, ring.RF)}
	for n, o := range keys[0].Nodes.Ownership {
		c.nodes = append(c.nodes, fmt.Sprintf("node %d", n))
		c.ring = append(c.ring, o*float64(ring.Nodes)/float64(ring.RF))
	}
	for i, k := range keys {
		var load []float64
		for _, rows := range k.Nodes.Sizes {
			load = append(load, float64(rows)/max(1, k.Nodes.Mean))
		}
		c.designs, c.loads = append(c.designs, list[i].name), append(c.loads, load)
	}
	p.cluster(id, &c)
}
