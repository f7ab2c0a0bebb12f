// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// CompareFragment writes designs side by side, for a page on which the reader chooses them: their
// figures in columns, and the plots.
func CompareFragment(out io.Writer, r *advice.Report, details []*advice.Detail) error {
	p := advicePageOf(out, r, true)
	p.sideBySide(details)
	drawn := slices.DeleteFunc(slices.Clone(details), func(d *advice.Detail) bool { return len(d.Measured.Detail.Sizes) == 0 })
	if len(drawn) > 0 {
		p.comparison("compare", drawn)
	}
	return p.flush()
}

// sideBySide writes a table with a column for each design.
func (p *advicePage) sideBySide(details []*advice.Detail) {
	p.raw(`<div class="scroll" tabindex="0" role="region" aria-label="Designs side by side"><table class="sides"><thead><tr><td></td>`)
	for i, d := range details {
		p.put(fmt.Sprintf(`<th scope="col" class="n"><svg class="swatch" viewBox="0 0 28 8" aria-hidden="true"><line class="line s%d" x1="0" x2="28" y1="4" y2="4"/></svg>%c <code>`, i, 'A'+i), d.Name, "</code></th>")
	}
	p.raw("</tr></thead><tbody>\n")
	row := func(label string, of func(c *advice.Detail) string) {
		p.put(`<tr><th scope="row">`, label, "</th>")
		for _, d := range details {
			p.put(`<td class="n">`, of(d), "</td>")
		}
		p.raw("</tr>\n")
	}
	row("Partitions", func(d *advice.Detail) string { return partitionsText(&d.Candidate) })
	row("Rows of one, median", func(d *advice.Detail) string { return rowsOf(&d.Candidate)[0] })
	row("Rows of the largest", func(d *advice.Detail) string { return rowsOf(&d.Candidate)[2] })
	row("Bytes of the largest", func(d *advice.Detail) string { return bytesOf(&d.Candidate, sizeText)[2] })
	if slices.ContainsFunc(details, func(d *advice.Detail) bool { return d.ProjectedBytes > 0 }) {
		row("Largest, at the queries' rates", func(d *advice.Detail) string {
			if d.ProjectedBytes == 0 {
				return "as it is"
			}
			return figure(&d.Candidate, "projected_bytes_max", d.ProjectedBytes, sizeText)
		})
	}
	row("Share of the rows in it", func(d *advice.Detail) string {
		e, rows := d.Measured.RowSizes.Max, max(1, float64(d.Measured.Rows))
		return within(e.Value/rows, e.Low/rows, e.High/rows, part)
	})
	row("Writes a second to the hottest partition", func(d *advice.Detail) string {
		if d.Heat.Writes == 0 {
			return "unknown"
		}
		return hottestText(&d.Candidate, d.Heat.Writes, ratio)
	})
	if slices.ContainsFunc(details, func(d *advice.Detail) bool { return d.Heat.WriteLimit > 0 }) {
		row("of the write units it has", func(d *advice.Detail) string {
			if d.Heat.WriteUnits == 0 {
				return "unknown"
			}
			return hottestText(&d.Candidate, d.Heat.WriteUnits/d.Heat.WriteLimit, part)
		})
	}
	if slices.ContainsFunc(details, func(d *advice.Detail) bool { return d.Skew != nil }) {
		row("Fullest node over the mean", func(d *advice.Detail) string {
			if d.Skew == nil {
				return ""
			}
			return ratio(d.Skew.MaxOverMean)
		})
	}
	row("Requests to read a whole key", func(d *advice.Detail) string { return count(int64(d.Shards)) })
	if p.r.Verdict != nil {
		row("Queries unserved", func(d *advice.Detail) string { return share(d.Unserved + d.Filtered) })
		row("Rows lost", func(d *advice.Detail) string { return lostText(&d.Candidate) })
		row("Cost", func(d *advice.Detail) string { return costText(&d.Cost) })
		row("Headroom", func(d *advice.Detail) string { return headroomText(d.Headroom) })
		row("Limits exceeded", func(d *advice.Detail) string { return fmt.Sprint(len(d.Exceeded)) })
	}
	p.raw("</tbody></table></div>\n")
	for i, d := range details {
		for _, e := range d.Exceeded {
			p.put(fmt.Sprintf(`<p class="exceeded"><svg class="swatch" viewBox="0 0 28 8" aria-hidden="true"><line class="line s%d" x1="0" x2="28" y1="4" y2="4"/></svg>`, i), d.Name+": "+e.Text+".", "</p>\n")
		}
	}
}
