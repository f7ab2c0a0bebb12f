// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"

	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// bar is one bar of a plot: a partition, several neighbouring partitions, or a node.
type bar struct {
	label string
	rows  int64
	mark  float64 // the rows of this bar if the spread were even
}

// bars returns at most most bars of sizes. If there are more sizes, each bar stands for the fullest
// of several neighbours; each is their number.
func bars(sizes []int64, what string, most int) (out []bar, each int) {
	mean := 0.0
	for _, n := range sizes {
		mean += float64(n) / float64(len(sizes))
	}
	each = (len(sizes) + most - 1) / most
	for i := 0; i < len(sizes); i += each {
		b := bar{label: what + " " + strconv.Itoa(i), rows: sizes[i], mark: mean}
		last := min(i+each, len(sizes)) - 1
		if last > i {
			b.label = what + "s " + strconv.Itoa(i) + "–" + strconv.Itoa(last)
		}
		for _, n := range sizes[i : last+1] {
			b.rows = max(b.rows, n)
		}
		out = append(out, b)
	}
	return out, each
}

// nodeBars returns the bars of nodes. The mark of a node is what its part of the ring would hold.
func nodeBars(n *simulation.NodesReport, most int) (out []bar, each int) {
	out, each = bars(n.Sizes, "node", most)
	if each > 1 {
		return out, each
	}
	total, owned := 0.0, 0.0
	for i := range n.Sizes {
		total += float64(n.Sizes[i])
		owned += n.Ownership[i]
	}
	for i := range out {
		out[i].mark = total * n.Ownership[i] / owned
	}
	return out, each
}

// longest returns the value of the longest bar or mark, at least 1.
func longest(bs []bar) float64 {
	most := 1.0
	for _, b := range bs {
		most = math.Max(most, math.Max(float64(b.rows), b.mark))
	}
	return most
}
