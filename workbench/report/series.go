package report

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// series is how rows lie in partitions, as plots show it: of a design, of a key that
// was simulated, of a live table.
type series struct {
	name                string
	partitions, rows    float64
	p50, p90, p99, most float64        // bytes of a partition
	fullest             float64        // rows of the fullest; of inBytes, bytes of the largest
	sizes               []profile.Bulk // by rows, the smallest first
	inBytes             bool           // sizes are by bytes, and rows of them are unknown

	// bounds are where the share of the partitions that is not larger is with 99%
	// confidence, by size; nil where sizes were counted.
	bounds []bound
}

// bound is a share of the partitions, and the sizes between which its quantile is.
type bound struct{ share, low, high float64 }

// share is how much of all the fullest partition has.
func (s *series) share() float64 { return s.fullest / math.Max(1, s.rows) }

// weight is what a partition counts for where shares are drawn.
func (s *series) weight(b profile.Bulk) float64 {
	if s.inBytes {
		return b.Bytes
	}
	return b.Rows
}

// what the partitions hold.
func (s *series) what() string {
	if s.inBytes {
		return "bytes"
	}
	return "rows"
}

func seriesOf(details []*advice.Detail) (list []series) {
	for _, d := range details {
		m := d.Measured
		list = append(list, series{
			name: d.Name, partitions: m.Partitions.Value, rows: float64(m.Rows), sizes: m.Detail.Sizes, fullest: m.RowSizes.Max.Value,
			p50: m.ByteSizes.P50.Value, p90: m.ByteSizes.P90.Value, p99: m.ByteSizes.P99.Value, most: m.ByteSizes.Max.Value,
		})
	}
	return list
}

// names are the legends of series.
func names(list []series) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].name)
	}
	return out
}
