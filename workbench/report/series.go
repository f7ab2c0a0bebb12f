// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// series is the distribution of rows over partitions, as plots show it: of a design, of a simulated
// key, or of a live table.
type series struct {
	name                string
	partitions, rows    float64
	p50, p90, p99, most float64        // bytes of a partition
	fullest             float64        // rows of the fullest partition; if inBytes, bytes of the largest
	sizes               []profile.Bulk // ordered by rows, the smallest first
	inBytes             bool           // sizes are ordered by bytes, and their rows are unknown

	// bounds holds 99% confidence intervals of quantiles of the partitions' sizes; nil: the sizes
	// were counted.
	bounds []bound
}

// bound is a share of the partitions, with the two sizes between which the quantile of this share
// is.
type bound struct{ share, low, high float64 }

// share returns the fullest partition's share of everything.
func (s *series) share() float64 { return s.fullest / math.Max(1, s.rows) }

// weight returns the weight of a partition in shares: its bytes if inBytes, else its rows.
func (s *series) weight(b profile.Bulk) float64 {
	if s.inBytes {
		return b.Bytes
	}
	return b.Rows
}

// what names the unit of weight.
func (s *series) what() string {
	if s.inBytes {
		return "bytes"
	}
	return "rows"
}

func seriesOf(details []*advice.Detail) (list []series) {
	for _, d := range details {
		m := d.Measured
		s := series{
			name: d.Name, partitions: m.Partitions.Value, rows: float64(m.Rows), sizes: m.Detail.Sizes, fullest: m.RowSizes.Max.Value,
			p50: m.ByteSizes.P50.Value, p90: m.ByteSizes.P90.Value, p99: m.ByteSizes.P99.Value, most: m.ByteSizes.Max.Value,
		}
		s.atRate(d.ProjectedBytes / math.Max(1, s.most))
		list = append(list, s)
	}
	return list
}

// atRate makes partitions as large as the queries' rates make them, because then the verdict counts
// these sizes. times is the factor for the largest partition; the others grow by the same factor.
func (s *series) atRate(times float64) {
	if times <= 1 {
		return
	}
	s.sizes = slices.Clone(s.sizes)
	for i := range s.sizes {
		s.sizes[i].Bytes *= times
	}
	for _, b := range []*float64{&s.p50, &s.p90, &s.p99, &s.most} {
		*b *= times
	}
}

// rateText returns words if sizes are those at the queries' rates, else "".
func rateText(details []*advice.Detail) string {
	for _, d := range details {
		if d.ProjectedBytes > d.BytesMax {
			return ", at the rates of the queries"
		}
	}
	return ""
}

// lettered returns designs that have a letter each as their name, because plots have no room for
// more.
func lettered(details []*advice.Detail) []*advice.Detail {
	var out []*advice.Detail
	for i, d := range details {
		one := *d
		one.Name = string(rune('A' + i))
		out = append(out, &one)
	}
	return out
}

// letters writes which design each letter stands for.
func (p *advicePage) letters(details []*advice.Detail) {
	p.raw("<ul class=\"letters\">\n")
	for i, d := range details {
		p.put(fmt.Sprintf(`<li><svg class="swatch" viewBox="0 0 28 8" aria-hidden="true"><line class="line s%d" x1="0" x2="28" y1="4" y2="4"/></svg><strong>%c</strong> <code>`, i, 'A'+i), d.Design, "</code>", shardsBehind(d), "</li>\n")
	}
	p.raw("</ul>\n")
}

// shardsBehind returns the number of shards of a variant in words, because its design's text does
// not have it.
func shardsBehind(d *advice.Detail) string {
	if !d.Variant {
		return ""
	}
	return " with " + shardsText(d.Shards)
}

// names returns the names of series, for legends.
func names(list []series) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].name)
	}
	return out
}
