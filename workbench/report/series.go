// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// series is the distribution of rows over partitions, as plots show it: of a design, of a simulated
// key, or of a live table.
type series struct {
	name                string
	rows                float64
	partitions          extent
	p50, p90, p99, most extent         // bytes of a partition
	fullest             extent         // rows of the fullest partition; if inBytes, bytes of the largest
	sizes               []profile.Bulk // ordered by rows, the smallest first
	inBytes             bool           // sizes are ordered by bytes, and their rows are unknown
	endless             string         // when partitions that never end pass a limit at the queries' rates; "": they end

	// bounds holds 99% confidence intervals of quantiles of the partitions' sizes; nil: the sizes
	// were counted.
	bounds []bound
}

// extent is a number with its interval.
type extent struct{ value, low, high float64 }

func exact(x float64) extent { return extent{x, x, x} }

func (e extent) times(x float64) extent { return extent{e.value * x, e.low * x, e.high * x} }

// text formats the number, with its interval if it was estimated.
func (e extent) text(format func(float64) string) string {
	if math.IsInf(e.high, 1) {
		return fmt.Sprintf("%s (%s or more)", format(e.value), format(e.low))
	}
	return within(e.value, e.low, e.high, format)
}

// bound is a share of the partitions, with the two sizes between which the quantile of this share
// is.
type bound struct{ share, low, high float64 }

// share returns the fullest partition's share of everything.
func (s *series) share() extent { return s.fullest.times(1 / math.Max(1, s.rows)) }

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
			name: d.Name, partitions: estimated(m.Partitions), rows: float64(m.Rows), sizes: m.Detail.Sizes, fullest: estimated(m.RowSizes.Max),
			p50: estimated(m.ByteSizes.P50), p90: estimated(m.ByteSizes.P90), p99: estimated(m.ByteSizes.P99), most: estimated(m.ByteSizes.Max), endless: endless(&d.Candidate),
		}
		s.atRate(d.ProjectedBytes / math.Max(1, s.most.value))
		if d.ProjectedBytes > 0 && d.ProjectedBytes >= d.BytesMax {
			i := d.Intervals.Of("projected_bytes_max", d.ProjectedBytes)
			s.most = extent{d.ProjectedBytes, i.Low, i.High}
		}
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
	for _, b := range []*extent{&s.p50, &s.p90, &s.p99, &s.most} {
		*b = b.times(times)
	}
}

// estimated returns an estimate without a bound at infinity, which says nothing.
func estimated(e profile.Estimate) extent { return extent{e.Value, e.Low, e.High} }

// endless returns when a design's partitions pass a limit at the queries' rates, if they never end
// and that exceeds a limit; else "".
func endless(c *advice.Candidate) string {
	if !c.Growth.Unbounded || c.ProjectedBytes > 0 || len(c.Exceeded) == 0 {
		return ""
	}
	for _, h := range slices.Backward(c.Growth.Hits) {
		if h.Predictable && !h.Exceeded && slices.ContainsFunc(c.Exceeded, func(e advice.Exceeded) bool { return strings.HasSuffix(e.Text, h.Text()) }) {
			return h.Text()
		}
	}
	return ""
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
		one.Name = letter(i)
		out = append(out, &one)
	}
	return out
}

// letters writes which design each letter stands for.
func (p *advicePage) letters(details []*advice.Detail) {
	p.raw("<ul class=\"letters\">\n")
	for i, d := range details {
		p.letter(i, letter(i), d.Design)
		p.put("", shardsBehind(d), "")
		if n := len(d.Exceeded); n > 0 {
			p.put(` <span class="exceeded">`, exceededText(n), "</span>")
		}
		p.raw("</li>\n")
	}
	p.raw("</ul>\n")
}

// letter begins an item of a list of letters.
func (p *page) letter(series int, name, of string) {
	p.put(fmt.Sprintf(`<li><svg class="swatch" viewBox="0 0 28 8" aria-hidden="true"><line class="line s%d" x1="0" x2="28" y1="4" y2="4"/></svg><strong>%s</strong> <code>`, series, name), of, "</code>")
}

// letter returns the name of a line in plots: A, B, …, Z, AA, AB, ….
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// exceededText says that a design exceeds limits.
func exceededText(n int) string {
	if n == 1 {
		return "exceeds a limit"
	}
	return fmt.Sprintf("exceeds %d limits", n)
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
