// SPDX-License-Identifier: Apache-2.0

package top

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sample is one reading of /metrics.
type Sample struct {
	at       time.Time
	families map[string]*dto.MetricFamily
}

// Parse parses the text of /metrics that was read at a time. Metrics of another program are an
// error.
func Parse(text io.Reader, at time.Time) (*Sample, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("no metrics: %w", err)
	}
	for name := range families {
		if strings.HasPrefix(name, "evenkeel_") {
			return &Sample{at, families}, nil
		}
	}
	return nil, errors.New("metrics, but none of an evenkeel")
}

// Of makes a Sample of what a registry of this process gathered at a time.
func Of(gathered []*dto.MetricFamily, at time.Time) *Sample {
	families := make(map[string]*dto.MetricFamily, len(gathered))
	for _, f := range gathered {
		families[f.GetName()] = f
	}
	return &Sample{at, families}
}

// has says whether there is a metric with this name.
func (s *Sample) has(name string) bool { return s.families[name] != nil }

// each calls f for the metrics with this name.
func (s *Sample) each(name string, f func(labels map[string]string, m *dto.Metric)) {
	for _, m := range s.families[name].GetMetric() {
		labels := make(map[string]string, len(m.Label))
		for _, l := range m.Label {
			labels[l.GetName()] = l.GetValue()
		}
		f(labels, m)
	}
}

// value returns the sum of the counters or gauges with this name whose labels match. If match is
// nil, all match.
func (s *Sample) value(name string, match func(labels map[string]string) bool) (sum float64) {
	s.each(name, func(labels map[string]string, m *dto.Metric) {
		if match == nil || match(labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	})
	return sum
}

// spread returns the sum of the histograms with this name whose labels match.
func (s *Sample) spread(name string, match func(labels map[string]string) bool) (h histogram) {
	s.each(name, func(labels map[string]string, m *dto.Metric) {
		if match != nil && !match(labels) {
			return
		}
		h.count += float64(m.GetHistogram().GetSampleCount())
		h.sum += m.GetHistogram().GetSampleSum()
		for i, b := range m.GetHistogram().GetBucket() {
			if i == len(h.upper) {
				h.upper, h.below = append(h.upper, b.GetUpperBound()), append(h.below, 0)
			}
			h.below[i] += float64(b.GetCumulativeCount())
		}
	})
	return h
}

// histogram is cumulative, as in Prometheus.
type histogram struct {
	count, sum   float64
	upper, below []float64
}

// since returns what was added since an earlier reading. If the server has restarted, or a table
// was removed and added again, it returns everything.
func (h histogram) since(before histogram) histogram {
	if before.count > h.count || len(before.below) != len(h.below) {
		return h
	}
	out := histogram{count: h.count - before.count, sum: max(0, h.sum-before.sum), upper: h.upper, below: make([]float64, len(h.below))}
	for i := range h.below {
		out.below[i] = max(0, h.below[i]-before.below[i])
	}
	return out
}

// quantile estimates the value that a share q of the values does not exceed, as Prometheus'
// histogram_quantile does: it assumes an even distribution within a bucket. It returns 0 if there
// are no values.
func (h histogram) quantile(q float64) float64 {
	want, low, below := q*h.count, 0.0, 0.0
	if h.count == 0 {
		return 0
	}
	for i, upper := range h.upper {
		if h.below[i] >= want && h.below[i] > below {
			return low + (upper-low)*(want-below)/(h.below[i]-below)
		}
		low, below = upper, h.below[i]
	}
	return low // above the last bound
}

func (h histogram) mean() float64 {
	if h.count == 0 {
		return 0
	}
	return h.sum / h.count
}
