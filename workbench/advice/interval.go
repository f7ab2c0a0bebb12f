// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// Interval is the 99% confidence interval of a figure, or certain bounds.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Intervals holds the intervals of a candidate's estimated figures, by their names in JSON. A
// figure without one is exact, or follows from exact ones by the assumptions that the report lists.
type Intervals map[string]Interval

func (x Intervals) put(name string, e profile.Estimate) {
	if e.Low != e.High && !math.IsInf(e.High, 1) {
		x[name] = Interval{e.Low, e.High}
	}
}

// Of returns the interval of a figure. If the figure was counted, both bounds are the figure.
func (x Intervals) Of(name string, value float64) Interval {
	if i, has := x[name]; has {
		return i
	}
	return Interval{value, value}
}

// ranged formats a figure with its interval, or without it if both bounds have the same text.
func ranged(value, low, high float64, text func(float64) string) string {
	t, from, to := text(value), text(low), text(high)
	if from == to {
		return t
	}
	return fmt.Sprintf("%s (%s to %s)", t, from, to)
}

// estimated formats an estimate.
func estimated(e profile.Estimate, text func(float64) string) string {
	return ranged(e.Value, e.Low, e.High, text)
}

// whole formats a number, rounded to a whole one.
func whole(x float64) string { return number(math.Round(x)) }

// estimatedCount formats an estimated number of things: 1 row, 20 rows, 20 (18 to 22) rows.
func estimatedCount(e profile.Estimate, what string) string {
	if text := estimated(e, whole); text != "1" {
		return text + " " + what + "s"
	}
	return "1 " + what
}

// estimatedAre is estimatedCount with the verb: 1 row is, 20 rows are.
func estimatedAre(e profile.Estimate, what string) string {
	if text := estimatedCount(e, what); text != "1 "+what {
		return text + " are"
	}
	return "1 " + what + " is"
}

// exactlyOf returns an estimate for a number that was counted.
func exactlyOf(x float64) profile.Estimate {
	return profile.Estimate{Value: x, Low: x, High: x, Exact: true}
}

// times returns an estimate multiplied by f.
func times(e profile.Estimate, f float64) profile.Estimate {
	return profile.Estimate{Value: e.Value * f, Low: e.Low * f, High: e.High * f, Exact: e.Exact}
}

// largest returns the size of the largest partition of a design. If rows' new ids, which are drawn, choose the
// shards, it is widened by chance. The number of rows of one shard is then a Poisson number. That of the
// fullest one deviates no more: 99 of 100 are within deviates of its square roots.
func (s *measures) largest(d *Design, m *profile.Measured, of func(*profile.Measured) profile.Sizes) profile.Estimate {
	return s.byChance(d, m, of, of(m).Max, deviates/math.Sqrt(math.Max(1, m.RowSizes.Max.Value)))
}

// deviates is how many standard deviations of a Poisson number 99 of 100 draws are within.
const deviates = 2.6

// p99 returns the 99th percentile of the sizes of a design's partitions, widened in the same way. One partition
// in a hundred is larger. The more such partitions there are, the less the percentile varies by chance.
func (s *measures) p99(d *Design, m *profile.Measured, of func(*profile.Measured) profile.Sizes) profile.Estimate {
	larger := math.Max(1, m.Partitions.Value/100)
	return s.byChance(d, m, of, of(m).P99, deviates/math.Sqrt(larger*math.Max(1, m.RowSizes.P99.Value)))
}

// byChance widens an estimate of a partition's size if ids that are drawn choose the shards. off is how far the
// size varies by chance, as a part of it. A shard is never larger than its key.
func (s *measures) byChance(d *Design, m *profile.Measured, of func(*profile.Measured) profile.Sizes, e profile.Estimate, off float64) profile.Estimate {
	whole := s.ofPartition(d.Partition)
	if !d.AddID || d.Shards <= 1 || len(d.By) > 0 || whole != nil && whole.RowSizes.Max.High <= 1 {
		return e
	}
	out := profile.Estimate{Value: e.Value, Low: math.Max(e.Low*(1-off), math.Min(e.Low, of(m).P50.Low)), High: e.High * (1 + off)}
	if whole != nil {
		out.High = math.Max(e.High, math.Min(out.High, of(whole).Max.High))
	}
	return out
}

func rowSizes(m *profile.Measured) profile.Sizes  { return m.RowSizes }
func byteSizes(m *profile.Measured) profile.Sizes { return m.ByteSizes }

// intervals returns the intervals of a candidate.
func (s *traffic) intervals(c *Candidate, d *Design, m *profile.Measured) Intervals {
	x := make(Intervals)
	x.put("partitions", m.Partitions)
	x.put("rows_p50", m.RowSizes.P50)
	x.put("rows_p99", s.p99(d, m, rowSizes))
	x.put("rows_max", s.largest(d, m, rowSizes))
	x.put("bytes_p50", m.ByteSizes.P50)
	x.put("bytes_p99", s.p99(d, m, byteSizes))
	x.put("bytes_max", s.largest(d, m, byteSizes))
	x.put("cells_max", times(s.largest(d, m, rowSizes), c.CellsMax/math.Max(1, c.RowsMax)))
	if !d.AddID {
		x.put("rows_lost", m.Lost)
	}
	if c.ProjectedRows > 0 {
		share := s.futureShare(d)
		for name, v := range map[string]float64{"projected_rows_max": c.ProjectedRows, "projected_bytes_max": c.ProjectedBytes} {
			x.put(name, times(share, v/math.Max(1e-12, share.Value)))
		}
	}
	return x
}
