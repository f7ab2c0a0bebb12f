// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// textBars is the greatest number of bars for a key on a terminal.
const textBars = 24

// Text writes a report for a terminal. │ marks the length of a bar if the spread were even.
func Text(out io.Writer, r *simulation.Report) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %s over %s, %s\n", r.Data, counted(r.Rows, "row"), counted(int64(r.Partitions), "partition"), placement(r))
	if t := neighbours(r.Partitioner); t != "" {
		fmt.Fprintln(w, t)
	}
	if r.BadRows > 0 {
		fmt.Fprintf(w, "%s passed over\n", counted(r.BadRows, "bad row"))
	}
	if r.Partial {
		fmt.Fprintln(w, "PARTIAL: not all rows were read; all that follows is about those that were")
	}
	for i := range r.Keys {
		k := &r.Keys[i]
		fmt.Fprintf(w, "\n%s: %s\n", k.Key, k.Reading())
		if k.Rows == 0 {
			for _, line := range valuesText(k) {
				fmt.Fprintf(w, "  %s\n", line)
			}
			continue
		}
		bs, each := bars(k.Sizes, "partition", textBars)
		textPlot(w, bs, k.Rows)
		if each > 1 {
			fmt.Fprintf(w, "  (each bar is the fullest of %d neighbours)\n", each)
		}
		fmt.Fprintf(w, "  %s\n", spreadText(&k.Spread))
		for _, line := range valuesText(k) {
			fmt.Fprintf(w, "  %s\n", line)
		}
		textSweep(w, k)
		if k.Within != nil {
			fmt.Fprintf(w, "  %s\n", withinText(k.Within))
		}
		if n := k.Nodes; n != nil {
			fmt.Fprintf(w, "  nodes, %d replicas of each row; │ is what the node's part of the ring would hold\n", r.Ring.RF)
			bs, each := nodeBars(n, textBars)
			textPlot(w, bs, k.Rows*int64(r.Ring.RF))
			if each > 1 {
				fmt.Fprintf(w, "  (each bar is the fullest of %d neighbours)\n", each)
			}
			fmt.Fprintf(w, "  %s; the ring alone makes %s\n", spreadText(&n.Spread), ratio(n.RingMaxOverMean))
		}
		for _, c := range k.Computed {
			fmt.Fprintf(w, "  %s: %s\n", c.Part, c.Reading())
			for _, v := range c.Variants {
				fmt.Fprintf(w, "    %s in its place: %s\n", v.Part, v.Reading())
			}
		}
	}
	if len(r.Moves) > 0 {
		fmt.Fprintf(w, "\nrows that change place with the number of salts\n")
		for _, m := range r.Moves {
			fmt.Fprintf(w, "  %s, %d → %d: modulo %s (%s), jump hash %s (%s)\n", m.Part, m.From, m.To,
				count(m.Modulo), share(of(m.Modulo, r.Rows)), count(m.Jump), share(of(m.Jump, r.Rows)))
		}
	}
	textUniformity(w, r.Uniformity)
	return w.Flush()
}

// neighbours says what an even spread hides under a partitioner that keeps the order of keys; "" for
// those that hash.
func neighbours(p simulation.Partitioner) string {
	if p == simulation.Identity || p == simulation.ByteOrdered {
		return string(p) + " keeps neighbours together: if keys grow with time, all that is written at a time goes to one partition, however even the sizes become"
	}
	return ""
}

func placement(r *simulation.Report) string {
	if r.Ring == nil {
		return string(r.Partitioner)
	}
	return fmt.Sprintf("%s, and %d nodes of %d vnodes, RF %d (tokens: %s)", r.Partitioner, r.Ring.Nodes, r.Ring.VNodes, r.Ring.RF, r.Ring.Tokens)
}

func spreadText(s *simulation.Spread) string {
	return fmt.Sprintf("max/mean %s, coefficient of variation %s, chi-square %s with %d df, p %s",
		ratio(s.MaxOverMean), ratio(s.CV), ratio(s.ChiSquare), s.Freedom, chance(s.PValue))
}

func withinText(w *simulation.Within) string {
	verb := "within"
	if w.Difference > w.Bound {
		verb = "not within"
	}
	return fmt.Sprintf("fullest less emptiest: %s, %s %s; a key unique to each row keeps that in %s of %s draws (seed %d)",
		count(w.Difference), verb, count(w.Bound), share(w.Chance), count(int64(w.Draws)), w.Seed)
}

// textPlot draws bars in eighths of a character cell.
func textPlot(w io.Writer, bs []bar, rows int64) {
	const cells = 32
	label, number, part := 0, 0, 5
	for _, b := range bs {
		label, number, part = max(label, len([]rune(b.label))), max(number, len(count(b.rows))), max(part, len(share(of(b.rows, rows))))
	}
	most := longest(bs)
	for _, b := range bs {
		eighths := int(math.Round(float64(b.rows) / most * cells * 8))
		line := []rune(strings.Repeat("█", eighths/8))
		if eighths%8 > 0 {
			line = append(line, []rune("▏▎▍▌▋▊▉")[eighths%8-1])
		}
		mark := min(cells, int(math.Round(b.mark/most*cells)))
		for len(line) <= mark {
			line = append(line, ' ')
		}
		if line[mark] == ' ' {
			line[mark] = '│'
		}
		fmt.Fprintf(w, "  %-*s %*s  %*s  %s\n", label, b.label, number, count(b.rows), part, share(of(b.rows, rows)), strings.TrimRight(string(line), " "))
	}
}

func of(n, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(n) / float64(whole)
}
