// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// print prints the results beside the targets.
func print(out io.Writer, results []result) {
	for _, r := range results {
		fmt.Fprintf(out, "\n%s: %.0f requests a second for %.0f s\n", r.Name, r.PerSecond, r.Seconds)
		w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
		line := func(what, is, target string) { fmt.Fprintf(w, "  %s\t%s\t%s\n", what, is, target) }
		line("requests that failed", fmt.Sprintf("%d of %d", r.Failed, r.Requests), "0")
		line("p99", fmt.Sprintf("%.1f ms, %.2f × that of before", r.During99, r.During99/r.Before99), "1.5 ×")
		line("longest request, over the p99 of before", fmt.Sprintf("%.0f ms (in the quiet phase %.0f ms)", r.Longest, r.BeforeMax), "50 ms")
		line("rows moved, relative to jump hash", fmt.Sprintf("%.3f", r.Moved), "1.01")
		if r.Storage > 0 {
			line("extra storage at most", fmt.Sprintf("%.2f ×", r.Storage), "0.4 × for 50 to 75")
		}
		line("rows moved and verified a second", fmt.Sprintf("%.0f, %.2f × those of a copy by hand", r.Rows, r.Rows/r.ByHand), "1 ×")
		line("until reads go to the new layout", fmt.Sprintf("%.1f s", r.Relief), "15 s for the hot key")
		line("in the quiet phase", fmt.Sprintf("p99 %.1f ms, longest %.0f ms, %.2f cores", r.Before99, r.BeforeMax+r.Before99, r.Cores), "")
		for _, s := range r.Steps {
			line("in step "+s.Name, fmt.Sprintf("p99 %.1f ms, longest %.0f ms, %.2f cores, for %.1f s", s.P99, s.Longest, s.Cores, s.Seconds), "")
		}
		line("after the change", fmt.Sprintf("p99 %.1f ms", r.After99), "")
		w.Flush()
	}
}
